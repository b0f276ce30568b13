/** Konsole, and programs with a Konsole inside (Dolphin, Kate, Yakuake): tabs are selected over D-Bus. */
import { queryWindow } from "./lineage.ts";
import { askDbus, type BusCall, callDbus, type Plan } from "./plan.ts";
import { notVisible, type PaneLocation, type Terminal, type WindowQuery } from "./terminal.ts";
import { commonVariables, readVariable } from "./variables.ts";

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

const variables = {
  KONSOLE_DBUS_SERVICE: /^(?::\d{1,5}\.\d{1,9}|org\.kde\.[a-z]+(?:-\d{1,10})?)$/,
  KONSOLE_DBUS_SESSION: /^\/Sessions\/\d{1,9}$/,
  KONSOLE_DBUS_WINDOW: /^\/Windows\/\d{1,9}$/,
};

export const konsole: Terminal = {
  name: "Konsole",
  kind: "terminal",
  processes: ["konsole", "yakuake", "dolphin", "kate"],
  variables,
  ownVariables: ["KONSOLE_DBUS_SESSION"],
  sessionVariable: "KONSOLE_DBUS_SESSION",
  commands: ["konsole"],
  reach: "tab",
  isTested: true,
  *focus(location) {
    const tab = yield* findTab(location);
    if (tab === null) {
      return { kind: "window", query: query(location, null), limit: "its tab was not found in Konsole" };
    }
    const { service, window, session } = tab;
    yield* callDbus(konsoleCall(service, window, "setCurrentSession", session), []);
    return { kind: "window", query: query(location, yield* findTab(location)), limit: null };
  },
  *checkVisibility(location) {
    const tab = yield* findTab(location);
    if (tab !== null && !tab.isCurrent) return notVisible;
    return { kind: "window", query: query(location, tab), isCertain: tab !== null };
  },
};

function query(location: PaneLocation, tab: Tab | null): WindowQuery {
  const id = readVariable(location.env, commonVariables, "WINDOWID");
  const titles = [tab?.title ?? null, location.title].filter((title) => title !== null);
  return queryWindow(location, { ids: id === null ? [] : [id], titles });
}

function konsoleCall(service: string, path: string, member: string, value?: number): BusCall {
  const isSession = path.startsWith("/Sessions");
  const head = {
    destination: service,
    path,
    interface: `org.kde.konsole.${isSession ? "Session" : "Window"}`,
    member,
  };
  return value === undefined ? head : { ...head, signature: "i", body: [value] };
}

function* askKonsole(service: string, path: string, member: string, value?: number): Plan<unknown> {
  return (yield* askDbus(konsoleCall(service, path, member, value)))?.[0];
}

/** A tab can be dragged to another window: only Konsole knows where it is now. */
function* findTab(location: PaneLocation): Plan<Tab | null> {
  const service = readVariable(location.env, variables, "KONSOLE_DBUS_SERVICE");
  const path = readVariable(location.env, variables, "KONSOLE_DBUS_SESSION");
  if (service === null || path === null) return null;
  // Variables inherited from another Konsole name another tab: the tab's shell must be one of the session's parents.
  const shell = yield* askKonsole(service, path, "processId");
  if (location.lineage.length > 0 && !location.lineage.some(({ pid }) => pid === shell)) return null;
  const session = Number(path.slice("/Sessions/".length));
  const firstWindow = readVariable(location.env, variables, "KONSOLE_DBUS_WINDOW");
  const windows = Array.from({ length: maxWindows }, (_, index) => `/Windows/${index + 1}`);
  for (const window of new Set([...(firstWindow === null ? [] : [firstWindow]), ...windows])) {
    const sessions = yield* askKonsole(service, window, "sessionList");
    if (!Array.isArray(sessions) || !sessions.map(String).includes(String(session))) continue;
    const isCurrent = (yield* askKonsole(service, window, "currentSession")) === session;
    return { service, window, session, isCurrent, title: isCurrent ? yield* readTitle(service, path) : null };
  }
  return null;
}

function* readTitle(service: string, path: string): Plan<string | null> {
  const displayedTitle = 1;
  const title = yield* askKonsole(service, path, "title", displayedTitle);
  return typeof title === "string" && title !== "" ? title : null;
}
