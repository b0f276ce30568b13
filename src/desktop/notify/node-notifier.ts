/**
 * Alerts by node-notifier and its program terminal-notifier, on Macs where beckon's own panels cannot be drawn. The program
 * is built for Intel, so Apple Silicon needs Rosetta. It is not used on Linux, where node-notifier's alerts can be neither
 * clicked nor closed, and not on Windows, where beckon's own toasts do more.
 */
import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { version } from "node-notifier/package.json";
import type { Notifier, NotifierOptions } from "../../core/ports.ts";
import type { Alert } from "../../core/view/view.ts";
import { readOwnBytes } from "../../storage/files.ts";
import { exec } from "../../system/exec.ts";
import { appName, expireTimeoutOf, formatBody, formatTitle } from "./alert-text.ts";

const bundle = "terminal-notifier.app";
const program = "Contents/MacOS/terminal-notifier";
/** How long terminal-notifier waits for a click. Each alert has a process of its own. */
const waitSeconds = { untilClosed: 600, quiet: 10 };
const maxOpen = 10;

type Request =
  | { readonly remove: string }
  | {
      readonly group: string;
      readonly title: string;
      readonly message: string;
      readonly sound: boolean;
      readonly timeout: number;
    };

export type Send = (request: Request, onAnswer: (error: unknown, answer: string | undefined) => void) => void;

/** The name of an alert for terminal-notifier: a hash, because everybody can read the list of processes. */
function groupOf(key: string): string {
  return `${appName}-${createHash("sha256").update(key).digest("hex").slice(0, 16)}`;
}

function createRequest(alert: Alert): Request {
  return {
    group: groupOf(alert.key),
    title: escapeStart(formatTitle(alert)),
    // An empty message counts as a missing one.
    message: escapeStart(formatBody(alert)) || " ",
    sound: alert.sound,
    timeout: expireTimeoutOf(alert) === 0 ? waitSeconds.untilClosed : waitSeconds.quiet,
  };
}

/** terminal-notifier removes one backslash at the start of a text (in its code). node-notifier escapes all others. */
const escapeStart = (text: string): string => text.replace(/^\\/, "\\\\");

/** null if the program does not run on this system. */
export async function openNodeNotifier(options: NotifierOptions): Promise<Notifier | null> {
  if (process.platform !== "darwin") return null;
  const path = await unpackProgram(options.folder);
  const { code } = await exec([path, "-help"]);
  if (code !== 0) return null;
  const { NotificationCenter } = await import("node-notifier");
  const center = new NotificationCenter({ customPath: path });
  return createNodeNotifier(options, (request, onAnswer) => {
    // Its types lack `group` and `remove`.
    center.notify(request as Parameters<typeof center.notify>[0], onAnswer);
  });
}

export function createNodeNotifier(options: NotifierOptions, send: Send): Notifier {
  /** The last request of each alert: an answer to an earlier one is ignored. */
  const requests = new Map<string, Request>();

  function close(key: string): void {
    if (requests.delete(key)) send({ remove: groupOf(key) }, () => {});
  }

  return {
    async show(alert) {
      const { key } = alert;
      const request = createRequest(alert);
      requests.delete(key);
      requests.set(key, request);
      const [oldest] = requests.keys();
      if (requests.size > maxOpen && oldest !== undefined) {
        close(oldest);
        options.onClosed(oldest, "expired");
      }
      send(request, (error, answer) => {
        if (requests.get(key) !== request) return;
        requests.delete(key);
        if (error) options.onProblem(`an alert could not be shown: ${error}`);
        if (answer === "activate") options.onClick(key, null);
        options.onClosed(key, answer === "timeout" || error ? "expired" : "user");
      });
      return groupOf(key);
    },
    async close(key) {
      close(key);
    },
    async forget(group) {
      if (/^beckon-[0-9a-f]{16}$/.test(group)) send({ remove: group }, () => {});
    },
    async isSilenced() {
      return null;
    },
    async report() {
      return { way: "node-notifier", server: null, abilities: null, namesAlerts: false, missing: null };
    },
    async stop() {
      for (const key of [...requests.keys()]) close(key);
    },
  };
}

/** Copies the program out of the binary. Returns its path. */
async function unpackProgram(folder: string): Promise<string> {
  const home = join(folder, "node-notifier", version);
  const path = join(home, bundle);
  const files = await findEmbeddedFiles();
  const isUnpacked = [...files].every(([name, from]) => isSame(join(path, name), from));
  if (!isUnpacked) {
    const temporary = join(home, `${process.pid}.new`);
    rmSync(temporary, { recursive: true, force: true });
    for (const [name, from] of files) {
      mkdirSync(dirname(join(temporary, name)), { recursive: true, mode: 0o700 });
      copyFileSync(from, join(temporary, name));
    }
    chmodSync(join(temporary, program), 0o700);
    rmSync(path, { recursive: true, force: true });
    renameSync(temporary, path);
  }
  return join(path, program);
}

function isSame(path: string, from: string): boolean {
  try {
    const bytes = readFileSync(from);
    return readOwnBytes(path, bytes.length).equals(bytes);
  } catch {
    return false;
  }
}

/** Path in the bundle → path of the embedded file. */
async function findEmbeddedFiles(): Promise<ReadonlyMap<string, string>> {
  if (process.platform !== "darwin") return new Map();
  const [executable, info, kind, icon, window, strings] = await Promise.all([
    import("node-notifier/vendor/mac.noindex/terminal-notifier.app/Contents/MacOS/terminal-notifier", {
      with: { type: "file" },
    }),
    import("node-notifier/vendor/mac.noindex/terminal-notifier.app/Contents/Info.plist", {
      with: { type: "file" },
    }),
    import("node-notifier/vendor/mac.noindex/terminal-notifier.app/Contents/PkgInfo", {
      with: { type: "file" },
    }),
    import("node-notifier/vendor/mac.noindex/terminal-notifier.app/Contents/Resources/Terminal.icns", {
      with: { type: "file" },
    }),
    import(
      "node-notifier/vendor/mac.noindex/terminal-notifier.app/Contents/Resources/en.lproj/MainMenu.nib",
      {
        with: { type: "file" },
      }
    ),
    import(
      "node-notifier/vendor/mac.noindex/terminal-notifier.app/Contents/Resources/en.lproj/InfoPlist.strings",
      { with: { type: "file" } }
    ),
  ]);
  return new Map([
    [program, executable.default],
    ["Contents/Info.plist", info.default],
    ["Contents/PkgInfo", kind.default],
    ["Contents/Resources/Terminal.icns", icon.default],
    ["Contents/Resources/en.lproj/MainMenu.nib", window.default],
    ["Contents/Resources/en.lproj/InfoPlist.strings", strings.default],
  ]);
}
