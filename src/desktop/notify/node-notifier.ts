/**
 * Alerts by node-notifier and its helper terminal-notifier, on Macs where beckon's own panels cannot be drawn. The helper is
 * built for Intel: elsewhere it runs only under Rosetta. On Linux node-notifier can neither be clicked nor closed, and on
 * Windows beckon's own toasts do more.
 */
import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { version } from "node-notifier/package.json";
import type { Notifier, NotifierOptions } from "../../core/ports.ts";
import type { Alert } from "../../core/view/view.ts";
import { exec } from "../../system/exec.ts";
import { appName, bodyOf, expireMsOf, titleOf } from "./message.ts";

const bundle = "terminal-notifier.app";
const program = "Contents/MacOS/terminal-notifier";
/** Its helper waits that long for a click; one process each. */
const staysSeconds = { untilClosed: 600, quiet: 10 };
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

/** What the helper calls it: short, and nothing of a key in the list of processes. */
function groupOf(key: string): string {
  return `${appName}-${createHash("sha256").update(key).digest("hex").slice(0, 16)}`;
}

function requestOf(alert: Alert): Request {
  return {
    group: groupOf(alert.key),
    title: titleOf(alert),
    // The helper takes an empty message for none at all.
    message: bodyOf(alert) || " ",
    sound: alert.sound,
    timeout: expireMsOf(alert) === 0 ? staysSeconds.untilClosed : staysSeconds.quiet,
  };
}

/** null: there is no helper for this system, or it does not run. */
export async function openNodeNotifier(options: NotifierOptions): Promise<Notifier | null> {
  if (process.platform !== "darwin") return null;
  const helper = await unpackHelper(options.folder);
  const { code } = await exec([helper, "-help"]);
  if (code !== 0) return null;
  const { NotificationCenter } = await import("node-notifier");
  const center = new NotificationCenter({ customPath: helper });
  return createNodeNotifier(options, (request, onAnswer) => {
    // Its types know neither `group` nor `remove`.
    center.notify(request as Parameters<typeof center.notify>[0], onAnswer);
  });
}

export function createNodeNotifier(options: NotifierOptions, send: Send): Notifier {
  /** The turn that each alert is in: answers of the ones before it are no news. */
  const turns = new Map<string, object>();

  function close(key: string): void {
    if (turns.delete(key)) send({ remove: groupOf(key) }, () => {});
  }

  return {
    async show(alert) {
      const { key } = alert;
      const turn = {};
      turns.delete(key);
      turns.set(key, turn);
      const [oldest] = turns.keys();
      if (turns.size > maxOpen && oldest !== undefined) {
        close(oldest);
        options.onClosed(oldest, "expired");
      }
      send(requestOf(alert), (error, answer) => {
        if (turns.get(key) !== turn) return;
        turns.delete(key);
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
      for (const key of [...turns.keys()]) close(key);
    },
  };
}

/** Out of our own binary, to where it can be run. */
async function unpackHelper(folder: string): Promise<string> {
  const home = join(folder, "node-notifier", version);
  const path = join(home, bundle);
  const files = await embedded();
  const isThere = [...files].every(([name, from]) => isSame(join(path, name), from));
  if (!isThere) {
    const fresh = join(home, `${process.pid}.new`);
    rmSync(fresh, { recursive: true, force: true });
    for (const [name, from] of files) {
      mkdirSync(dirname(join(fresh, name)), { recursive: true, mode: 0o700 });
      copyFileSync(from, join(fresh, name));
    }
    chmodSync(join(fresh, program), 0o700);
    rmSync(path, { recursive: true, force: true });
    renameSync(fresh, path);
  }
  return join(path, program);
}

function isSame(path: string, from: string): boolean {
  try {
    return readFileSync(path).equals(readFileSync(from));
  } catch {
    return false;
  }
}

/** The bundle's files, by their place in it. */
async function embedded(): Promise<ReadonlyMap<string, string>> {
  if (process.platform !== "darwin") return new Map();
  const [helper, info, kind, icon, window, strings] = await Promise.all([
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
    [program, helper.default],
    ["Contents/Info.plist", info.default],
    ["Contents/PkgInfo", kind.default],
    ["Contents/Resources/Terminal.icns", icon.default],
    ["Contents/Resources/en.lproj/MainMenu.nib", window.default],
    ["Contents/Resources/en.lproj/InfoPlist.strings", strings.default],
  ]);
}
