/** Links a machine once, to see whether that works and what is there. */
import { schedule } from "../system/schedule.ts";
import { createLink, type Link } from "./link.ts";
import type { OwnerMessage } from "./protocol.ts";

export interface CheckedLink {
  readonly hello: Extract<OwnerMessage, { kind: "hello" }>;
  /** Sessions that have not ended. */
  readonly sessions: number;
  /** From the start of the command to its first list of sessions. */
  readonly tookMs: number;
}

/** Resolves with a text if it cannot be linked: why. */
export async function checkLink(machine: string, argv: readonly string[]): Promise<CheckedLink | string> {
  const { promise, resolve } = Promise.withResolvers<CheckedLink | string>();
  const started = performance.now();
  let hello: CheckedLink["hello"] | null = null;
  const link: Link = createLink({
    machine,
    ownName: "a test",
    argv,
    onOpened(opened) {
      hello = opened;
    },
    onMessage(message) {
      if (message.kind !== "sessions" || !hello) return;
      const sessions = message.sessions.filter(({ session }) => session.ended === null).length;
      resolve({ hello, sessions, tookMs: performance.now() - started });
    },
    onLost() {},
    onFailure: resolve,
    onProblem() {},
    schedule,
  });
  const result = await promise;
  await link.stop();
  return result;
}
