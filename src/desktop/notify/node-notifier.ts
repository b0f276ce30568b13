/**
 * Toasts by node-notifier and its program SnoreToast, on Windows where PowerShell may not run beckon's script (a policy of a
 * company, for example). They have no buttons: a process waits for each of them, and reports a click on it. It is not used on
 * Linux, where node-notifier's alerts can be neither clicked nor closed, and not on macOS, where its program is built for Intel
 * and not signed.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { version } from "node-notifier/package.json";
import type { Notifier, NotifierOptions } from "../../core/interfaces/index.ts";
import type { Alert } from "../../core/view/view.ts";
import { putFile } from "../put-file.ts";
import { isTag, tagOf } from "../windows/toasts.ts";
import { appName, formatBody, formatTitle } from "./alert-text.ts";

/** With the name that the registry has for beckon's toasts, SnoreToast leaves no shortcut in the Start menu. */
const appID = appName;
const maxOpen = 10;

type Request =
  | { readonly appID: string; readonly close: string }
  | {
      readonly appID: string;
      readonly id: string;
      readonly title: string;
      readonly message: string;
      readonly sound: boolean;
    };

/** The answer is undefined if SnoreToast ended without showing the toast. */
export type Send = (request: Request, onAnswer: (answer: string | undefined) => void) => void;

export interface NodeNotifierOptions extends NotifierOptions {
  /** SnoreToast cannot show alerts here. */
  readonly onFailed: (alert: Alert) => void;
}

function createRequest(alert: Alert): Request {
  // An empty message counts as a missing one.
  const message = formatBody(alert) || " ";
  return { appID, id: tagOf(alert.key), title: formatTitle(alert), message, sound: alert.sound };
}

/** null if the program does not run on this system. */
export async function openNodeNotifier(options: NodeNotifierOptions): Promise<Notifier | null> {
  if (process.platform !== "win32") return null;
  const [{ WindowsToaster }, program] = await Promise.all([
    import("node-notifier"),
    import("node-notifier/vendor/snoreToast/snoretoast-x64.exe", { with: { type: "file" } }),
  ]);
  const path = join(options.folder, "node-notifier", version, "snoretoast-x64.exe");
  putFile(path, readFileSync(program.default), 0o700);
  const toaster = new WindowsToaster({ customPath: path });
  return createNodeNotifier(options, (request, onAnswer) => {
    // Its types want a number as the id, which SnoreToast does not, and lack `close`. An error comes without an answer too.
    toaster.notify(request as object, (_error, answer) => onAnswer(answer || undefined));
  });
}

export function createNodeNotifier(options: NodeNotifierOptions, send: Send): Notifier {
  /** The last request of each alert: an answer to an earlier one is ignored. */
  const requests = new Map<string, Request>();

  function close(key: string): void {
    if (requests.delete(key)) send({ appID, close: tagOf(key) }, () => {});
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
      send(request, (answer) => {
        if (requests.get(key) !== request) return;
        requests.delete(key);
        if (answer === undefined) return options.onFailed(alert);
        if (answer === "activate") options.onClick(key, null);
        options.onClosed(key, answer === "activate" || answer === "dismissed" ? "user" : "expired");
      });
      return tagOf(key);
    },
    async close(key) {
      close(key);
    },
    async forget(tag) {
      if (isTag(tag)) send({ appID, close: tag }, () => {});
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
