/** Alerts through the desktop's own notification server, over D-Bus. */
import { Variant } from "@jellybrick/dbus-next";
import type { Notifier, NotifierOptions } from "../../core/ports.ts";
import type { Alert } from "../../core/view/view.ts";
import { exec } from "../../system/exec.ts";
import { findBusAddress } from "../dbus.ts";
import { alertIcon, themedIcon } from "./icon.ts";
import { latestPerKey, within } from "./latest-per-key.ts";
import { appName, clickKeys, type Message, messageOf } from "./message.ts";
import { type NotificationServer, watchServers } from "./server.ts";
import { readSilence } from "./silence.ts";
import { systemSound } from "./sound.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** How a notification ended, as the specification numbers it. */
const ends: Readonly<Record<number, "expired" | "user">> = {
  1: "expired",
  2: "user",
  // By a call that was not ours: something the person runs did it. Shown again, it would be closed again.
  3: "user",
};
/** A server that has to be started first takes some seconds. */
const answerMs = 5_000;
/** Of the two seconds in which beckon ends. */
const stopMs = 1_000;
const retryMs = 10_000;
const aboutMs = 1_500;
const silenceFreshMs = 1_000;
/** A server that hung shows what it was told when it goes on: only its answer says how to close that. */
const lateAnswerMs = 10 * 60_000;
/** A bus that was not told otherwise takes 128 calls at once. */
const maxAtOnce = 16;
/** The signals of all programs come here: while a server hangs, they could be many. */
const maxEndedEarly = 1_000;
const handleShape = /^([0-9a-f]{1,64} :[\w.-]{1,250}) ([1-9]\d{0,9})$/;

/** Where an alert is on the screen. */
interface Place {
  /** 0: it is not. */
  id: number;
  /** The run of the server that gave the id. */
  run: string;
  /** Sent away by the person while its next words were on their way. */
  isSentAway: boolean;
}

