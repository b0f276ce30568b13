/**
 * From the agent's process outwards: multiplexer, terminal, window. Each layer selects its part and says where the next
 * one is.
 */
import { chooseWindow, type WindowChoice } from "./choose-window.ts";
import { findContainerTerminal, isFromOutside } from "./container.ts";
import { detectTerminal, detectWindowSystems, isTerminal } from "./detect.ts";
import { addConsoleOwner, findTerminalProcesses, queryWindow } from "./lineage.ts";
import { type Plan, type ProcessInfo, readEnvironment, readLineage, type WindowInfo } from "./plan.ts";
import { recogniseTerminal } from "./recognise.ts";
import { findSshTerminal, readConnection, ssh } from "./ssh.ts";
import type {
  FocusOutcome,
  FocusResult,
  LocateResult,
  PaneLocation,
  TerminalContext,
  TerminalTarget,
  Visibility,
  WindowQuery,
  WindowSystem,
} from "./terminal.ts";
import { commonVariables, readVariable } from "./variables.ts";

/** A limit for loops: real setups nest tmux in tmux at most. */
const maxLayers = 6;

export function* planFocus(target: TerminalTarget, context: TerminalContext): Plan<FocusOutcome> {
  const start = yield* locate(target, context);
  if (start.kind === "unknown") return notPossible([], start.reason);
  const by: string[] = [...start.by];
  const selected: string[] = [];
  let { location, limit } = start;
  for (let layer = 0; layer < maxLayers; layer++) {
    const terminal = detectTerminal(location);
    if (terminal) by.push(terminal.name);
    const result = terminal
      ? yield* terminal.focus(location, context)
      : focusUnknownTerminal(location, context);
    if (result.kind === "impossible")
      return notPossible(by, afterSelecting(selected, result.reason), result.login);
    limit ??= result.limit;
    if (result.kind === "front") return reached(by, limit);
    if (result.kind === "window") return yield* planRaise(result.query, { by, selected, limit }, context);
    location = result.location;
    if (terminal) selected.push(terminal.name);
  }
  return notPossible(by, `its terminal is nested more than ${maxLayers} levels deep`);
}

const reached = (by: readonly string[], limit: string | null): FocusOutcome => ({
  result: limit === null ? "exact" : "window",
  by: by.join(", "),
  why: limit,
});

const notPossible = (by: readonly string[], reason: string, login?: string | null): FocusOutcome => ({
  result: "impossible",
  by: by.join(", "),
  why: reason,
  ...(login === undefined ? {} : { login }),
});

const afterSelecting = (selected: readonly string[], reason: string): string =>
  selected.length === 0 ? reason : `${selected.join(" and ")} shows the pane now, but ${reason}`;

function* locate(target: TerminalTarget, { platform }: TerminalContext): Plan<LocateResult> {
  const { place, cwd, title } = target;
  if (!place.local) return yield* findElsewhere(target);
  const found = (location: PaneLocation): LocateResult => ({ kind: "known", location, by: [], limit: null });
  if (place.pid === null) return found({ lineage: [], tty: place.tty, env: place.env, title, cwd });
  const lineage = yield* readLineage(place.pid);
  const agent = lineage[0];
  const isReused =
    agent !== undefined &&
    place.procStart !== null &&
    agent.start !== null &&
    agent.start !== place.procStart;
  if (agent === undefined || isReused) {
    const canFindPane = place.tty !== null && recogniseTerminal(place.env)?.keepsPanes;
    return canFindPane
      ? found({ lineage: [], tty: place.tty, env: place.env, title, cwd, endedPid: place.pid })
      : { kind: "unknown", reason: `its process ${place.pid} has ended` };
  }
  // macOS shows a protected process's arguments in place of its variables.
  const env = { ...place.env, ...(yield* readEnvironment(place.pid)) };
  const isShown = platform !== "win32" || lineage.some(isTerminal);
  const whole = isShown ? lineage : yield* addConsoleOwner(lineage);
  const inTerminal = agent.tty === null ? skipToTty(whole) : whole;
  return found({ lineage: inTerminal, tty: inTerminal[0]?.tty ?? place.tty, env, title, cwd });
}

const findElsewhere = (target: TerminalTarget): Plan<LocateResult> =>
  target.elsewhere?.container === undefined
    ? findSshTerminal(target)
    : findContainerTerminal(target, target.elsewhere.container);

/** An agent that another agent started may have no terminal of its own: then it is in that one's. */
function skipToTty(lineage: readonly ProcessInfo[]): readonly ProcessInfo[] {
  const index = lineage.findIndex((parent) => parent.tty !== null || isTerminal(parent));
  return index > 0 && lineage[index]?.tty !== null ? lineage.slice(index) : lineage;
}

function focusUnknownTerminal(location: PaneLocation, { platform }: TerminalContext): FocusResult {
  const [terminal] = findTerminalProcesses(location);
  // A console of Windows is a window of the shell's own.
  if (terminal && platform === "win32") {
    return { kind: "window", query: queryWindow(location), limit: null };
  }
  const windowId = readVariable(location.env, commonVariables, "WINDOWID");
  if (location.lineage.length === 0 && windowId !== null) {
    const query = queryWindow(location, { ids: [windowId] });
    return {
      kind: "window",
      query,
      limit: "its process is unknown: this is its window, but maybe not its tab",
    };
  }
  if (terminal === undefined) {
    const isOutside = location.tty !== null && isFromOutside(location.lineage);
    return { kind: "impossible", reason: "it runs without a terminal", ...(isOutside && { login: null }) };
  }
  return {
    kind: "window",
    query: queryWindow(location),
    limit: `beckon does not know the terminal \`${terminal.name}\`: this is its window, but maybe not its tab`,
  };
}

