/** Receives the updates of a bot by long polling: taps and replies. */
import type { Api } from "grammy/web";
import { rememberOnce } from "../../core/forget-oldest.ts";
import type { Schedule } from "../../core/interfaces/index.ts";
import { type Attempt, ConnectionError } from "../../system/keep-connected.ts";
import { pause } from "../../system/schedule.ts";
import { createListener, type Listener } from "../listener.ts";
import { toDeliveryError, type Update } from "./api.ts";

export interface PollingOptions {
  readonly api: Api;
  /** Not called again for an update that is repeated. */
  readonly onUpdate: (update: Update) => void;
  readonly onProblem: (reason: string) => void;
  readonly schedule: Schedule;
}

/** How long a poll waits for updates. */
export const pollSeconds = 25;
const backoff = { firstMs: 1_000, maxMs: 60_000 };
/** A server that does not wait for updates must not be asked without end. */
const minPollMs = 1_000;
const maxSeenUpdates = 500;

export function createPolling({ api, onUpdate, onProblem, schedule }: PollingOptions): Listener {
  /** A server can repeat an update, and ids start again somewhere else after a week without updates. */
  const seenUpdates = new Set<number>();
  /** Confirms what was handled. Without it the server starts with the oldest update that is not confirmed. */
  let offset: number | undefined;

  async function poll({ signal, onConnected }: Attempt): Promise<void> {
    while (!signal.aborted) {
      const startedT = performance.now();
      const updates = await api
        .getUpdates(
          {
            ...(offset === undefined ? {} : { offset }),
            timeout: pollSeconds,
            allowed_updates: ["message", "edited_message", "callback_query"],
          },
          signal as never,
        )
        .catch((error) => {
          const { message, retryAfterMs, isPermanent } = toDeliveryError(error);
          // Two programs that receive the updates of one bot take turns: each failure counts, also after a success.
          throw new ConnectionError(message, { retryAfterMs, isPermanent, isRoutine: false });
        });
      onConnected();
      offset = undefined;
      let hasNew = false;
      for (const received of updates) {
        offset = Math.max(offset ?? 0, received.update_id + 1);
        if (!rememberOnce(seenUpdates, received.update_id, maxSeenUpdates)) continue;
        hasNew = true;
        onUpdate(received);
      }
      if (!hasNew && performance.now() - startedT < minPollMs) await pause(minPollMs, signal, schedule);
    }
  }

  return createListener({ connect: poll, backoff, onProblem, schedule });
}
