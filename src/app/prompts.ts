/** The next prompts, as the rest of the app sees them. Nothing of src/prompts is loaded before the user sends one. */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import type { PromptSender } from "../channels/active-channel.ts";
import type { Sink } from "../core/interfaces/index.ts";
import type { PromptView, SessionPrompts } from "../core/interfaces/wire.ts";
import type { JsonRecord } from "../core/json.ts";
import { readNumber } from "../core/json.ts";
import type { Session } from "../core/session/session.ts";
import { parseSessionKey, sessionKeyOf } from "../core/session/session-ref.ts";
import type { AskedOptions } from "../machines/requests.ts";
import type { Prompts, ShownPrompt } from "../prompts/index.ts";
import type { NewPrompt } from "../prompts/prompt.ts";
import { loadJsonState, saveJsonState } from "../storage/json-state.ts";
import { parseLocalTime } from "../system/clock.ts";
import { schedule, waitAtMost } from "../system/schedule.ts";
import type { WatchSource } from "../watch/index.ts";
import type { Base } from "./base.ts";
import type { Sinks } from "./sinks.ts";
import type { AppState } from "./state.ts";

export interface AppPrompts extends Sink {
  /** Resolves when it is known what became of it, or soon. With a text if it cannot be sent. */
  send(session: Session, body: JsonRecord, by: string): Promise<object | string>;
  /** For replies in a channel. */
  readonly forChannels: PromptSender;
  /** For the user of another machine. */
  readonly sendFor: AskedOptions["send"];
  /** Changes or removes one. With a text if it cannot. */
  act(id: string, action: "change" | "remove", body: JsonRecord): Promise<object | string>;
  /** Of one session, or of all. */
  list(session: string | null): Promise<SessionPrompts>;
}

/** An idle session reports its prompt within 0.25 s (measured). */
const outcomeMs = 3_000;

