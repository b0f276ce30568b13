/** Alerts by the command notify-send, where beckon itself cannot get at the session bus. */

import type { Notifier, NotifierOptions } from "../../core/ports.ts";
import { selectButtons } from "../../core/view/alerts/text.ts";
import type { Alert } from "../../core/view/view.ts";
import { exec } from "../../system/exec.ts";
import { findBusAddress } from "../dbus.ts";
import { readLines } from "../lines.ts";
import { alertIcon, themedIcon } from "./icon.ts";
import { latestPerKey } from "./latest-per-key.ts";
import {
  appName,
  bodyOf,
  clickLabel,
  escapeMarkup,
  expireMsOf,
  isQuiet,
  leadsSomewhere,
  leastRows,
  soundName,
  titleOf,
} from "./message.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Since libnotify 0.8 it waits, tells the click, and takes its notification back when it is interrupted. */
const waitingSince = [0, 8] as const;
/** One process each; more than that no person looks through. */
const maxOpen = 20;
const maxAtOnce = 4;
const maxWordsLength = 300;
/** It prints the name of an action, or the id of its notification. */
const maxAnswerLength = 100;
const closeMs = 1_000;
const retryAfterMs = 10_000;
/** Interrupted sooner, it may have shown something and not be ready to take it back. */
const readyMs = 500;

interface Open {
  readonly child: Bun.Subprocess<"ignore", "pipe", "pipe">;
  readonly since: number;
  /** Closed by us: its end is no news. */
  isOver: boolean;
}

export function canWait(version: string): boolean {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(version) ?? [];
  const [sinceMajor, sinceMinor] = waitingSince;
  return Number(major) > sinceMajor || (Number(major) === sinceMajor && Number(minor) >= sinceMinor);
}

function notifySendArgv(alert: Alert, icon: string, waits: boolean): string[] {
  const hints = [
    `string:desktop-entry:${appName}`,
    ...(isQuiet(alert) ? ["byte:transient:1"] : []),
    ...(alert.sound ? [`string:sound-name:${soundName}`] : []),
    ...(!alert.sound && waits ? ["boolean:suppress-sound:true"] : []),
  ];
  // Before it waits for an answer, it tells nobody of one.
  const buttons = waits ? selectButtons(alert, leastRows) : [];
  return [
    "notify-send",
    `--app-name=${appName}`,
    `--urgency=${alert.urgency}`,
    `--icon=${icon}`,
    `--category=x-beckon.${alert.kind}`,
    ...hints.map((hint) => `--hint=${hint}`),
    // Where it cannot be closed again, it must go by itself.
    ...(waits ? [`--expire-time=${expireMsOf(alert)}`] : []),
    // What stands before the first "=" is the name.
    ...buttons.map(({ id, label }) => `--action=${id}=${label}`),
    ...(waits && leadsSomewhere(alert) ? [`--action=default=${clickLabel}`] : []),
    "--",
    titleOf(alert),
    // It cannot be asked what the server understands; nearly all understand markup.
    escapeMarkup(bodyOf(alert)),
  ];
}

/** null: there is no such command, or no desktop. */
export async function openNotifySend(
  options: NotifierOptions,
  env: Env = process.env,
  retryMs = retryAfterMs,
): Promise<Notifier | null> {
  if (!env.DISPLAY && !env.WAYLAND_DISPLAY && findBusAddress(env) === null) return null;
  const command = Bun.which("notify-send", { PATH: env.PATH ?? "" });
  if (command === null) return null;
  const { code, stdout } = await exec([command, "--version"]);
  if (code !== 0) return null;
  const waits = canWait(stdout);
  const icon = alertIcon(options.folder) ?? themedIcon;
  const open = new Map<string, Open>();
  /** Could not be shown: asked for again after a while. */
  const missing = new Map<string, ReturnType<typeof setTimeout>>();
  const wishes = latestPerKey<Alert | "close">(maxAtOnce, (key, wish) =>
    wish === "close" ? take(key) : put(wish),
  );
  let problem = "";

  function start(alert: Alert): Open {
    const [, ...argv] = notifySendArgv(alert, icon, waits);
    const child = Bun.spawn([command ?? "", ...argv], {
      env: { ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const started: Open = { child, since: performance.now(), isOver: false };
    const words = child.stderr.text();
    void readLines(child.stdout, maxAnswerLength, (line) => {
      const chosen = line.trim();
      const isButton = alert.buttons?.some(({ id }) => id === chosen) ?? false;
      if (started.isOver || (chosen !== "default" && !isButton)) return;
      options.onClick(alert.key, isButton ? chosen : null);
    }).then(async () => {
      await child.exited;
      if (open.get(alert.key) === started) open.delete(alert.key);
      if (started.isOver) return;
      if (child.exitCode !== 0) {
        tryLater(alert.key);
        tell((await words).trim().slice(0, maxWordsLength) || `it ended with code ${child.exitCode}`);
      }
      // It does not tell who closed it. Shown again, it would come back to the person who did.
      else if (waits) options.onClosed(alert.key, "user");
    });
    return started;
  }

  async function put(alert: Alert): Promise<void> {
    // By its id it could be replaced in place, but it keeps that to itself until it ends.
    await take(alert.key);
    const [oldest] = open.keys();
    if (open.size >= maxOpen && oldest !== undefined) {
      await take(oldest);
      options.onClosed(oldest, "expired");
    }
    try {
      open.set(alert.key, start(alert));
    } catch (error) {
      tryLater(alert.key);
      tell((error as Error).message);
    }
  }

  function tryLater(key: string): void {
    const timer = setTimeout(() => {
      missing.delete(key);
      options.onClosed(key, "unknown");
    }, retryMs);
    timer.unref();
    missing.set(key, timer);
  }

  async function take(key: string): Promise<void> {
    const shown = open.get(key);
    open.delete(key);
    clearTimeout(missing.get(key));
    missing.delete(key);
    if (shown === undefined) return;
    const { child, since } = shown;
    shown.isOver = true;
    const age = performance.now() - since;
    if (age < readyMs) await Promise.race([child.exited, Bun.sleep(readyMs - age)]);
    child.kill("SIGINT");
    const timer = setTimeout(() => child.kill("SIGKILL"), closeMs);
    await child.exited;
    clearTimeout(timer);
  }

  function tell(why: string): void {
    if (why !== problem) options.onProblem(`notify-send could not show an alert: ${why}`);
    problem = why;
  }

  return {
    async show(alert) {
      await wishes.set(alert.key, alert);
      // What it calls it says nothing of the server that shows it.
      return null;
    },
    close: (key) => wishes.set(key, "close"),
    async forget() {},
    async isSilenced() {
      return null;
    },
    async report() {
      const server = stdout.trim().slice(0, maxAnswerLength) || null;
      return { way: "notify-send", server, abilities: null, namesAlerts: false, missing: problem || null };
    },
    async stop() {
      await Promise.all(
        [...open.keys(), ...missing.keys(), ...wishes.keys()].map((key) => wishes.set(key, "close")),
      );
    },
  };
}
