/** Sessions as the API sends them, for tests of the status table. */
import type { AskView, ChildView, SessionView } from "../../src/core/view/session-view.ts";
import { nameTerminal } from "../../src/core/view/terminal-name.ts";

export const now = 1_790_000_000_000;
export const minute = 60_000;

export function session(project: string, more: Partial<SessionView> = {}): SessionView {
  return {
    machine: null,
    reachable: true,
    provider: "claude",
    sessionId: `${Bun.hash(project).toString(16).slice(0, 8).padEnd(8, "0")}-0000-4000-8000-000000000001`,
    state: "active",
    group: "ready",
    activityPhase: "interactable",
    status: { kind: "idle", detail: null },
    evidence: "proven",
    error: null,
    died: false,
    asks: [],
    children: [],
    cwd: `/home/dev/${project}`,
    project,
    gitBranch: "main",
    title: null,
    model: null,
    tokens: null,
    costUsd: null,
    context: null,
    rateLimits: null,
    tasks: null,
    permissionMode: null,
    startSource: null,
    endReason: null,
    transcriptPath: null,
    turnCount: 1,
    lastPrompt: null,
    lastResponse: null,
    currentSkill: null,
    port: null,
    terminal: null,
    place: null,
    attach: null,
    fingerprint: null,
    attended: true,
    since: now - 5 * minute,
    startedAt: now - 60 * minute,
    lastEventAt: now - 5 * minute,
    ...more,
  };
}

export function child(more: Partial<ChildView> = {}): ChildView {
  return {
    agentId: "a",
    parentSessionId: "s",
    name: "Explore",
    type: "Explore",
    state: "running",
    detail: "Grep",
    startedAt: now - minute,
    endedAt: null,
    model: null,
    tokens: null,
    costUsd: null,
    context: null,
    transcriptPath: null,
    ...more,
  };
}

export function ask(more: Partial<AskView> = {}): AskView {
  const defaults = { id: "1", agentId: null, options: [], openedAt: now, answerable: false };
  return { ...defaults, kind: "permission", tool: "Bash", summary: "npm run deploy", ...more };
}

export function asking(project: string, more: Partial<SessionView> = {}): SessionView {
  const status = { kind: "attention", detail: "Permission for Bash" } as const;
  const group = more.silence === undefined ? "needs_you" : "set_aside";
  return session(project, { status, group, activityPhase: "waiting_permission", asks: [ask()], ...more });
}

export function working(project: string, more: Partial<SessionView> = {}): SessionView {
  const status = { kind: "working", detail: "Bash" } as const;
  return session(project, { status, group: "working", activityPhase: "busy", ...more });
}

export function failed(project: string, more: Partial<SessionView> = {}): SessionView {
  const error = "API Error: 529 Overloaded";
  return session(project, { status: { kind: "idle", detail: error }, group: "failed", error, ...more });
}

export function over(project: string, more: Partial<SessionView> = {}): SessionView {
  return session(project, { state: "completed", group: "ended", activityPhase: null, ...more });
}

export function placed(
  tty: string,
  env: Record<string, string> = {},
): Pick<SessionView, "place" | "terminal"> {
  const place = { local: true, pid: 7, procStart: "1", tty, terminalSessionId: null, env };
  return { place, terminal: nameTerminal(place) };
}
