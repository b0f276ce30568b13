/** Keeps the machine awake while an agent works. Nothing of it is loaded before the user turns it on. */
import { readErrorMessage } from "../core/error-message.ts";
import type { Sink } from "../core/interfaces/index.ts";
import type { Session } from "../core/session/session.ts";
import { hourMs } from "../core/timing.ts";
import type { AwakeSystem } from "../desktop/awake/awake-system.ts";
import { spanStateOf } from "../state/transitions.ts";
import { exec } from "../system/exec.ts";
import { schedule } from "../system/schedule.ts";
import type { Base } from "./base.ts";

export interface AppAwake extends Sink {
  stop(): void;
}

export interface AwakeOptions extends Pick<Base, "config" | "clock" | "onProblem"> {
  readonly sessions: () => readonly Session[];
}

/** How often to look while an agent works: has the cable been pulled, or has the agent been silent for too long? */
const checkMs = 30_000;
/** After a failure: a service that does not answer, a program that is missing. */
const retryMs = 10 * 60_000;
/** A session that says it works and has not done anything for so long may never end. The machine must be able to sleep. */
const maxSilentMs = 2 * hourMs;

export function createAwake({ config, clock, onProblem, sessions }: AwakeOptions): AppAwake {
  let system: AwakeSystem | null = null;
  let held: { release(): void } | null = null;
  let cancelCheck: (() => void) | null = null;
  let isUpdating = false;
  let isStopped = false;
  let failedAt = Number.NEGATIVE_INFINITY;

  const isWorking = (): boolean => {
    const { at } = clock();
    return sessions().some(
      (session) =>
        session.machine === null && spanStateOf(session) === "working" && at - session.last.at < maxSilentMs,
    );
  };
  const isWanted = (): boolean => config().awake !== "off" && !isStopped && isWorking();

  function release(): void {
    held?.release();
    held = null;
    cancelCheck?.();
    cancelCheck = null;
  }

  function checkLater(): void {
    cancelCheck ??= schedule(() => {
      cancelCheck = null;
      void update();
    }, checkMs);
  }

  function onFailure(reason: string): void {
    held = null;
    failedAt = clock().at;
    onProblem(`the machine could not be kept awake: ${reason}`);
  }

  async function update(): Promise<void> {
    if (!isWanted()) {
      release();
      return;
    }
    checkLater();
    if (isUpdating) return;
    isUpdating = true;
    try {
      system ??= await loadSystem();
      const mayHold = config().awake === "always" || (await system.isOnBattery()) !== true;
      if (!mayHold) {
        held?.release();
        held = null;
      } else if (held === null && clock().at - failedAt > retryMs) held = await system.hold(onFailure);
      // The last turn may have ended meanwhile.
      if (!isWanted()) release();
    } catch (error) {
      onFailure(readErrorMessage(error));
    } finally {
      isUpdating = false;
    }
  }

  const start = () => void update();
  start();
  return {
    name: "awake",
    onTransition(transition) {
      if (transition.kind === "span" && (held !== null || config().awake !== "off")) start();
    },
    onSettingsChanged() {
      failedAt = Number.NEGATIVE_INFINITY;
      start();
    },
    stop() {
      isStopped = true;
      release();
    },
  };
}

const loadSystem = async (): Promise<AwakeSystem> =>
  (await import("../desktop/awake/index.ts")).openAwakeSystem(exec);
