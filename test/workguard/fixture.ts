/** A work guard with sessions of its own, and ports on disk. */
import { openEnvelope } from "../../src/agents/envelope.ts";
import { loadAgents } from "../../src/agents/index.ts";
import { createOtherChanges, type OtherChanges } from "../../src/answers/other-changes.ts";
import { type Config, defaultConfig } from "../../src/core/config/config.ts";
import type { HookOutput, SessionEvent } from "../../src/core/interfaces/wire.ts";
import type { JsonRecord } from "../../src/core/json.ts";
import type { ClockReading } from "../../src/core/session/event.ts";
import { createStore, type Store } from "../../src/state/store.ts";
import { createTransitionFinder } from "../../src/state/transitions.ts";
import { resolvePaths } from "../../src/storage/paths.ts";
import { createWorkGuard, type WorkGuard } from "../../src/workguard/index.ts";
import { temporaryFolder } from "../storage/folder.ts";

export interface GuardFixture {
  readonly guard: WorkGuard;
  readonly store: Store;
  readonly paths: ReturnType<typeof resolvePaths>;
  readonly events: SessionEvent[];
  readonly otherChanges: OtherChanges;
  readonly problems: string[];
  /** A hook's event as the app gets it. */
  send(payload: JsonRecord, meta?: JsonRecord, provider?: string): Promise<void>;
  /** What the guard says about a payload. Throws if it is refused as invalid. */
  check(payload: JsonRecord, meta?: JsonRecord, provider?: string): HookOutput;
  /** The same, once git was asked. */
  checkFiles(payload: JsonRecord, provider?: string): Promise<HookOutput>;
  /** The wall time of its sessions. */
  now(): number;
  /** The app has noticed changes on disk. */
  poll(): Promise<void>;
  eventTypes(): string[];
}

export async function createGuardFixture(
  workGuard: Partial<Config["workGuard"]>,
  state = temporaryFolder(),
): Promise<GuardFixture> {
  const paths = resolvePaths({ BECKON_HOME: state });
  const agents = await loadAgents();
  const store = createStore((error) => {
    throw error;
  });
  const events: SessionEvent[] = [];
  const problems: string[] = [];
  const polls: (() => void)[] = [];
  let now = 1_800_000_000_000;
  const clock = (): ClockReading => ({ at: now, t: now, boot: null, host: "here" });
  const config: Config = { ...defaultConfig, workGuard: { ...defaultConfig.workGuard, ...workGuard } };
  const otherChanges = createOtherChanges(clock);
  const guard = createWorkGuard({
    paths,
    agents,
    defaultProvider: "claude",
    config: () => config,
    clock,
    sessions: () => store.sessions(clock()),
    get: store.get,
    dispatch: store.dispatch,
    publish: ({ event }) => events.push(event),
    schedule(work) {
      polls.push(work);
      return () => {};
    },
    command: () => "beckon",
    otherChanges,
    onProblem: (text) => problems.push(text),
  });
  const transitions = createTransitionFinder({
    clock,
    get: store.get,
    schedule: () => () => {},
    onTransition: (transition) => guard.onTransition?.(transition),
  });
  store.subscribe((session, event, before) => {
    transitions.onChange(session, event.at);
    guard.onChange?.({ session, event, before });
  });
  guard.start();
  const read = (output: HookOutput | string): HookOutput => {
    if (typeof output === "string") throw new Error(output);
    return output;
  };
  const wrap = (payload: JsonRecord, meta: JsonRecord, provider: string) => ({
    provider,
    _meta: meta,
    payload,
  });
  let count = 0;
  return {
    guard,
    otherChanges,
    store,
    paths,
    events,
    problems,
    async send(payload, meta = {}, provider = "claude") {
      now += 1_000;
      const message = openEnvelope(wrap(payload, meta, provider), provider, "here");
      const stamp = { id: `e${++count}`, key: `k${count}`, at: now, t: now };
      const event = message && agents.get(provider)?.translate(message, stamp);
      if (!event) throw new Error("not an event");
      store.dispatch(event);
      // What the guard adds follows in a microtask.
      await Promise.resolve();
    },
    check(payload, meta = {}, provider = "claude") {
      const output = guard.check(wrap(payload, meta, provider));
      if (output instanceof Promise) throw new Error("git is asked");
      return read(output);
    },
    checkFiles: async (payload, provider = "claude") => read(await guard.check(wrap(payload, {}, provider))),
    now: () => now,
    async poll() {
      now += 1_000;
      for (const work of polls.splice(0)) work();
      await Promise.resolve();
    },
    eventTypes: () => events.map(({ event_type }) => event_type),
  };
}