/** What happened before the window is raised. */
interface Progress {
  readonly by: readonly string[];
  /** The multiplexers that show the pane now. */
  readonly selected: readonly string[];
  readonly limit: string | null;
}

function* planRaise(query: WindowQuery, progress: Progress, context: TerminalContext): Plan<FocusOutcome> {
  const { by, selected, limit } = progress;
  const systems = detectWindowSystems(context);
  for (const system of systems) {
    const windows = yield* system.list(query, context);
    const choice = windows === null ? null : chooseWindow(windows, query);
    if (choice === null || choice.kind === "none") continue;
    const window = choice.kind === "one" ? choice.window : choice.windows.at(-1);
    if (window === undefined) continue;
    const failure = yield* system.raise(window, context);
    if (failure !== null) return notPossible([...by, system.name], afterSelecting(selected, failure));
    return reached([...by, system.name], limit ?? limitOfChoice(choice) ?? system.limit ?? null);
  }
  return notPossible(by, afterSelecting(selected, explainNoWindow(systems)));
}

function limitOfChoice(choice: Exclude<WindowChoice, { kind: "none" }>): string | null {
  if (choice.kind === "several") {
    return `its terminal has ${choice.windows.length} windows, and nothing shows which is the right one: this is the last used`;
  }
  return choice.isCertain
    ? null
    : "its terminal has several windows: this one has the folder's name in its title";
}

function explainNoWindow(systems: readonly WindowSystem[]): string {
  if (systems.length === 0) {
    return "beckon was started outside your desktop (neither DISPLAY nor WAYLAND_DISPLAY is set): start it from your desktop";
  }
  const reasons = systems.flatMap(({ noWindowReason }) => noWindowReason ?? []);
  return (
    reasons[0] ?? `no window of its terminal was found on ${systems.map(({ name }) => name).join(" or ")}`
  );
}

/** The windows that the first window system lists which answers. */
export function* planWindowList(context: TerminalContext): Plan<readonly WindowInfo[]> {
  const query: WindowQuery = { pids: [], ids: [], titles: [], cwd: null };
  for (const system of detectWindowSystems(context)) {
    const windows = yield* system.list(query, context);
    if (windows !== null) return windows;
  }
  return [];
}

/** Whether the session's pane is what the user sees now; null if it cannot be known. */
export function* planVisibility(target: TerminalTarget, context: TerminalContext): Plan<boolean | null> {
  const start = yield* locate(target, context);
  if (start.kind === "unknown") return null;
  const isVisible = yield* planVisibilityAt(start.location, context, maxLayers);
  return isVisible === true && start.limit !== null ? null : isVisible;
}

function* planVisibilityAt(
  location: PaneLocation,
  context: TerminalContext,
  layers: number,
): Plan<boolean | null> {
  if (layers === 0) return null;
  const terminal = detectTerminal(location);
  const visibility: Visibility = terminal
    ? yield* terminal.checkVisibility(location, context)
    : { kind: "window", query: queryWindow(location), isCertain: false };
  if (visibility.kind === "known") return visibility.isVisible;
  if (visibility.kind === "window") {
    return yield* planIsActive(visibility.query, visibility.isCertain, context);
  }
  let result: boolean | null = false;
  for (const outer of visibility.locations) {
    const isOuterVisible: boolean | null = yield* planVisibilityAt(outer, context, layers - 1);
    if (isOuterVisible === true && visibility.isCertain) return true;
    if (isOuterVisible !== false) result = null;
  }
  return result;
}

/** The SSH logins whose terminals show the session's pane. Empty if none does, or if that cannot be known. */
export function* planLogins(target: TerminalTarget, context: TerminalContext): Plan<readonly string[]> {
  const start = yield* locate(target, context);
  return start.kind === "unknown" ? [] : yield* planLoginsAt(start.location, context, maxLayers);
}

function* planLoginsAt(
  location: PaneLocation,
  context: TerminalContext,
  layers: number,
): Plan<readonly string[]> {
  if (layers === 0) return [];
  const terminal = detectTerminal(location);
  if (terminal === ssh) return [readConnection(location.env)].filter((login) => login !== null);
  const visibility = terminal && (yield* terminal.checkVisibility(location, context));
  if (visibility?.kind !== "inside" || !visibility.isCertain) return [];
  const logins: string[] = [];
  for (const outer of visibility.locations) logins.push(...(yield* planLoginsAt(outer, context, layers - 1)));
  return [...new Set(logins)];
}

function* planIsActive(
  query: WindowQuery,
  isCertain: boolean,
  context: TerminalContext,
): Plan<boolean | null> {
  for (const system of detectWindowSystems(context)) {
    const windows = yield* system.list(query, context);
    if (windows === null) continue;
    const choice = chooseWindow(windows, query);
    if (choice.kind === "none") continue;
    if (choice.kind === "one" && choice.isCertain) {
      return choice.window.active && !isCertain ? null : choice.window.active;
    }
    const candidates = choice.kind === "one" ? [choice.window] : choice.windows;
    return candidates.some(({ active }) => active) || choice.kind === "one" ? null : false;
  }
  return null;
}
