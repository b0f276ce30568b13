/**
 * The one osascript process that draws beckon's icon and panels, kept alive: started, pinged, and started again when it ends
 * or falls silent. What should be shown is put into slots and sent in batches, the next one when the last one was answered,
 * so that nothing queues behind a slow child.
 */
import type { Subprocess } from "bun";
import { readLines } from "../lines.ts";
import { decode, encode, type FromChild, maxLineLength, protocolVersion, type ToChild } from "./protocol.ts";

export interface ChildSettings {
  readonly command: () => readonly string[];
  readonly pingMs: number;
  /** Without an answer for so long, it hangs. */
  readonly silentMs: number;
  readonly firstRestartMs: number;
  readonly maxRestartMs: number;
  /** Having run for so long, it was well: the next failure is a first one. */
  readonly wellAfterMs: number;
  /** So many failures one after the other, and another way should be found. It is still tried, ever more rarely. */
  readonly maxFailures: number;
}

export interface ChildEvents {
  /** It runs, and knows nothing: put all that should be shown. */
  readonly onReady: () => void;
  readonly onMessage: (message: FromChild) => void;
  readonly onProblem: (text: string) => void;
  /** It failed `maxFailures` times running. Said once, until it has been well again. */
  readonly onLost: () => void;
}

/** Makes the message when its batch is sent. */
export type MakeMessage = (batch: number) => ToChild;

export interface ScriptChild {
  /** The last one put into a slot is sent, the ones before it never are. */
  put(slot: string, make: MakeMessage): void;
  stop(): Promise<void>;
}

type Process = Subprocess<"pipe", "pipe", "pipe">;

const maxComplaintLength = 1_000;
const endMs = 1_000;

export function openChild(settings: ChildSettings, events: ChildEvents): ScriptChild {
  const slots = new Map<string, MakeMessage>();
  let child: Process | null = null;
  let isReady = false;
  let isStopped = false;
  let failures = 0;
  let batch = 0;
  /** When the batch that has no answer yet was sent; null: all is answered. */
  let askedAt: number | null = null;
  let lookedAt = performance.now();
  let restart: ReturnType<typeof setTimeout> | null = null;
  let saidGarbage = false;
  const look = setInterval(lookAfterIt, settings.pingMs);

  function start(): void {
    restart = null;
    isReady = false;
    askedAt = performance.now();
    const startedAt = askedAt;
    let complaint = "";
    let process: Process;
    try {
      process = Bun.spawn([...settings.command()], { stdin: "pipe", stdout: "pipe", stderr: "pipe" });
    } catch (error) {
      failed((error as Error).message, 0);
      return;
    }
    child = process;
    const heard = readLines(process.stdout, maxLineLength, (line) => {
      if (child === process) hear(line);
    });
    const complained = readLines(process.stderr, maxComplaintLength, (line) => {
      if (line.trim() !== "") complaint = line.trim().slice(0, maxComplaintLength);
    });
    void process.exited.then(async (code) => {
      // What it left running may hold its pipes open.
      await Promise.race([Promise.all([heard, complained]).catch(() => {}), Bun.sleep(100)]);
      if (child !== process) return;
      const how = process.signalCode === null ? `ended with ${code}` : `was ended by ${process.signalCode}`;
      failed(complaint === "" ? how : `${how}: ${complaint}`, performance.now() - startedAt);
    });
  }

  function failed(why: string, ranMs: number): void {
    child = null;
    isReady = false;
    askedAt = null;
    slots.clear();
    if (isStopped) return;
    failures = ranMs >= settings.wellAfterMs ? 1 : failures + 1;
    const waitMs = Math.min(settings.firstRestartMs * 2 ** (failures - 1), settings.maxRestartMs);
    if (failures <= settings.maxFailures) {
      events.onProblem(`the menu-bar helper (osascript) ${why}. Starting it again in ${waitMs / 1000} s.`);
    }
    restart = setTimeout(start, waitMs);
    if (failures === settings.maxFailures) events.onLost();
  }

  function giveUpOn(process: Process, why: string): void {
    process.kill("SIGKILL");
    failed(why, 0);
  }

  function lookAfterIt(): void {
    const now = performance.now();
    const sinceLook = now - lookedAt;
    lookedAt = now;
    if (child === null) return;
    // The machine slept, or beckon itself was held up: the child has had no chance to answer.
    if (askedAt !== null && sinceLook > 2 * settings.pingMs) askedAt = now;
    if (askedAt !== null && now - askedAt >= settings.silentMs) {
      const what = isReady ? "gave no answer" : "did not start";
      giveUpOn(child, `${what} within ${settings.silentMs / 1000} s`);
      return;
    }
    if (isReady && askedAt === null) send();
  }

  function hear(line: string): void {
    const message = decode(line);
    if (message === null) {
      // A helper that talks otherwise is told of once: the lines themselves may be anything.
      if (!saidGarbage) events.onProblem("the menu-bar helper (osascript) wrote a line that is not ours.");
      saidGarbage = true;
      return;
    }
    if (message.is === "ready") {
      if (message.version !== protocolVersion && child !== null) {
        giveUpOn(child, `speaks version ${message.version} of the protocol, not ${protocolVersion}`);
        return;
      }
      isReady = true;
      askedAt = null;
      slots.clear();
      events.onReady();
      return;
    }
    if (message.is === "error") {
      events.onProblem(`the menu-bar helper (osascript) could not show something: ${message.text}`);
    }
    if (message.is === "pong" && message.batch === batch) askedAt = null;
    events.onMessage(message);
    if (slots.size > 0) send();
  }

  function send(): void {
    if (child === null || !isReady || askedAt !== null) return;
    batch += 1;
    askedAt = performance.now();
    const messages = [...slots.values()].map((make) => make(batch));
    slots.clear();
    const text = [...messages, { do: "ping", batch } as const].map(encode).join("");
    try {
      child.stdin.write(text);
      // It may end while it is written to: its end is told by itself.
      void Promise.resolve(child.stdin.flush()).catch(() => {});
    } catch {}
  }

  // Not at once: a first failure should find its listeners.
  restart = setTimeout(start, 0);
  return {
    put(slot, make) {
      if (!isReady) return;
      slots.delete(slot);
      slots.set(slot, make);
      // All that is put in one turn goes in one batch.
      queueMicrotask(send);
    },
    async stop() {
      isStopped = true;
      clearInterval(look);
      if (restart !== null) clearTimeout(restart);
      const process = child;
      if (process === null) return;
      // The end of its input ends it.
      await Promise.resolve(process.stdin.end()).catch(() => {});
      await Promise.race([process.exited, Bun.sleep(endMs)]);
      process.kill("SIGKILL");
      await process.exited;
    },
  };
}
