/** Links a machine once, to see whether that works and what is there. */
import { isProbe } from "../core/session/probe.ts";
import { schedule, waitAtMost } from "../system/schedule.ts";
import type { Carrier } from "./carrier.ts";
import { createLink } from "./link.ts";
import { LinkError } from "./link-problem.ts";
import type { OwnerMessage } from "./protocol.ts";

export interface CheckedLink {
  readonly hello: Extract<OwnerMessage, { kind: "hello" }>;
  /** Sessions that have not ended. */
  readonly sessions: number;
  /** From the start of the command to its first list of sessions. */
  readonly tookMs: number;
  /** Resolves with whether a test event of the machine's own doctor has arrived, since the link is open, or does so in time. */
  sawProbe(waitMs: number): Promise<boolean>;
  close(): Promise<void>;
}

/** Resolves with why it cannot be linked. Otherwise the caller closes it. */
export async function checkLink(machine: string, argv: readonly string[]): Promise<CheckedLink | LinkError> {
  const opened = Promise.withResolvers<CheckedLink | LinkError>();
  const probe = Promise.withResolvers<boolean>();
  const started = performance.now();
  let hello: CheckedLink["hello"] | null = null;
  let sessions = 0;
  const link: Carrier = createLink({
    machine,
    ownName: "a test",
    argv,
    greeting: () => ({ seesProbes: true }),
    onOpened(said) {
      hello = said;
    },
    onMessage(message) {
      if (message.kind === "session" && isProbeSession(message.described.session)) probe.resolve(true);
      if (message.kind !== "sessions" || !hello) return;
      sessions += message.sessions.filter(({ session }) => session.ended === null).length;
      if (message.isPart) return;
      opened.resolve({
        hello,
        sessions,
        tookMs: performance.now() - started,
        sawProbe: async (waitMs) => (await waitAtMost(waitMs, probe.promise)) === true,
        close: () => link.stop(),
      });
    },
    onLost() {},
    onFailure: (reason, problem) => opened.resolve(new LinkError(problem, reason)),
    onProblem() {},
    schedule,
  });
  const result = await opened.promise;
  if (result instanceof LinkError) await link.stop();
  return result;
}

const isProbeSession = ({ sessionId }: Readonly<Record<string, unknown>>): boolean =>
  typeof sessionId === "string" && isProbe({ sessionId });
