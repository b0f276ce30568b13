/** From the agent's process outwards: multiplexer, terminal, window. Each layer selects its part and names the next. */
import type { TerminalTarget } from "../../core/ports.ts";
import type { FocusOutcome } from "../../core/view/focus-text.ts";
import { terminalOf, wantedOf } from "./around.ts";
import { type Choice, choose } from "./choose.ts";
import { environment, lineage, type Plan, type Process } from "./plan.ts";
import { localEndOf } from "./remote.ts";
import type {
  PaneLocation,
  PaneVisible,
  Reached,
  TerminalContext,
  TerminalRow,
  Wanted,
  WindowRow,
} from "./row.ts";
import { claimed } from "./shapes.ts";

export interface Table {
  readonly terminals: readonly TerminalRow[];
  readonly windows: readonly WindowRow[];
}

/** tmux in tmux in tmux is as deep as anybody goes. */
const maxLayers = 6;

export function* focus(target: TerminalTarget, here: TerminalContext, table: Table): Plan<FocusOutcome> {
  const start = yield* spotOf(target, table);
  if (typeof start === "string") return impossible([], start);
  const by: string[] = [...start.by];
  const selected: string[] = [];
  let { spot, limit } = start;
  for (let layer = 0; layer < maxLayers; layer++) {
    const row = rowOf(spot, table);
    if (row) by.push(row.name);
    const reached = row ? yield* row.focus(spot, here) : stranger(spot, here);
    if (reached.kind !== "impossible") limit ??= reached.why ?? null;
    if (reached.kind === "front") return done(by, limit);
    if (reached.kind === "impossible") return impossible(by, halfway(selected, reached.why));
    if (reached.kind === "window") return yield* raise(reached.wanted, { by, selected, limit }, here, table);
    spot = reached.spot;
    if (row) selected.push(row.name);
  }
  return impossible(by, `its terminal is inside more than ${maxLayers} others`);
}

const done = (by: readonly string[], why: string | null): FocusOutcome => ({
  result: why === null ? "exact" : "window",
  by: by.join(", "),
  why,
});

const impossible = (by: readonly string[], why: string): FocusOutcome => ({
  result: "impossible",
  by: by.join(", "),
  why,
});

const halfway = (selected: readonly string[], why: string): string =>
  selected.length === 0 ? why : `${selected.join(" and ")} shows the pane now, but ${why}`;

interface Start {
  readonly spot: PaneLocation;
  readonly by: readonly string[];
  /** Why it cannot become more than *window only*. */
  readonly limit: string | null;
}

/** A text: there is nothing to look for, and why. */
function* spotOf({ place, cwd, title }: TerminalTarget, table: Table): Plan<Start | string> {
  if (!place.local) return yield* localEndOf({ place, cwd, title });
  if (place.pid === null) {
    return { spot: { lineage: [], tty: place.tty, env: place.env, title, cwd }, by: [], limit: null };
  }
  const line = yield* lineage(place.pid);
  const agent = line[0];
  const isReused =
    agent !== undefined &&
    place.procStart !== null &&
    agent.start !== null &&
    agent.start !== place.procStart;
  if (agent === undefined || isReused) return `its process ${place.pid} is gone: it has ended, or was killed`;
  const env = (yield* environment(place.pid)) ?? place.env;
  const inTerminal = agent.tty === null ? fromFirstTty(line, table) : line;
  const tty = inTerminal[0]?.tty ?? place.tty;
  return { spot: { lineage: inTerminal, tty, env, title, cwd }, by: [], limit: null };
}

/** An agent that another one started may have no terminal of its own: then it is in that one's. */
function fromFirstTty(line: readonly Process[], { terminals }: Table): readonly Process[] {
  const at = line.findIndex((process) => process.tty !== null || terminals.some(({ is }) => is(process)));
  return at > 0 && line[at]?.tty !== null ? line.slice(at) : line;
}

/** By the processes around it. Variables are inherited by whatever is started from a terminal: they are the second best. */
function rowOf(spot: PaneLocation, { terminals }: Table): TerminalRow | null {
  for (const process of terminalOf(spot)) {
    const row = terminals.find(({ is }) => is(process));
    if (row) return row;
  }
  const [terminal] = terminalOf(spot);
  return terminal && terminal.tty !== null ? null : (terminals.find(({ says }) => says(spot.env)) ?? null);
}

