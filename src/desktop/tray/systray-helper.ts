/** systray2's helper: a program that beckon unpacks, starts, and talks to in lines of JSON. */
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { version } from "systray2/package.json";
import { asRecord, parseJson } from "../../core/json.ts";
import { readLines } from "../../system/lines.ts";
import { waitAtMost } from "../../system/schedule.ts";
import { putFile } from "../put-file.ts";
import type { Slot } from "./systray-slots.ts";

export interface HelperMenu {
  /** A PNG, on Windows an ICO, as base64. */
  readonly icon: string;
  readonly title: string;
  readonly tooltip: string;
  readonly isTemplateIcon: boolean;
  readonly items: readonly Slot[];
}

export type HelperAction =
  | { readonly type: "update-item"; readonly item: Slot; readonly seq_id: -1 }
  | { readonly type: "update-menu"; readonly menu: HelperMenu };

export interface Helper {
  /** Resolves when the helper has read all of it. */
  send(actions: readonly HelperAction[]): Promise<void>;
  /** Why it ended: the last line of its stderr, or its exit code. */
  readonly exited: Promise<string>;
  kill(): void;
}

const readyMs = 5_000;
const maxErrorLength = 300;
/** The helper sends back the whole item that was clicked. */
const maxLineLength = 64 * 1024;

/** null if systray2 has none that runs on this system: the one for macOS is built for Intel, and not signed. */
async function findEmbeddedHelper(): Promise<{ readonly path: string; readonly name: string } | null> {
  if (process.platform === "linux" && process.arch === "x64") {
    const helper = await import("systray2/traybin/tray_linux_release", { with: { type: "file" } });
    return { path: helper.default, name: "tray_linux_release" };
  }
  if (process.platform === "win32") {
    const helper = await import("systray2/traybin/tray_windows_release.exe", { with: { type: "file" } });
    return { path: helper.default, name: "tray_windows_release.exe" };
  }
  return null;
}

/** Copies the helper out of the binary. Returns its path, or null if there is none for this system. */
export async function unpackHelper(folder: string): Promise<string | null> {
  const helper = await findEmbeddedHelper();
  if (helper === null) return null;
  const path = join(folder, "systray2", version, helper.name);
  putFile(path, readFileSync(helper.path), 0o700);
  return path;
}

/**
 * The helper writes each icon into its temporary folder (`systray_XXXXXX`, on Windows `systray_temp_icon_HASH`) and leaves
 * the last one there when it is killed, so it gets a temporary folder of its own.
 */
const temporaryFolderOf = (helperPath: string): string => join(dirname(helperPath), "icons");

/** Removes the icons that the helper has left, as far as it can. Links are removed, never followed. */
export function removeHelperIcons(helperPath: string): void {
  const folder = temporaryFolderOf(helperPath);
  try {
    if (!lstatSync(folder).isDirectory()) rmSync(folder);
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.name.startsWith("systray_") && !entry.isDirectory()) rmSync(join(folder, entry.name));
    }
  } catch {
    // Nothing is there, or it cannot be removed: the next start tries again.
  }
}

/** Rejects if the helper ends, or does not report that it is ready. */
export async function startHelper(
  path: string,
  menu: HelperMenu,
  onClick: (id: number) => void,
): Promise<Helper> {
  removeHelperIcons(path);
  const temporary = temporaryFolderOf(path);
  mkdirSync(temporary, { recursive: true, mode: 0o700 });
  const child = Bun.spawn([path], {
    // In the current folder it would look for icons of whatever project beckon was started in.
    cwd: dirname(path),
    env: { ...process.env, TMPDIR: temporary, TEMP: temporary, TMP: temporary },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
    windowsHide: true,
  });
  const lastError = readLastLine(child.stderr);
  const exited = child.exited.then(async (code) => {
    // A process that the helper left running may keep its stderr open.
    const error = await waitAtMost(200, lastError);
    return error || `ended with ${child.signalCode ?? code}`;
  });
  const ready = Promise.withResolvers<void>();
  void readLines(child.stdout, maxLineLength, (line) => {
    const { type, __id } = asRecord(parseJson(line));
    if (type === "ready") ready.resolve();
    if (type === "clicked" && typeof __id === "number") onClick(__id);
  });
  const timer = setTimeout(() => ready.reject(new Error(`not ready within ${readyMs} ms`)), readyMs);
  void exited.then((reason) => ready.reject(new Error(reason)));

  async function write(messages: readonly unknown[]): Promise<void> {
    for (const message of messages) child.stdin.write(`${JSON.stringify(message)}\n`);
    await child.stdin.flush();
  }
  try {
    await ready.promise;
    await write([menu]);
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  } finally {
    clearTimeout(timer);
  }
  return { send: write, exited, kill: () => child.kill("SIGKILL") };
}

async function readLastLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  let last = "";
  await readLines(stream, maxErrorLength, (line) => {
    if (line.trim() !== "") last = line.trim().slice(0, maxErrorLength);
  });
  return last;
}
