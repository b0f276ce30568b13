/** Alerts by the command notify-send, where beckon itself cannot reach the session bus. */

import type { Notifier, NotifierOptions } from "../../core/interfaces/index.ts";
import { escapeMarkup } from "../../core/text/markup.ts";
import { selectButtons } from "../../core/view/alerts/text.ts";
import type { Alert } from "../../core/view/view.ts";
import { exec } from "../../system/exec.ts";
import type { Env } from "../../system/folders.ts";
import { readLines } from "../../system/lines.ts";
import { waitAtMost } from "../../system/schedule.ts";
import { themedIcon, writeAppIcon } from "../app-icon.ts";
import { createKeyedQueue } from "../coalesce.ts";
import { findBusAddress } from "../dbus.ts";
import {
  appName,
  clickLabel,
  expireTimeoutOf,
  formatBody,
  formatTitle,
  hasTerminal,
  isQuiet,
  minVisibleLines,
  soundName,
} from "./alert-text.ts";

/** Since libnotify 0.8 notify-send can wait, print the click, and close its notification when it is interrupted. */
const waitsSince = [0, 8] as const;
/** Each alert has a process of its own. */
const maxOpen = 20;
const maxConcurrent = 4;
const maxErrorLength = 300;
/** It prints the name of an action, or the id of its notification. */
const maxOutputLength = 100;
const closeTimeoutMs = 1_000;
const defaultRetryMs = 10_000;
/** If it is interrupted sooner, it may have shown the notification without being ready to close it. */
const readyMs = 500;

interface OpenAlert {
  readonly child: Bun.Subprocess<"ignore", "pipe", "pipe">;
  readonly since: number;
  /** beckon closed it, so its end must not be reported. */
  isClosed: boolean;
}

export function canWait(version: string): boolean {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(version) ?? [];
  const [sinceMajor, sinceMinor] = waitsSince;
  return Number(major) > sinceMajor || (Number(major) === sinceMajor && Number(minor) >= sinceMinor);
}

function createArgs(alert: Alert, icon: string, waits: boolean): string[] {
  const hints = [
    `string:desktop-entry:${appName}`,
    ...(isQuiet(alert) ? ["byte:transient:1"] : []),
    ...(alert.sound ? [`string:sound-name:${soundName}`] : []),
    ...(!alert.sound && waits ? ["boolean:suppress-sound:true"] : []),
  ];
  // A version that cannot wait cannot report an answer.
  const buttons = waits ? selectButtons(alert, minVisibleLines) : [];
  return [
    `--app-name=${appName}`,
    `--urgency=${alert.urgency === "urgent" ? "critical" : alert.urgency}`,
    `--icon=${icon}`,
    `--category=x-beckon.${alert.kind}`,
    ...hints.map((hint) => `--hint=${hint}`),
    // A notification that cannot be closed must expire by itself.
    ...(waits ? [`--expire-time=${expireTimeoutOf(alert)}`] : []),
    // The name of an action ends at the first "=".
    ...buttons.map(({ id, label }) => `--action=${id}=${label}`),
    ...(waits && hasTerminal(alert) ? [`--action=default=${clickLabel}`] : []),
    "--",
    formatTitle(alert),
    // It cannot be asked whether the server knows markup; nearly all do.
    escapeBackslashes(escapeMarkup(formatBody(alert))),
  ];
}

/** notify-send decodes `\074` to `<` in the body, but not in the title or an action (measured with 0.8.1). */
const escapeBackslashes = (text: string): string => text.replaceAll("\\", "\\\\");

/** null if there is no such command, or no desktop. */
export async function openNotifySend(
  options: NotifierOptions,
  env: Env = process.env,
  retryMs = defaultRetryMs,
): Promise<Notifier | null> {
  if (!env.DISPLAY && !env.WAYLAND_DISPLAY && findBusAddress(env) === null) return null;
  const command = Bun.which("notify-send", { PATH: env.PATH ?? "" });
  if (command === null) return null;
  const { code, stdout } = await exec([command, "--version"]);
  if (code !== 0) return null;
  const waits = canWait(stdout);
  const icon = writeAppIcon(options.folder) ?? themedIcon;
  const open = new Map<string, OpenAlert>();
  /** Alerts that could not be shown: reported after a while, so that they are tried again. */
  const missing = new Map<string, ReturnType<typeof setTimeout>>();
  const queue = createKeyedQueue<Alert | "close">(maxConcurrent, (key, task) =>
    task === "close" ? take(key) : put(task),
  );
  let lastProblem = "";

  function start(program: string, alert: Alert): OpenAlert {
    const child = Bun.spawn([program, ...createArgs(alert, icon, waits)], {
      env: { ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const started: OpenAlert = { child, since: performance.now(), isClosed: false };
    const errors = child.stderr.text();
    void readLines(child.stdout, maxOutputLength, (line) => {
      const action = line.trim();
      const isButton = alert.buttons?.some(({ id }) => id === action) ?? false;
      if (started.isClosed || (action !== "default" && !isButton)) return;
      options.onClick(alert.key, isButton ? action : null);
    }).then(async () => {
      await child.exited;
      if (open.get(alert.key) === started) open.delete(alert.key);
      if (started.isClosed) return;
      if (child.exitCode !== 0) {
        retryLater(alert.key);
        reportProblem(
          (await errors).trim().slice(0, maxErrorLength) || `it ended with code ${child.exitCode}`,
        );
      }
      // It does not say who closed it. If it was the user, the alert must not come back.
      else if (waits) options.onClosed(alert.key, "user");
    });
    return started;
  }

  async function put(alert: Alert): Promise<void> {
    // It could be replaced by its id, but notify-send prints that only at its end.
    await take(alert.key);
    const [oldest] = open.keys();
    if (open.size >= maxOpen && oldest !== undefined) {
      await take(oldest);
      options.onClosed(oldest, "expired");
    }
    try {
      open.set(alert.key, start(command ?? "", alert));
    } catch (error) {
      retryLater(alert.key);
      reportProblem((error as Error).message);
    }
  }

  function retryLater(key: string): void {
    const timer = setTimeout(() => {
      missing.delete(key);
      options.onClosed(key, "unknown");
    }, retryMs);
    timer.unref();
    missing.set(key, timer);
  }

  async function take(key: string): Promise<void> {
    const alert = open.get(key);
    open.delete(key);
    clearTimeout(missing.get(key));
    missing.delete(key);
    if (alert === undefined) return;
    const { child, since } = alert;
    alert.isClosed = true;
    const age = performance.now() - since;
    if (age < readyMs) await waitAtMost(readyMs - age, child.exited);
    child.kill("SIGINT");
    const timer = setTimeout(() => child.kill("SIGKILL"), closeTimeoutMs);
    await child.exited;
    clearTimeout(timer);
  }

  function reportProblem(reason: string): void {
    if (reason !== lastProblem) options.onProblem(`notify-send could not show an alert: ${reason}`);
    lastProblem = reason;
  }

  return {
    async show(alert) {
      await queue.set(alert.key, alert);
      // Its id does not say which server shows it, so no handle is returned.
      return null;
    },
    close: (key) => queue.set(key, "close"),
    async forget() {},
    async isSilenced() {
      return null;
    },
    async report() {
      const server = stdout.trim().slice(0, maxOutputLength) || null;
      return {
        way: "notify-send",
        server,
        abilities: null,
        namesAlerts: false,
        missing: lastProblem || null,
      };
    },
    async stop() {
      await Promise.all(
        [...open.keys(), ...missing.keys(), ...queue.keys()].map((key) => queue.set(key, "close")),
      );
    },
  };
}
