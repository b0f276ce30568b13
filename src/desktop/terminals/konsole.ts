/** Konsole, and programs with a Konsole inside (Dolphin, Kate, Yakuake): tabs over D-Bus. */
import { wantedOf } from "./around.ts";
import { call, type Plan } from "./plan.ts";
import { named, type PaneLocation, type TerminalRow } from "./row.ts";
import { claimed } from "./shapes.ts";

const is = named("konsole", "yakuake", "dolphin", "kate");

interface Tab {
  readonly service: string;
  /** `/Windows/1`: it can have moved since the shell was started. */
  readonly window: string;
  readonly session: number;
  readonly isCurrent: boolean;
  /** Of its window, which shows that of the current tab. */
  readonly title: string | null;
}

const maxWindows = 32;

function wanted(spot: PaneLocation, tab: Tab | null) {
  const id = claimed(spot.env, "WINDOWID");
  const titles = [tab?.title ?? null, spot.title].filter((title): title is string => title !== null);
  return wantedOf(spot, { ids: id === null ? [] : [id], titles });
}

export const row: TerminalRow = {
  name: "Konsole",
  proven: "run here",
  is,
  says: (env) => claimed(env, "KONSOLE_DBUS_SESSION") !== null,
  *focus(spot) {
    const tab = yield* find(spot);
    if (tab === null) {
      return { kind: "window", wanted: wanted(spot, null), why: "its tab was not found in Konsole" };
    }
    const { service, window, session } = tab;
    yield* tell(service, window, "setCurrentSession", session);
    return { kind: "window", wanted: wanted(spot, yield* find(spot)), why: null };
  },
  *look(spot) {
    const tab = yield* find(spot);
    if (tab !== null && !tab.isCurrent) return { kind: "known", looking: false };
    return { kind: "window", wanted: wanted(spot, tab), sure: tab !== null };
  },
};

function* tell(service: string, path: string, member: string, value?: number): Plan<unknown> {
  const isSession = path.startsWith("/Sessions");
  const head = {
    destination: service,
    path,
    interface: `org.kde.konsole.${isSession ? "Session" : "Window"}`,
    member,
  };
  const answer = yield* call(value === undefined ? head : { ...head, signature: "i", body: [value] });
  return answer?.[0];
}

/** Tabs can be dragged to another window: only Konsole knows where it is now. */
function* find(spot: PaneLocation): Plan<Tab | null> {
  const service = claimed(spot.env, "KONSOLE_DBUS_SERVICE");
  const path = claimed(spot.env, "KONSOLE_DBUS_SESSION");
  if (service === null || path === null) return null;
  // A variable inherited from another Konsole names another one's tab: the session's own shell must be among our parents.
  const shell = yield* tell(service, path, "processId");
  if (spot.lineage.length > 0 && !spot.lineage.some(({ pid }) => pid === shell)) return null;
  const session = Number(path.slice("/Sessions/".length));
  const claim = claimed(spot.env, "KONSOLE_DBUS_WINDOW");
  const others = Array.from({ length: maxWindows }, (_, at) => `/Windows/${at + 1}`);
  for (const window of new Set([...(claim === null ? [] : [claim]), ...others])) {
    const sessions = yield* tell(service, window, "sessionList");
    if (!Array.isArray(sessions) || !sessions.map(String).includes(String(session))) continue;
    const isCurrent = (yield* tell(service, window, "currentSession")) === session;
    return { service, window, session, isCurrent, title: isCurrent ? yield* titleOf(service, path) : null };
  }
  return null;
}

function* titleOf(service: string, path: string): Plan<string | null> {
  const displayed = 1;
  const title = yield* tell(service, path, "title", displayed);
  return typeof title === "string" && title !== "" ? title : null;
}
