/** kitty: the pane by its remote control, if the user has turned that on; otherwise only the window. */
import { createConnection } from "node:net";
import { asList, isRecord, type JsonRecord, readNumber } from "../../core/json.ts";
import { limits } from "../../core/limits.ts";
import { describeTerminal, readVariable } from "../../core/terminals.ts";
import { isProcessOf, queryWindow } from "./detect.ts";
import { callKitty, filterOwnSockets, type Plan, readSockets } from "./plan.ts";
import { notVisible, type PaneLocation, type TerminalRecipe, type WindowQuery } from "./recipe.ts";

interface Pane {
  readonly id: number;
  readonly pid: number | null;
  readonly isShown: boolean;
  /** X11 only. */
  readonly windowId: string | null;
}

export const remoteControlAdvice =
  "kitty's remote control is off: put `allow_remote_control socket-only` and `listen_on unix:/tmp/kitty` " +
  "into kitty.conf, and restart kitty";

export const kitty: TerminalRecipe = {
  *focus(location, { platform }) {
    const address = yield* findAddress(location);
    const pane = address === null ? null : yield* findPane(address, location);
    const focused =
      address === null || pane === null
        ? null
        : yield* callKitty(address, "focus-window", { match: `id:${pane.id}` });
    const limit = focused === null ? remoteControlAdvice : null;
    if (limit === null && platform === "darwin") return { kind: "front", limit };
    return { kind: "window", query: query(location, pane), limit };
  },
  *checkVisibility(location) {
    const address = yield* findAddress(location);
    const pane = address === null ? null : yield* findPane(address, location);
    if (pane !== null && !pane.isShown) return notVisible;
    return { kind: "window", query: query(location, pane), isCertain: pane !== null };
  },
};

function query(location: PaneLocation, pane: Pane | null): WindowQuery {
  const id = pane?.windowId ?? readVariable(location.env, "WINDOWID");
  return queryWindow(location, { ids: [...(id === null ? [] : [id]), describeTerminal("kitty").bundleId] });
}

const isKitty = isProcessOf("kitty");

/** The socket must belong to this user or, if it has no file, to the kitty around the session. */
function* findAddress({ env, lineage }: PaneLocation): Plan<string | null> {
  const address = readVariable(env, "KITTY_LISTEN_ON");
  const path = address?.startsWith("unix:") ? address.slice("unix:".length) : null;
  if (path === null) return address;
  const terminals = path.startsWith("@") ? lineage.filter(isKitty).slice(0, 1) : [];
  const sockets = [...(yield* filterOwnSockets([path]))];
  for (const { pid } of terminals) sockets.push(...(yield* readSockets(pid)));
  return sockets.includes(path) ? address : null;
}

/** By the process that kitty started in it. The variable counts only without processes: a shell may have inherited it. */
function* findPane(address: string, location: PaneLocation): Plan<Pane | null> {
  const pids = location.lineage.map(({ pid }) => pid);
  const paneId = readVariable(location.env, "KITTY_WINDOW_ID");
  const panes = readPanes(yield* callKitty(address, "ls", {}));
  const byProcess = panes.filter(({ pid }) => pid !== null && pids.includes(pid));
  const byVariable = panes.filter(({ id }) => String(id) === paneId);
  const [pane] = byProcess.length === 1 ? byProcess : location.lineage.length === 0 ? byVariable : [];
  return pane ?? null;
}

const readList = (value: unknown): JsonRecord[] => asList(value).filter(isRecord);

/** kitty's "OS windows" have tabs, and these have its "windows". */
function readPanes(osWindows: unknown): Pane[] {
  return readList(osWindows).flatMap(({ platform_window_id, tabs }) => {
    const windowId = typeof platform_window_id === "number" ? String(platform_window_id) : null;
    return readList(tabs).flatMap((tab) => {
      const windows = readList(tab.windows);
      return windows.flatMap((window) => {
        const { id, pid } = window;
        if (typeof id !== "number") return [];
        const isShown = isActive(tab) && (isActive(window) || windows.length === 1);
        return [{ id, pid: readNumber(pid), isShown, windowId }];
      });
    });
  });
}

/** `is_active` stays with the tab that its window shows. kitty before 0.24 has only `is_focused`. */
const isActive = ({ is_active, is_focused }: JsonRecord): boolean =>
  typeof is_active === "boolean" ? is_active : is_focused === true;

const commandStart = "\u001bP@kitty-cmd";
const commandEnd = "\u001b\\";

interface KittyAnswer {
  readonly ok?: boolean;
  readonly data?: unknown;
}

/**
 * Sends a command over kitty's socket: faster than its own program, which need not be in the PATH. null if kitty does not
 * answer in time, or refuses.
 */
export function sendKittyCommand(
  address: string,
  command: string,
  payload: unknown,
  timeoutMs: number,
): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const socket = createConnection(parseAddress(address));
  const finish = (answer: unknown) => {
    clearTimeout(timer);
    socket.destroy();
    resolve(answer);
  };
  const timer = setTimeout(() => finish(null), timeoutMs);
  let text = "";
  socket.on("error", () => finish(null));
  socket.on("close", () => finish(null));
  socket.setEncoding("utf8");
  socket.on("data", (chunk: string) => {
    text += chunk;
    if (text.length > limits.maxCommandOutputBytes) finish(null);
    else if (text.endsWith(commandEnd)) finish(parseAnswer(text));
  });
  // The oldest version that has these commands in this form: kitty refuses only versions newer than itself.
  const request = { cmd: command, version: [0, 20, 0], no_response: false, payload };
  socket.write(`${commandStart}${JSON.stringify(request)}${commandEnd}`);
  return promise;
}

function parseAddress(address: string): { path: string } | { host: string; port: number } {
  const tcp = /^tcp:[^:]+:(\d+)$/.exec(address)?.[1];
  if (tcp !== undefined) return { host: "127.0.0.1", port: Number(tcp) };
  const path = address.replace(/^unix:/, "");
  return { path: path.startsWith("@") ? `\0${path.slice(1)}` : path };
}

function parseAnswer(text: string): unknown {
  try {
    const answer: KittyAnswer = JSON.parse(
      text.slice(text.indexOf(commandStart) + commandStart.length, -commandEnd.length),
    );
    if (answer.ok !== true) return null;
    return typeof answer.data === "string" ? JSON.parse(answer.data) : (answer.data ?? true);
  } catch {
    return null;
  }
}
