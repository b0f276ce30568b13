/** systray2's helper: a program of its own that we unpack, start, and talk to in lines of JSON. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { version } from "systray2/package.json";
import { readLines } from "../lines.ts";
import { putFile } from "../put-file.ts";
import type { Slot } from "./systray-slots.ts";

export interface HelperMenu {
  /** Base64 of a PNG, on Windows of an ICO. */
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
  /** Resolves when the helper has taken it all. */
  send(actions: readonly HelperAction[]): Promise<void>;
  /** Why it ended, in its own words where it said some. */
  readonly exited: Promise<string>;
  kill(): void;
}

const readyMs = 5_000;
const maxWordsLength = 300;
/** It sends back the whole item that was clicked. */
const maxLineLength = 64 * 1024;

/** null: systray2 has none for this system. */
async function embeddedHelper(): Promise<{ readonly path: string; readonly name: string } | null> {
  if (process.platform === "linux" && process.arch === "x64") {
    const helper = await import("systray2/traybin/tray_linux_release", { with: { type: "file" } });
    return { path: helper.default, name: "tray_linux_release" };
  }
  if (process.platform === "win32") {
    const helper = await import("systray2/traybin/tray_windows_release.exe", { with: { type: "file" } });
    return { path: helper.default, name: "tray_windows_release.exe" };
  }
  if (process.platform === "darwin") {
    const helper = await import("systray2/traybin/tray_darwin_release", { with: { type: "file" } });
    return { path: helper.default, name: "tray_darwin_release" };
  }
  return null;
}

/** Out of our own binary, to where it can be run. Returns its path; null: there is none for this system. */
export async function unpackHelper(folder: string): Promise<string | null> {
  const helper = await embeddedHelper();
  if (helper === null) return null;
  const path = join(folder, "systray2", version, helper.name);
  putFile(path, readFileSync(helper.path), 0o700);
  return path;
}

/** Rejects when it ends, or says nothing, before it is ready. */
export async function startHelper(
  path: string,
  menu: HelperMenu,
  onClick: (id: number) => void,
): Promise<Helper> {
  const child = Bun.spawn([path], {
    // Without a folder of its own it would look for icons in whatever project beckon was started in.
    cwd: join(path, ".."),
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
    windowsHide: true,
  });
  const words = lastWords(child.stderr);
  const exited = child.exited.then(async (code) => {
    const said = await Promise.race([words, Bun.sleep(200).then(() => "")]);
    return said || `ended with ${child.signalCode ?? code}`;
  });
  const ready = Promise.withResolvers<void>();
  void readLines(child.stdout, maxLineLength, (line) => {
    const told = parse(line);
    if (told?.type === "ready") ready.resolve();
    if (told?.type === "clicked" && typeof told.__id === "number") onClick(told.__id);
  });
  const timer = setTimeout(() => ready.reject(new Error(`not ready within ${readyMs} ms`)), readyMs);
  void exited.then((why) => ready.reject(new Error(why)));

  async function write(lines: readonly unknown[]): Promise<void> {
    for (const line of lines) child.stdin.write(`${JSON.stringify(line)}\n`);
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

function parse(line: string): { readonly type?: unknown; readonly __id?: unknown } | null {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

async function lastWords(stream: ReadableStream<Uint8Array>): Promise<string> {
  let last = "";
  await readLines(stream, maxWordsLength, (line) => {
    if (line.trim() !== "") last = line.trim().slice(0, maxWordsLength);
  });
  return last;
}
