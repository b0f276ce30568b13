/**
 * The one thread that shows things in the taskbar, shared by the tray and, for balloons, by the notifier.
 * It starts with its first user, is started again when it dies, and ends with its last user.
 */
import { MessageChannel } from "node:worker_threads";
import type { UserAction } from "../../core/config/user-action.ts";
import { type FromThread, type ShownView, type ToThread, wakeMessage } from "./messages.ts";
import { addressOfDefWindowProc, setProcedure, win32 } from "./win32.ts";

export interface TaskbarUser {
  readonly onChosen?: (action: UserAction) => void;
  readonly onBalloon?: (key: string, what: "clicked" | "expired") => void;
  readonly onToastClicked?: (id: string) => void;
  readonly onProblem: (text: string) => void;
  /** It died too often: nothing more is shown. */
  readonly onLost?: () => void;
}

export interface Taskbar {
  /** What is not named stays as it is. The last word wins. */
  show(part: Partial<ShownView>): void;
  leave(): Promise<void>;
}

interface Thread {
  send(message: ToThread): void;
  /** Resolves when it has ended, with why. */
  readonly ended: Promise<string>;
  end(): void;
}

const startMs = 10_000;
const stopMs = 2_000;
/** How long to wait before it is started again: longer each time, and not for ever. */
const restartMs = [500, 2_000, 5_000];
/** Having lived that long, it has not died of its start. */
const soundMs = 60_000;

const users = new Set<TaskbarUser>();
const nothing: ShownView = { icon: null, tip: "", menu: { rows: [], actions: [] }, balloon: null };
let wanted: ShownView = nothing;
let thread: Promise<Thread> | null = null;
let isShowing = false;
let isOutdated = false;
let deaths = 0;

/** null: it cannot be had here; `onProblem` was told why. */
export async function joinTaskbar(user: TaskbarUser): Promise<Taskbar | null> {
  users.add(user);
  try {
    thread ??= start();
    await thread;
  } catch (error) {
    thread = null;
    users.delete(user);
    user.onProblem(`the taskbar cannot be reached: ${messageOf(error)}`);
    return null;
  }
  return {
    show(part) {
      wanted = { ...wanted, ...part };
      refresh();
    },
    async leave() {
      if (users.delete(user) && users.size === 0) await stop();
    },
  };
}

async function start(): Promise<Thread> {
  const started = performance.now();
  const next = await open(hear);
  isShowing = false;
  next.ended.then((why) => {
    if (users.size > 0) revive(why, performance.now() - started);
  });
  if (wanted !== nothing) refresh();
  return next;
}

async function revive(why: string, livedMs: number): Promise<void> {
  deaths = livedMs > soundMs ? 1 : deaths + 1;
  const pause = restartMs[deaths - 1];
  if (pause === undefined) {
    for (const user of users) {
      user.onProblem(`the tray's thread died ${deaths} times in a row (${why}): given up`);
      user.onLost?.();
    }
    return;
  }
  for (const user of users) {
    user.onProblem(`the tray's thread died (${why}): started again in ${pause} ms`);
  }
  await Bun.sleep(pause);
  if (users.size === 0) return;
  const starting = start();
  thread = starting;
  // One that does not even start has died too.
  starting.catch((error) => revive(messageOf(error), 0));
}

/** One message on its way at a time: what changes meanwhile is sent once it was shown. */
function refresh(): void {
  if (isShowing) {
    isOutdated = true;
    return;
  }
  isShowing = true;
  isOutdated = false;
  thread?.then(
    (current) => current.send({ kind: "show", shown: wanted }),
    () => {},
  );
}

function hear(message: FromThread): void {
  if (message.kind === "shown") {
    isShowing = false;
    if (isOutdated) refresh();
  }
  for (const user of users) {
    if (message.kind === "chosen") user.onChosen?.(message.action);
    else if (message.kind === "balloon") user.onBalloon?.(message.key, message.what);
    else if (message.kind === "toast-clicked") user.onToastClicked?.(message.id);
    else if (message.kind === "problem") user.onProblem(message.text);
  }
}

async function stop(): Promise<void> {
  const last = await thread?.catch(() => null);
  thread = null;
  wanted = nothing;
  deaths = 0;
  if (!last) return;
  last.send({ kind: "stop" });
  await Promise.race([last.ended, Bun.sleep(stopMs)]);
  last.end();
}

/** Rejects if it is not ready in time. */
async function open(onMessage: (message: FromThread) => void): Promise<Thread> {
  const { port1: outbox, port2: inbox } = new MessageChannel();
  const worker = new Worker(new URL("./tray-thread.ts", import.meta.url).href, { name: "beckon tray" });
  const ready = Promise.withResolvers<bigint>();
  const ended = Promise.withResolvers<string>();
  const over = (why: string): void => {
    ready.reject(new Error(why));
    ended.resolve(why);
  };
  worker.onmessage = ({ data }: MessageEvent<FromThread>) => {
    if (data.kind === "ready") ready.resolve(data.window);
    else if (data.kind === "died") over(data.why);
    else onMessage(data);
  };
  worker.onerror = ({ message }) => over(message);
  worker.addEventListener("close", () => over("it ended by itself"));
  worker.postMessage({ port: inbox }, [inbox]);
  const late = setTimeout(() => ready.reject(new Error(`not ready within ${startMs} ms`)), startMs);
  const window = await ready.promise
    .finally(() => clearTimeout(late))
    .catch((error) => {
      worker.terminate();
      throw error;
    });
  // The app may end before the thread does, and then nothing may call into it any more.
  const silence = (): void => setProcedure(window, addressOfDefWindowProc());
  process.on("exit", silence);
  ended.promise.then(() => process.off("exit", silence));
  return {
    send(message) {
      outbox.postMessage(message);
      win32().PostMessageW(window, wakeMessage, 0n, 0n);
    },
    ended: ended.promise,
    end() {
      silence();
      worker.terminate();
    },
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
