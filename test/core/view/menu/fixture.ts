/** Sessions in each state, and the menu as text. */
import { expect } from "bun:test";
import { defaultConfig } from "../../../../src/core/config/config.ts";
import { noPreferences } from "../../../../src/core/config/preferences.ts";
import { createInternalEvent } from "../../../../src/core/session/event.ts";
import { type Ask, type Child, createSession, type Session } from "../../../../src/core/session/session.ts";
import { sessionKeyOf } from "../../../../src/core/session/session-ref.ts";
import { createMenu, type Menu, type MenuInput } from "../../../../src/core/view/menu/menu.ts";
import { createEntryId, type MenuEntry, type MenuItem } from "../../../../src/core/view/view.ts";

export const minute = 60_000;
export const hour = 60 * minute;
/** A full minute. */
export const now = { at: 1_790_000_040_000, t: 100 * hour };

/** A moment that long before now. */
export const ago = (ms: number) => ({ at: now.at - ms, t: now.t - ms });

export function session(project: string, more: Partial<Session> = {}): Session {
  const id = `${Bun.hash(project).toString(16).slice(0, 8).padEnd(8, "0")}-0000-4000-8000-000000000001`;
  const about = { agent: "claude", sessionId: id, cwd: `/home/dev/${project}` };
  const made = createSession(createInternalEvent("e", ago(hour), about, { kind: "no-change" }));
  return {
    ...made,
    firstCwd: `/home/dev/${project}`,
    cwd: `/home/dev/${project}`,
    place: { local: true, pid: 7, procStart: "1", tty: "/dev/pts/1", terminalSessionId: null, env: {} },
    transcriptPath: "/home/dev/.claude/projects/x.jsonl",
    prompted: ago(hour),
    ...more,
  };
}

export function ask(waited: number, more: Partial<Ask> = {}): Ask {
  return {
    ...ago(waited),
    id: `ask-${waited}`,
    kind: "permission",
    agentId: null,
    tool: "Bash",
    toolUseId: null,
    promptId: null,
    inputKey: null,
    summary: "npm run deploy",
    options: [],
    request: null,
    from: "hook",
    hidden: false,
    ...more,
  };
}

export function child(agentId: string, more: Partial<Child> = {}): Child {
  return {
    ...ago(minute),
    agentId,
    type: "Explore",
    name: null,
    model: null,
    usage: null,
    context: null,
    transcriptPath: null,
    running: true,
    detail: "Grep",
    startedAt: now.at - minute,
    ...more,
  };
}

export function blocked(project: string, waited: number, more: Partial<Session> = {}): Session {
  return working(project, waited + minute, { asks: [ask(waited)], ...more });
}

export function working(project: string, since: number, more: Partial<Session> = {}): Session {
  return session(project, {
    turn: { ...ago(since), running: true, byHook: true, error: null },
    detail: "Bash",
    last: ago(0),
    ...more,
  });
}

export function done(project: string, since: number, more: Partial<Session> = {}): Session {
  const turn = { ...ago(since), running: false, byHook: true, error: null };
  return session(project, {
    turn,
    last: ago(since),
    prompted: ago(since + minute),
    stopped: ago(since),
    ...more,
  });
}

export function ended(project: string, since: number, more: Partial<Session> = {}): Session {
  return done(project, since, { ended: { ...ago(since), reason: "other", whileBusy: false }, ...more });
}

export const keyOf = (session: Session): string => sessionKeyOf(session);

export const facts: MenuInput["facts"] = {
  unconnected: [],
  dashboard: false,
  version: "1.2.3",
  home: "/home/dev",
  problems: [],
  agentName: (agent) => (agent === "claude" ? "Claude Code" : agent),
  formatTime: (at) => new Date(at).toISOString().slice(11, 16),
  quietHoursEnd: null,
};

export function createTestMenu(sessions: readonly Session[], more: Partial<MenuInput> = {}): Menu {
  return createMenu({
    sessions,
    preferences: noPreferences,
    config: defaultConfig,
    now,
    facts,
    findDetails: () => null,
    confirming: null,
    ...more,
  });
}

/** Lists all entries, including those in submenus. */
export function listEntries(items: readonly MenuItem[]): MenuEntry[] {
  return items.flatMap((item) => (item.kind === "entry" ? [item, ...listEntries(item.children ?? [])] : []));
}

/** Texts without an action are in brackets, entries of a submenu are indented. */
export function formatMenu(
  items: readonly MenuItem[],
  isDeep: (entry: MenuEntry) => boolean = () => false,
): string {
  const lines = (list: readonly MenuItem[], indent: string): string[] =>
    list.flatMap((item) => {
      if (item.kind === "separator") return [`${indent}---`];
      const check = item.checked === undefined ? "" : item.checked ? "[x] " : "[ ] ";
      const opens = item.children !== undefined;
      const label = opens ? `${item.label} >` : item.action === null ? `(${item.label})` : item.label;
      return [
        indent + check + label,
        ...(opens && isDeep(item) ? lines(item.children ?? [], `${indent}    `) : []),
      ];
    });
  return lines(items, "").join("\n");
}

export const listLabels = (items: readonly MenuItem[]): string[] =>
  listEntries(items).map(({ label }) => label);

/** The submenu of a session, or of the entry with this id. */
export function formatSubmenu(
  sessions: readonly Session[],
  of: Session | string,
  more: Partial<MenuInput> = {},
): string[] {
  const id = typeof of === "string" ? of : createEntryId("session", keyOf(of));
  const entry = listEntries(createTestMenu(sessions, more).items).find((item) => item.id === id);
  return formatMenu(entry?.children ?? []).split("\n");
}

const commands = ["---", "Quiet >", "Settings…", "About beckon 1.2.3", "Quit"];

/** Expects the whole menu, without the commands at its end and with submenus closed. */
export function expectMenu(
  sessions: readonly Session[],
  lines: readonly string[],
  more: Partial<MenuInput> = {},
): void {
  expect(formatMenu(createTestMenu(sessions, more).items)).toBe([...lines, ...commands].join("\n"));
}
