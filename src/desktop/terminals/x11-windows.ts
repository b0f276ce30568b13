/** The windows on an X11 display, as its window manager tells of them. */
import { hostname } from "node:os";
import type { Property, X11 } from "../x11.ts";
import type { Window } from "./plan.ts";

/** null: the window manager tells nothing. */
export async function listWindows(x: X11): Promise<readonly Window[] | null> {
  const [stacked, listed, active] = await Promise.all([
    x.property(x.root, "_NET_CLIENT_LIST_STACKING"),
    x.property(x.root, "_NET_CLIENT_LIST"),
    activeWindow(x),
  ]);
  const ids = numbers(stacked ?? listed);
  if (ids.length === 0 && !stacked && !listed) return null;
  return Promise.all(ids.map((id) => describe(x, id, id === active)));
}

async function describe(x: X11, id: number, active: boolean): Promise<Window> {
  const [pid, machine, title, oldTitle] = await Promise.all([
    x.property(id, "_NET_WM_PID"),
    x.property(id, "WM_CLIENT_MACHINE"),
    x.property(id, "_NET_WM_NAME"),
    x.property(id, "WM_NAME"),
  ]);
  // A window that came through `ssh -X`, or out of a container, has a pid of another machine.
  const from = machine?.data.toString("latin1").replace(/\0+$/, "") ?? "";
  const isOurs = from === "" || from === hostname() || from === "localhost";
  return {
    id: String(id),
    pid: isOurs ? (numbers(pid)[0] ?? null) : null,
    title: title?.data.toString("utf8") ?? oldTitle?.data.toString("latin1") ?? "",
    active,
  };
}

function numbers(property: Property | null): number[] {
  if (property?.format !== 32) return [];
  const { data } = property;
  return Array.from({ length: Math.floor(data.length / 4) }, (_, at) => data.readUInt32LE(4 * at));
}

const activeWindow = async (x: X11): Promise<number | null> =>
  numbers(await x.property(x.root, "_NET_ACTIVE_WINDOW"))[0] ?? null;

const maxDepth = 16;

/** The window manager's window around this one, or this one; null: there is none. */
export async function outerWindow(x: X11, id: string): Promise<string | null> {
  const known = new Set(numbers(await x.property(x.root, "_NET_CLIENT_LIST")));
  let window: number | null = toId(id);
  for (let depth = 0; depth < maxDepth && window; depth++) {
    if (known.has(window)) return String(window);
    window = await x.parentOf(window);
  }
  return null;
}

function toId(id: string): number | null {
  const value = Number(id);
  return Number.isInteger(value) && value > 0 && value <= 0xffffffff ? value : null;
}

const onAll = 0xffffffff;

/** Some window managers go there by themselves; Openbox does not. */
async function goToWorkspaceOf(x: X11, window: number): Promise<void> {
  const [theirs] = numbers(await x.property(window, "_NET_WM_DESKTOP"));
  const [current] = numbers(await x.property(x.root, "_NET_CURRENT_DESKTOP"));
  if (theirs === undefined || current === undefined || theirs === onAll || theirs === current) return;
  await x.tellManager(x.root, "_NET_CURRENT_DESKTOP", [theirs, 0]);
}

const byPerson = 2;
/** Told again once: the window may have been on its way to another workspace. */
const attempts = 2;
const patienceMs = 400;
const lookMs = 8;

/** Unfolds it, goes to its workspace, and waits until it has the keyboard; false: it does not get it. */
export async function activateWindow(x: X11, id: string): Promise<boolean> {
  const window = toId(id);
  if (window === null) return false;
  for (let attempt = 0; attempt < attempts; attempt++) {
    await goToWorkspaceOf(x, window);
    await x.tellManager(window, "_NET_ACTIVE_WINDOW", [byPerson, 0, 0]);
    if (await becomesActive(x, window)) return true;
  }
  return false;
}

async function becomesActive(x: X11, window: number): Promise<boolean> {
  for (const end = performance.now() + patienceMs; performance.now() < end; await Bun.sleep(lookMs)) {
    if ((await activeWindow(x)) === window) return true;
  }
  return false;
}
