/** Konsole, and programs with a Konsole inside (Dolphin, Kate, Yakuake): tabs are selected over D-Bus. */
import { readVariable } from "../../core/terminals.ts";
import { queryWindow } from "./detect.ts";
import { callDbus, type Plan } from "./plan.ts";
import { notVisible, type PaneLocation, type TerminalRecipe, type WindowQuery } from "./recipe.ts";

interface Tab {
  readonly service: string;
  /** `/Windows/1`. The tab can have moved since the shell was started. */
  readonly window: string;
  readonly session: number;
  readonly isCurrent: boolean;
  /** The title of its window, which is that of the current tab. */
  readonly title: string | null;
}

const maxWindows = 32;

export const konsole: TerminalRecipe = {
  *focus(location) {
    const tab = yield* findTab(location);
    if (tab === null) {
      return { kind: "window", query: query(location, null), limit: "its tab was not found in Konsole" };
    }
    const { service, window, session } = tab;
    yield* callKonsole(service, window, "setCurrentSession", session);
    return { kind: "window", query: query(location, yield* findTab(location)), limit: null };
  },
  *checkVisibility(location) {
    const tab = yield* findTab(location);
    if (tab !== null && !tab.isCurrent) return notVisible;
    return { kind: "window", query: query(location, tab), isCertain: tab !== null };
  },
};

function query(location: PaneLocation, tab: Tab | null): WindowQuery {
  const id = readVariable(location.env, "WINDOWID");
  const titles = [tab?.title ?? null, location.title].filter((title) => title !== null);
  return queryWindow(location, { ids: id === null ? [] : [id], titles });
}

function* callKonsole(service: string, path: string, member: string, value?: number): Plan<unknown> {
  const isSession = path.startsWith("/Sessions");
  const head = {
    destination: service,
    path,
    interface: `org.kde.konsole.${isSession ? "Session" : "Window"}`,
    member,
  };
  const answer = yield* callDbus(value === undefined ? head : { ...head, signature: "i", body: [value] });
  return answer?.[0];
}

/** A tab can be dragged to another window: only Konsole knows where it is now. */
function* findTab(location: PaneLocation): Plan<Tab | null> {
  const service = readVariable(location.env, "KONSOLE_DBUS_SERVICE");
  const path = readVariable(location.env, "KONSOLE_DBUS_SESSION");
  if (service === null || path === null) return null;
  // Variables inherited from another Konsole name another tab: the tab's shell must be one of the session's parents.
  const shell = yield* callKonsole(service, path, "processId");
  if (location.lineage.length > 0 && !location.lineage.some(({ pid }) => pid === shell)) return null;
  const session = Number(path.slice("/Sessions/".length));
  const firstWindow = readVariable(location.env, "KONSOLE_DBUS_WINDOW");
  const windows = Array.from({ length: maxWindows }, (_, index) => `/Windows/${index + 1}`);
  for (const window of new Set([...(firstWindow === null ? [] : [firstWindow]), ...windows])) {
    const sessions = yield* callKonsole(service, window, "sessionList");
    if (!Array.isArray(sessions) || !sessions.map(String).includes(String(session))) continue;
    const isCurrent = (yield* callKonsole(service, window, "currentSession")) === session;
    return { service, window, session, isCurrent, title: isCurrent ? yield* readTitle(service, path) : null };
  }
  return null;
}

function* readTitle(service: string, path: string): Plan<string | null> {
  const displayedTitle = 1;
  const title = yield* callKonsole(service, path, "title", displayedTitle);
  return typeof title === "string" && title !== "" ? title : null;
}
