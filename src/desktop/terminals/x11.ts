/** The windows of an X11 display, by EWMH (https://specifications.freedesktop.org/wm/latest/ar01s03.html). */
import { hostname } from "node:os";
import type { WindowInfo } from "../../core/terminals/plan.ts";
import { waitUntil } from "../../system/schedule.ts";
import type { X11, X11Property } from "../x11.ts";

/** The windows on an X11 display; null if the window manager lists none. */
export async function listX11Windows(x: X11): Promise<readonly WindowInfo[] | null> {
  const [stacked, listed, active] = await Promise.all([
    x.readProperty(x.root, "_NET_CLIENT_LIST_STACKING"),
    x.readProperty(x.root, "_NET_CLIENT_LIST"),
    readActiveWindow(x),
  ]);
  const ids = readNumbers(stacked ?? listed);
  if (ids.length === 0 && !stacked && !listed) return null;
  return Promise.all(ids.map((id) => readWindow(x, id, id === active)));
}

async function readWindow(x: X11, id: number, active: boolean): Promise<WindowInfo> {
  const [pid, machine, title, oldTitle] = await Promise.all([
    x.readProperty(id, "_NET_WM_PID"),
    x.readProperty(id, "WM_CLIENT_MACHINE"),
    x.readProperty(id, "_NET_WM_NAME"),
    x.readProperty(id, "WM_NAME"),
  ]);
  // A window over `ssh -X`, or from a container, has a pid of another machine.
  const host = machine?.data.toString("latin1").replace(/\0+$/, "") ?? "";
  const isLocal = host === "" || host === hostname() || host === "localhost";
  return {
    id: String(id),
    pid: isLocal ? (readNumbers(pid)[0] ?? null) : null,
    title: title?.data.toString("utf8") ?? oldTitle?.data.toString("latin1") ?? "",
    active,
  };
}

function readNumbers(property: X11Property | null): number[] {
  if (property?.format !== 32) return [];
  const { data } = property;
  return Array.from({ length: Math.floor(data.length / 4) }, (_, index) => data.readUInt32LE(4 * index));
}

const readActiveWindow = async (x: X11): Promise<number | null> =>
  readNumbers(await x.readProperty(x.root, "_NET_ACTIVE_WINDOW"))[0] ?? null;

const maxDepth = 16;

/** The window that the window manager knows: this one, or the one around it; null if there is none. */
export async function findTopLevelX11Window(x: X11, id: string): Promise<string | null> {
  const known = new Set(readNumbers(await x.readProperty(x.root, "_NET_CLIENT_LIST")));
  let window: number | null = parseWindowId(id);
  for (let depth = 0; depth < maxDepth && window; depth++) {
    if (known.has(window)) return String(window);
    window = await x.findParent(window);
  }
  return null;
}

function parseWindowId(id: string): number | null {
  const value = Number(id);
  return Number.isInteger(value) && value > 0 && value <= 0xffffffff ? value : null;
}

const onAllWorkspaces = 0xffffffff;

/** Some window managers switch by themselves; Openbox does not. */
async function switchToWorkspaceOf(x: X11, window: number): Promise<void> {
  const [workspace] = readNumbers(await x.readProperty(window, "_NET_WM_DESKTOP"));
  const [current] = readNumbers(await x.readProperty(x.root, "_NET_CURRENT_DESKTOP"));
  if (workspace === undefined || workspace === onAllWorkspaces) return;
  if (current === undefined || workspace === current) return;
  await x.sendToManager(x.root, "_NET_CURRENT_DESKTOP", [workspace, 0]);
}

/** EWMH: the request comes from a pager, that is, from the user. */
const sourceIsPager = 2;
/** The window may have been on its way to another workspace: then the first request is lost. */
const maxAttempts = 2;
const activationMs = 400;
const pollMs = 8;

/** Restores the window, switches to its workspace, and waits for the keyboard. false if the window does not get it. */
export async function activateX11Window(x: X11, id: string): Promise<boolean> {
  const window = parseWindowId(id);
  if (window === null) return false;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    await switchToWorkspaceOf(x, window);
    await x.sendToManager(window, "_NET_ACTIVE_WINDOW", [sourceIsPager, 0, 0]);
    if (await becomesActive(x, window)) return true;
  }
  return false;
}

const becomesActive = (x: X11, window: number): Promise<boolean> =>
  waitUntil(async () => (await readActiveWindow(x)) === window, { atMostMs: activationMs, everyMs: pollMs });