export function createAppPrompts(
  base: Base,
  { store, followers }: AppState,
  { answers, machines }: Sinks,
  { prompts: supportOf }: Pick<WatchSource, "prompts">,
): AppPrompts {
  const { paths, clock, table, onProblem } = base;
  let loading: Promise<Prompts> | null = null;
  let loaded: Prompts | null = null;
  const waiting: (() => void)[] = [];

  const nameOf = (agent: string) => table.find(({ id }) => id === agent)?.name ?? agent;

  function findObstacle(session: Session): string | null {
    const { machine, agent } = session;
    if (session.ended) return "the session has ended";
    if (machine !== null) return session.unreachableSince === null ? null : `${machine} cannot be reached`;
    const support = supportOf(agent);
    return support ? support.findObstacle(session) : `${nameOf(agent)} takes prompts only in its terminal`;
  }

  /** What the user should know before anything is sent, most important first. */
  async function findWay(session: Session): Promise<string | null> {
    const { isAsking } = await import("../prompts/judge.ts");
    const { machine, agent, permissionMode } = session;
    if (isAsking(session)) return "It asks you something: sent after your answer";
    if (permissionMode === "bypassPermissions") return "It asks for nothing: what you send runs at once";
    return machine === null ? (supportOf(agent)?.way ?? null) : `Goes to ${machine}`;
  }

  async function load(): Promise<Prompts> {
    const [{ createPrompts }, { readPrompts }] = await Promise.all([
      import("../prompts/index.ts"),
      import("../prompts/prompt.ts"),
    ]);
    const saved = loadJsonState(paths.prompts);
    if (saved.problem !== null) onProblem(saved.problem);
    loaded = createPrompts({
      clock,
      get: store.get,
      findObstacle,
      async send(session, text) {
        await supportOf(session.agent)?.send(session, text);
      },
      saved: readPrompts(saved.value.prompts),
      save: (prompts) => saveJsonState(paths.prompts, { version: 1, prompts }),
      onEnded: answers.logWriter.prompted,
      onChange() {
        for (const wake of waiting.splice(0)) wake();
        followers.onRefresh();
      },
      schedule,
      onProblem,
    });
    return loaded;
  }

  const open = (): Promise<Prompts> => {
    loading ??= load();
    return loading;
  };

  async function waitForOutcome(prompts: Prompts, id: string): Promise<ShownPrompt | null> {
    const isSettled = () => prompts.find(id)?.state !== "sent";
    const settled = (async () => {
      while (!isSettled()) await new Promise<void>((resolve) => waiting.push(resolve));
    })();
    await waitAtMost(outcomeMs, settled);
    return prompts.find(id);
  }

  const sendPrompt = (session: Session, prompt: NewPrompt): Promise<PromptView | string> =>
    session.machine === null ? sendHere(session, prompt) : sendThere(session, prompt);

  async function sendHere(session: Session, prompt: NewPrompt): Promise<ShownPrompt | string> {
    const prompts = await open();
    const added = prompts.add(session, prompt);
    if (typeof added === "string") return added;
    return (await waitForOutcome(prompts, added.id)) ?? added;
  }

  /** The machine that it runs on queues it, and decides as for its own user. */
  async function sendThere(session: Session, prompt: NewPrompt): Promise<PromptView | string> {
    const { findTextProblem } = await import("../prompts/prompt.ts");
    const { id: promptId, text, by, isNow, notBefore, waitsForQuota } = prompt;
    const obstacle = findObstacle(session) ?? findTextProblem(text);
    if (obstacle !== null) return obstacle;
    const { at } = clock();
    const when = waitsForQuota ? "quota" : isNow ? "now" : "idle";
    const afterMs = notBefore === null ? null : Math.max(0, notBefore - at);
    const sent = await machines.send(session, { promptId, text, when, afterMs, by });
    if (typeof sent === "string" || sent === undefined) return sent ?? "its machine says nothing about it";
    return { ...sent, session: sessionKeyOf(session), text, since: at };
  }

  if (existsSync(paths.prompts))
    void open().catch((error) => onProblem(`the next prompts could not be read: ${error}`));

  return {
    name: "prompts",
    onChange: (change) => loaded?.onChange?.(change),
    async send(session, body, by) {
      const prompt = readPrompt(body, by, clock().at);
      if (typeof prompt === "string") return prompt;
      const sent = await sendPrompt(session, prompt);
      return typeof sent === "string" ? { refused: 409, error: sent } : { ok: true, prompt: sent };
    },
    forChannels: {
      findObstacle,
      async send(key, text, by) {
        const ref = parseSessionKey(key);
        const session = ref && store.get(ref);
        if (!session) return "the session is not listed any more";
        const prompt = readPrompt({ text }, by, clock().at);
        return typeof prompt === "string" ? prompt : sendPrompt(session, prompt);
      },
    },
    async sendFor(session, { promptId, text, when, afterMs, by }) {
      const at = afterMs === null ? null : clock().at + afterMs;
      const prompt = readPrompt({ text, when, at }, by, clock().at);
      if (typeof prompt === "string") return prompt;
      const sent = await sendHere(session, { ...prompt, id: promptId });
      return typeof sent === "string" ? sent : { id: sent.id, state: sent.state, says: sent.says };
    },
    async act(id, action, { text }) {
      const prompts = await open();
      const result = action === "remove" ? prompts.remove(id) : prompts.change(id, String(text ?? ""));
      return typeof result === "string" ? result : { ok: true, prompt: result };
    },
    async list(name) {
      const session = name === null ? null : store.find(name, clock());
      if (name !== null && !session) return { prompts: [], obstacle: "there is no such session", way: null };
      const prompts = loading && (await loading);
      const obstacle = session && findObstacle(session);
      return {
        prompts: prompts?.list(session ?? undefined) ?? [],
        obstacle,
        way: session && obstacle === null ? await findWay(session) : null,
      };
    },
    stop: () => loaded?.stop?.(),
  };
}

/** Returns a text if the body is not a prompt. */
function readPrompt(
  { text, when = "now", at = null }: JsonRecord,
  by: string,
  now: number,
): NewPrompt | string {
  if (typeof text !== "string") return "text must be the prompt";
  if (when !== "now" && when !== "idle" && when !== "quota") return 'when must be "now", "idle" or "quota"';
  const notBefore = typeof at === "string" ? parseLocalTime(at, now) : readNumber(at);
  if (at !== null && notBefore === null) return 'at must be a time like "15:00", or in milliseconds';
  return {
    id: randomBytes(4).toString("hex"),
    text: text.replaceAll("\r\n", "\n"),
    by,
    isNow: when === "now" && at === null,
    notBefore,
    waitsForQuota: when === "quota",
  };
}