function stranger(spot: PaneLocation, { platform }: TerminalContext): Reached {
  const [terminal] = terminalOf(spot);
  // A console of Windows is a window of the shell's own.
  if (terminal && platform === "win32") return { kind: "window", wanted: wantedOf(spot), why: null };
  const window = claimed(spot.env, "WINDOWID");
  if (spot.lineage.length === 0 && window !== null) {
    const wanted = wantedOf(spot, { ids: [window] });
    return { kind: "window", wanted, why: "its process is not known: this is the window it was started in" };
  }
  if (terminal === undefined) return { kind: "impossible", why: "it runs without a terminal" };
  return {
    kind: "window",
    wanted: wantedOf(spot),
    why: `beckon does not know the terminal \`${terminal.name}\`: this is its window, but the tab may be another`,
  };
}

/** How far it went before the window. */
interface Way {
  readonly by: readonly string[];
  /** The multiplexers that show the pane now. */
  readonly selected: readonly string[];
  readonly limit: string | null;
}

function* raise(wanted: Wanted, way: Way, here: TerminalContext, { windows }: Table): Plan<FocusOutcome> {
  const { by, selected, limit } = way;
  const ruling = windows.filter(({ rules }) => rules(here));
  for (const row of ruling) {
    const listed = yield* row.list(wanted, here);
    const choice = listed === null ? null : choose(listed, wanted);
    if (choice === null || choice.kind === "none") continue;
    const found = choice.kind === "one" ? choice.window : choice.windows.at(-1);
    if (found === undefined) continue;
    const wrong = yield* row.raise(found, here);
    if (wrong !== null) return impossible([...by, row.name], halfway(selected, wrong));
    return done([...by, row.name], limit ?? doubt(choice) ?? row.vague ?? null);
  }
  const excuse = ruling.find((row) => row.excuse !== undefined)?.excuse;
  return impossible(by, halfway(selected, excuse ?? noWindow(ruling)));
}

function doubt(choice: Exclude<Choice, { kind: "none" }>): string | null {
  if (choice.kind === "several") {
    return `its terminal has ${choice.windows.length} windows that cannot be told apart: this is the one used last`;
  }
  return choice.sure ? null : "its terminal has several windows: this one has the folder's name in its title";
}

const noWindow = (ruling: readonly WindowRow[]): string =>
  ruling.length === 0
    ? "beckon was started outside your desktop (neither DISPLAY nor WAYLAND_DISPLAY is set): start it from inside"
    : `no window of its terminal was found on ${ruling.map(({ name }) => name).join(" or ")}`;

export function* isLooking(
  target: TerminalTarget,
  here: TerminalContext,
  table: Table,
): Plan<boolean | null> {
  const start = yield* spotOf(target, table);
  if (typeof start === "string") return null;
  const looking = yield* lookAt(start.spot, here, table, maxLayers);
  return looking === true && start.limit !== null ? null : looking;
}

function* lookAt(
  spot: PaneLocation,
  here: TerminalContext,
  table: Table,
  layers: number,
): Plan<boolean | null> {
  if (layers === 0) return null;
  const row = rowOf(spot, table);
  const seen: PaneVisible = row
    ? yield* row.look(spot, here)
    : { kind: "window", wanted: wantedOf(spot), sure: false };
  if (seen.kind === "known") return seen.looking;
  if (seen.kind === "window") return yield* isActive(seen.wanted, seen.sure, here, table);
  let known: boolean | null = false;
  for (const outer of seen.spots) {
    const looking: boolean | null = yield* lookAt(outer, here, table, layers - 1);
    if (looking === true && seen.sure) return true;
    if (looking !== false) known = null;
  }
  return known;
}

function* isActive(
  wanted: Wanted,
  sure: boolean,
  here: TerminalContext,
  { windows }: Table,
): Plan<boolean | null> {
  for (const row of windows.filter(({ rules }) => rules(here))) {
    const listed = yield* row.list(wanted, here);
    if (listed === null) continue;
    const choice = choose(listed, wanted);
    if (choice.kind === "none") continue;
    if (choice.kind === "one" && choice.sure)
      return choice.window.active && !sure ? null : choice.window.active;
    const theirs = choice.kind === "one" ? [choice.window] : choice.windows;
    return theirs.some(({ active }) => active) || choice.kind === "one" ? null : false;
  }
  return null;
}
