/** The sessions as GET /api/sessions lists them: with what can be answered, and what is silent and why. */
import type { SessionList } from "../api/server.ts";
import type { Config } from "../core/config/config.ts";
import { describeGuard } from "../core/config/work-guard.ts";
import type { ClockReading } from "../core/session/event.ts";
import { parseSessionKey } from "../core/session/session-ref.ts";
import { createSessionView, type SessionView, type ViewContext } from "../core/view/session-view.ts";
import type { PreferenceKeeper } from "../preferences/index.ts";
import type { Store } from "../state/store.ts";
import { formatLocalTime } from "../system/clock.ts";
import type { AllRequests } from "./machines.ts";

export interface SessionListOptions {
  readonly store: Store;
  readonly requests: Pick<AllRequests, "addAnswerInfo">;
  readonly preferences: Pick<PreferenceKeeper, "current">;
  readonly clock: () => ClockReading;
  readonly config: () => Config;
}

export interface AppSessionList extends Omit<SessionList, "more"> {
  /** By `agent:id`, without everything that it asks. */
  get(key: string): SessionView | null;
}

export function createSessionList(options: SessionListOptions): AppSessionList {
  const { store, requests, preferences, clock, config } = options;
  const createContext = (): ViewContext => ({
    preferences: preferences.current(),
    config: config(),
    formatTime: formatLocalTime,
  });
  return {
    all() {
      const now = clock();
      const context = createContext();
      return store
        .sessions(now)
        .map((session) => requests.addAnswerInfo(createSessionView(session, now, context)));
    },
    find(name) {
      const now = clock();
      const session = store.find(name, now);
      return session && requests.addAnswerInfo(createSessionView(session, now, createContext()), true);
    },
    get(key) {
      const ref = parseSessionKey(key);
      const session = ref && store.get(ref);
      return session && requests.addAnswerInfo(createSessionView(session, clock(), createContext()));
    },
    findMatches(name) {
      const now = clock();
      const context = createContext();
      return store.findMatches(name, now).map((session) => createSessionView(session, now, context));
    },
    findChild(agentId) {
      const now = clock();
      const session = store
        .sessions(now)
        .findLast(({ children }) => children.some((child) => child.agentId === agentId));
      const parent =
        session && requests.addAnswerInfo(createSessionView(session, now, createContext()), true);
      const child = parent?.children.find((known) => known.agentId === agentId);
      return parent && child ? { child, parent } : null;
    },
  };
}

export interface ListFactsOptions {
  readonly preferences: Pick<PreferenceKeeper, "quiet">;
  readonly config: () => Config;
  readonly problems: () => readonly string[];
  readonly unconnected: () => readonly { readonly name: string }[];
}

/** What the list has besides sessions: quiet modes that are on, known problems, the work guard. */
export function createListFacts(options: ListFactsOptions): object {
  const quiet = options.preferences.quiet();
  const unconnected = options
    .unconnected()
    .map(({ name }) => `${name}'s hooks are not registered. Run: beckon --install`);
  const problems = [...unconnected, ...options.problems()];
  const workGuard = describeGuard(options.config().workGuard);
  return {
    ...(quiet ? { quiet } : {}),
    ...(problems.length > 0 ? { problems } : {}),
    ...(workGuard.length > 0 ? { workGuard } : {}),
  };
}
