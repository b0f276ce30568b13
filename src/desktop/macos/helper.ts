/**
 * The osascript process that draws beckon's icon and alerts on macOS. It is started, pinged, and started again when it ends
 * or does not answer. Messages are put into slots and sent in batches, each one after the last was answered, so that nothing
 * queues up behind a slow helper.
 */
import type { Subprocess } from "bun";
import {
  type Attempt,
  ConnectionError,
  type FailedAttempt,
  keepConnected,
} from "../../system/keep-connected.ts";
import { readLines } from "../../system/lines.ts";
import { schedule, waitAtMost } from "../../system/schedule.ts";
import {
  decodeMessage,
  encodeMessage,
  type FromHelper,
  maxLineLength,
  protocolVersion,
  type ToHelper,
} from "./protocol.ts";

export interface MacHelperSettings {
  readonly command: () => readonly string[];
  readonly pingMs: number;
  /** Without an answer for this long, the helper hangs. */
  readonly answerTimeoutMs: number;
  readonly firstRestartMs: number;
  readonly maxRestartMs: number;
  /** A helper that ran this long was healthy: the next failure counts as the first. */
  readonly healthyAfterMs: number;
  /** After this many failures in a row, a fallback should be used. The helper is still restarted, less and less often. */
  readonly maxFailures: number;
  /** A helper that has not exited this long after its stdin ended is killed. */
  readonly stopTimeoutMs: number;
}

export interface MacHelperEvents {
  /** A new helper runs and shows nothing yet: put everything that should be shown. */
  readonly onReady: () => void;
  readonly onMessage: (message: FromHelper) => void;
  readonly onProblem: (text: string) => void;
  /** It failed `maxFailures` times in a row. Called once, until it was healthy again. */
  readonly onGivenUp: () => void;
}

/** Creates the message when its batch is sent. */
export type CreateMessage = (batch: number) => ToHelper;

export interface MacHelper {
  /** Only the last message put into a slot is sent. */
  put(slot: string, create: CreateMessage): void;
  stop(): Promise<void>;
}

type HelperProcess = Subprocess<"pipe", "pipe", "pipe">;

const maxErrorLength = 1_000;

export function startMacHelper(settings: MacHelperSettings, events: MacHelperEvents): MacHelper {
  const slots = new Map<string, CreateMessage>();
  let child: HelperProcess | null = null;
  /** The attempt that started the helper, and what ends it; null while none runs. */
  let running: { readonly attempt: Attempt; readonly fail: (reason: string) => void } | null = null;
  let isReady = false;
  let batch = 0;
  /** When the batch that is not answered yet was sent; null if all are answered. */
  let sentAt: number | null = null;
  let checkedAt = performance.now();
  let isGarbageReported = false;
  const checks = setInterval(check, settings.pingMs);

  /** Rejects when the helper has ended. */
  function start(attempt: Attempt): Promise<void> {
    const { promise, reject } = Promise.withResolvers<void>();
    const process: HelperProcess = Bun.spawn([...settings.command()], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
    });
    let lastError = "";
    child = process;
    sentAt = performance.now();
    running = { attempt, fail: (reason) => reject(new ConnectionError(reason)) };
    const outputRead = readLines(process.stdout, maxLineLength, (line) => {
      if (child === process) receive(line);
    });
    const errorsRead = readLines(process.stderr, maxErrorLength, (line) => {
      if (line.trim() !== "") lastError = line.trim().slice(0, maxErrorLength);
    });
    void process.exited.then(async (code) => {
      // A process that the helper left running may keep its pipes open.
      await waitAtMost(
        100,
        Promise.all([outputRead, errorsRead]).catch(() => {}),
      );
      const ending =
        process.signalCode === null ? `ended with ${code}` : `was killed by ${process.signalCode}`;
      reject(new ConnectionError(lastError === "" ? ending : `${ending}: ${lastError}`));
    });
    return promise.finally(() => {
      child = null;
      running = null;
      isReady = false;
      sentAt = null;
      slots.clear();
    });
  }

  function onFailure({ reason, failures, retryMs }: FailedAttempt): void {
    if (failures <= settings.maxFailures) {
      events.onProblem(
        `the menu-bar helper (osascript) ${reason}. beckon starts it again in ${(retryMs ?? 0) / 1000} s.`,
      );
    }
    if (failures === settings.maxFailures) events.onGivenUp();
  }

  function kill(process: HelperProcess, reason: string): void {
    process.kill("SIGKILL");
    running?.fail(reason);
  }

  function check(): void {
    const now = performance.now();
    const sinceCheck = now - checkedAt;
    checkedAt = now;
    if (child === null) return;
    // The machine slept, or beckon itself was blocked: the helper had no chance to answer.
    if (sentAt !== null && sinceCheck > 2 * settings.pingMs) sentAt = now;
    if (sentAt !== null && now - sentAt >= settings.answerTimeoutMs) {
      const failure = isReady ? "did not answer" : "did not start";
      kill(child, `${failure} within ${settings.answerTimeoutMs / 1000} s`);
      return;
    }
    if (isReady && sentAt === null) send();
  }

  function receive(line: string): void {
    const message = decodeMessage(line);
    if (message === null) {
      // Reported once and without the line, which can be anything.
      if (!isGarbageReported) {
        events.onProblem("the menu-bar helper (osascript) wrote a line that beckon does not understand.");
      }
      isGarbageReported = true;
      return;
    }
    if (message.type === "ready") {
      if (message.version !== protocolVersion && child !== null) {
        kill(child, `has version ${message.version} of the protocol, not ${protocolVersion}`);
        return;
      }
      isReady = true;
      sentAt = null;
      slots.clear();
      running?.attempt.onConnected();
      events.onReady();
      return;
    }
    if (message.type === "error")
      events.onProblem(`the menu-bar helper (osascript) could not show something: ${message.text}`);
    if (message.type === "pong" && message.batch === batch) sentAt = null;
    events.onMessage(message);
    if (slots.size > 0) send();
  }

  function send(): void {
    if (child === null || !isReady || sentAt !== null) return;
    batch += 1;
    sentAt = performance.now();
    const messages = [...slots.values()].map((create) => create(batch));
    slots.clear();
    const text = [...messages, { type: "ping", batch } as const].map(encodeMessage).join("");
    try {
      child.stdin.write(text);
      // If the helper ends meanwhile, its exit is handled above.
      void Promise.resolve(child.stdin.flush()).catch(() => {});
    } catch {}
  }

  const connection = keepConnected({
    connect: start,
    backoff: { firstMs: settings.firstRestartMs, maxMs: settings.maxRestartMs },
    stableMs: settings.healthyAfterMs,
    onFailure,
    schedule,
  });
  return {
    put(slot, create) {
      if (!isReady) return;
      slots.delete(slot);
      slots.set(slot, create);
      // Everything that is put in one turn goes into one batch.
      queueMicrotask(send);
    },
    async stop() {
      clearInterval(checks);
      const process = child;
      void connection.stop();
      if (process === null) return;
      // The helper exits when its stdin ends.
      await Promise.resolve(process.stdin.end()).catch(() => {});
      await waitAtMost(settings.stopTimeoutMs, process.exited);
      process.kill("SIGKILL");
      await process.exited;
    },
  };
}