/** null: no session bus. */
export async function openFreedesktopNotifier(
  options: NotifierOptions,
  env: Env = process.env,
): Promise<Notifier | null> {
  const address = findBusAddress(env);
  if (address === null) return null;
  const places = new Map<string, Place>();
  const keys = new Map<number, string>();
  /** Should be on the screen and could not be, or went with the server: told when one is there again. */
  const missing = new Set<string>();
  /** Have made their sound: a new server shows them again without. */
  const heard = new Set<string>();
  /** Ended before the answer that names them was read. */
  const endedEarly = new Map<number, number>();
  const wishes = latestPerKey<Alert | "close">(maxAtOnce, (key, wish) =>
    wish === "close" ? take(key) : put(key, wish),
  );
  const sound = systemSound(env);
  const icon = alertIcon(options.folder) ?? themedIcon;
  let notifying = 0;
  let problem = "";
  let isStopped = false;
  let silence: { readonly at: number; readonly value: Promise<boolean | null> } | null = null;

  const servers = await watchServers(address, {
    onClosed: ended,
    onAction(id, action) {
      const key = keys.get(id);
      if (key !== undefined) options.onClick(key, clickKeys.includes(action) ? null : action);
    },
    onGone() {
      // What is under way notices by itself.
      for (const key of keys.values()) if (wishes.get(key) === undefined) missing.add(key);
      places.clear();
      keys.clear();
      endedEarly.clear();
      silence = null;
    },
    onBack() {
      problem = "";
      tellMissing();
    },
    isNeeded: () => missing.size > 0,
  });
  const { current, run: runNow } = servers;
  // Asked before it is needed: the first alert waits for nothing.
  if (runNow() !== null) void current().catch(() => {});

  function ended(id: number, reason: number): void {
    const key = keys.get(id);
    if (key === undefined) {
      if (notifying > 0 && endedEarly.size < maxEndedEarly) endedEarly.set(id, reason);
      return;
    }
    keys.delete(id);
    heard.delete(key);
    const wish = wishes.get(key);
    const place = places.get(key);
    if (place !== undefined && wish !== undefined) Object.assign(place, { id: 0, isSentAway: true });
    else places.delete(key);
    if (wish !== "close") options.onClosed(key, ends[reason] ?? "expired");
  }

  async function put(key: string, alert: Alert): Promise<void> {
    const place = places.get(key) ?? { id: 0, run: "", isSentAway: false };
    if (place.isSentAway) return void places.delete(key);
    missing.delete(key);
    notifying += 1;
    try {
      const server = await current();
      const replaces = place.run === server.run ? place.id : 0;
      const isHeard = replaces !== 0 || heard.has(key);
      const message = messageOf(alert, server, { icon, isHeard });
      const id = await notify(server, replaces, message);
      if (alert.sound && !isHeard && !server.capabilities.has("sound")) void playUnlessSilenced();
      heard.add(key);
      keys.delete(place.id);
      keys.set(id, key);
      places.set(key, { id, run: server.run, isSentAway: place.isSentAway });
      problem = "";
    } catch (error) {
      keys.delete(place.id);
      places.delete(key);
      missing.add(key);
      tell(`an alert could not be shown: ${(error as Error).message}`);
      // It lives, and refused, or took the place of the one that failed: nothing else would say that it is worth trying.
      if (runNow() !== null) setTimeout(tellMissing, retryMs).unref();
    }
    notifying -= 1;
    await settle(key);
  }

  /** What happened to it between the server's answer, or question, and our reading of it. */
  async function settle(key: string): Promise<void> {
    const place = places.get(key);
    const reason = endedEarly.get(place?.id ?? 0);
    if (notifying === 0) endedEarly.clear();
    if (place === undefined) return;
    if (reason !== undefined) {
      ended(place.id, reason);
      places.delete(key);
    } else if (place.isSentAway) await take(key);
  }

  async function notify(server: NotificationServer, replaces: number, message: Message): Promise<number> {
    const { title, body, actions, expireMs } = message;
    const hints = Object.fromEntries(
      Object.entries(message.hints).map(([name, { signature, value }]) => [
        name,
        new Variant(signature, value),
      ]),
    );
    const words = [appName, replaces, message.icon, title, body, actions, hints, expireMs];
    return Number(await server.call("Notify", "susssasa{sv}i", words, lateAnswerMs));
  }

  async function take(key: string): Promise<void> {
    const place = places.get(key);
    missing.delete(key);
    heard.delete(key);
    if (place === undefined) return;
    places.delete(key);
    keys.delete(place.id);
    await closeOn(place.run, place.id);
  }

  /** Only on the very server that gave the id: on another it is somebody else's. */
  async function closeOn(run: string, id: number): Promise<void> {
    const server = await current().catch(() => null);
    if (server?.run !== run || id === 0) return;
    // An error says that it is closed already.
    await server.call("CloseNotification", "u", [id]).catch(() => {});
  }

  function tellMissing(): void {
    if (isStopped) return;
    const back = [...missing];
    missing.clear();
    for (const key of back) options.onClosed(key, "unknown");
  }

  function tell(text: string): void {
    if (text !== problem) options.onProblem(text);
    problem = text;
  }

  function isSilenced(): Promise<boolean | null> {
    const now = performance.now();
    if (silence === null || now - silence.at > silenceFreshMs) {
      const value = current().then(
        (server) => readSilence(server, (argv, more) => exec(argv, { ...more, env: set(env) })),
        () => null,
      );
      silence = { at: now, value };
    }
    return silence.value;
  }

  async function playUnlessSilenced(): Promise<void> {
    if ((await isSilenced()) !== true) sound.play();
  }

  return {
    async show(alert, handle) {
      const { key } = alert;
      if (isStopped) return null;
      const [, run, id] = handleShape.exec(handle ?? "") ?? [];
      if (run !== undefined && !places.has(key)) places.set(key, { id: Number(id), run, isSentAway: false });
      await within(answerMs, wishes.set(key, alert));
      const place = places.get(key);
      return place === undefined || place.id === 0 ? null : `${place.run} ${place.id}`;
    },
    async close(key) {
      if (places.has(key) || missing.has(key) || wishes.get(key) !== undefined) {
        await within(answerMs, wishes.set(key, "close"));
      }
    },
    async forget(handle) {
      const [, run, id] = handleShape.exec(handle) ?? [];
      if (run !== undefined) await closeOn(run, Number(id));
    },
    isSilenced,
    async report() {
      const found = await within(aboutMs, current()).catch((error: Error) => error.message);
      const silent = "the desktop's notification service does not answer";
      return {
        way: "D-Bus",
        namesAlerts: true,
        ...(typeof found === "object"
          ? {
              server: `${found.program} ${found.version}`.trim(),
              abilities: [...found.capabilities],
              missing: null,
            }
          : { server: null, abilities: null, missing: found ?? silent }),
      };
    },
    async stop() {
      isStopped = true;
      missing.clear();
      const open = [...places.keys(), ...wishes.keys()].map((key) => wishes.set(key, "close"));
      await within(stopMs, Promise.all(open));
      sound.stop();
      servers.stop();
    },
  };
}

const set = (env: Env): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
