/**
 * The thread that shows things in the taskbar, shared by the tray and, for balloons and clicks on toasts, the notifier. It
 * starts with its first member, is restarted when it dies, and ends with its last member.
 */
import { MessageChannel } from "node:worker_threads";
import type { UserAction } from "../../core/config/user-action.ts";
import { readErrorMessage } from "../../core/error-message.ts";
import { waitAtMost } from "../../system/schedule.ts";
import {
  type BalloonEvent,
  type FromThread,
  type ShownView,
  type ToThread,
  wakeMessage,
} from "./thread-messages.ts";
import { findDefaultProcedure, setWindowProcedure, win32 } from "./win32.ts";

export interface TaskbarMember {
  readonly onChosen?: (action: UserAction) => void;
  readonly onBalloon?: (key: string, event: BalloonEvent) => void;
  readonly onToastClicked?: (id: string) => void;
  readonly onProblem: (text: string) => void;
  /** The thread died too often: nothing is shown any more. */
  readonly onGivenUp?: () => void;
}

export interface Taskbar {
  /** Changes the given parts. The last call for a part wins. */
  show(part: Partial<ShownView>): void;
  leave(): Promise<void>;
}

interface Thread {
  send(message: ToThread): void;
  /** Resolves with the reason when the thread has ended. */
  readonly ended: Promise<string>;
  terminate(): void;
}

const startTimeoutMs = 10_000;
const stopTimeoutMs = 2_000;
/** The delay before each restart. After the last one, beckon gives up. */
const restartMs = [500, 2_000, 5_000];
/** A thread that ran this long was healthy: the next death counts as the first. */
const healthyAfterMs = 60_000;

const members = new Set<TaskbarMember>();
const emptyView: ShownView = {
  icon: null,
  tip: "",
  menu: { rows: [], actions: [] },
  leftClick: null,
  middleClick: null,
  balloon: null,
};
let wanted: ShownView = emptyView;
let thread: Promise<Thread> | null = null;
let isShowing = false;
let isOutdated = false;
let deaths = 0;

/** null if the thread does not start; `onProblem` was called with the reason. */
export async function joinTaskbar(member: TaskbarMember): Promise<Taskbar | null> {
  members.add(member);
  try {
    thread ??= start();
    await thread;
  } catch (error) {
    thread = null;
    members.delete(member);
    member.onProblem(`the taskbar cannot be reached: ${readErrorMessage(error)}`);
    return null;
  }
  return {
    show(part) {
      wanted = { ...wanted, ...part };
      refresh();
    },
    async leave() {
      if (members.delete(member) && members.size === 0) await stop();
    },
  };
}

async function start(): Promise<Thread> {
  const startedAt = performance.now();
  const started = await openThread(onMessage);
  isShowing = false;
  started.ended.then((reason) => {
    if (members.size > 0) restart(reason, performance.now() - startedAt);
  });
  if (wanted !== emptyView) refresh();
  return started;
}

async function restart(reason: string, ranMs: number): Promise<void> {
  deaths = ranMs > healthyAfterMs ? 1 : deaths + 1;
  const pause = restartMs[deaths - 1];
  if (pause === undefined) {
    for (const member of members) {
      member.onProblem(`the tray's thread died ${deaths} times in a row (${reason}): beckon gives up`);
      member.onGivenUp?.();
    }
    return;
  }
  for (const member of members) {
    member.onProblem(`the tray's thread died (${reason}): beckon starts it again in ${pause} ms`);
  }
  await Bun.sleep(pause);
  if (members.size === 0) return;
  const starting = start();
  thread = starting;
  // A thread that does not start counts as dead.
  starting.catch((error) => restart(readErrorMessage(error), 0));
}

/** Sends one view at a time: a change that is made meanwhile is sent when the last view is on the screen. */
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

function onMessage(message: FromThread): void {
  if (message.kind === "shown") {
    isShowing = false;
    if (isOutdated) refresh();
  }
  for (const member of members) {
    if (message.kind === "chosen") member.onChosen?.(message.action);
    else if (message.kind === "balloon") member.onBalloon?.(message.key, message.event);
    else if (message.kind === "toast-clicked") member.onToastClicked?.(message.id);
    else if (message.kind === "problem") member.onProblem(message.text);
  }
}

async function stop(): Promise<void> {
  const last = await thread?.catch(() => null);
  thread = null;
  wanted = emptyView;
  deaths = 0;
  if (!last) return;
  last.send({ kind: "stop" });
  await waitAtMost(stopTimeoutMs, last.ended);
  last.terminate();
}

/** Rejects if the thread is not ready in time. */
async function openThread(onThreadMessage: (message: FromThread) => void): Promise<Thread> {
  const { port1: outbox, port2: inbox } = new MessageChannel();
  const worker = new Worker(new URL("./tray-thread.ts", import.meta.url).href, { name: "beckon tray" });
  const ready = Promise.withResolvers<bigint>();
  const ended = Promise.withResolvers<string>();
  const onEnded = (reason: string): void => {
    ready.reject(new Error(reason));
    ended.resolve(reason);
  };
  worker.onmessage = ({ data }: MessageEvent<FromThread>) => {
    if (data.kind === "ready") ready.resolve(data.window);
    else if (data.kind === "died") onEnded(data.reason);
    else onThreadMessage(data);
  };
  worker.onerror = ({ message }) => onEnded(message);
  worker.addEventListener("close", () => onEnded("it ended by itself"));
  worker.postMessage({ port: inbox }, [inbox]);
  const timer = setTimeout(
    () => ready.reject(new Error(`not ready within ${startTimeoutMs} ms`)),
    startTimeoutMs,
  );
  const window = await ready.promise
    .finally(() => clearTimeout(timer))
    .catch((error) => {
      worker.terminate();
      throw error;
    });
  // If the app ends before the thread, Windows must not call into it any more.
  const detach = (): void => setWindowProcedure(window, findDefaultProcedure());
  process.on("exit", detach);
  ended.promise.then(() => process.off("exit", detach));
  return {
    send(message) {
      outbox.postMessage(message);
      win32().PostMessageW(window, wakeMessage, 0n, 0n);
    },
    ended: ended.promise,
    terminate() {
      detach();
      worker.terminate();
    },
  };
}
