/** Sends each prompt when its session can take it, once, and waits for the receipt: what the agent reports as its prompt. */
import { readErrorMessage } from "../core/error-message.ts";
import type { Schedule, SessionChange } from "../core/interfaces/index.ts";
import type { ClockReading } from "../core/session/event.ts";
import type { Session } from "../core/session/session.ts";
import { parseSessionKey, sessionKeyOf } from "../core/session/session-ref.ts";
import { createEarliestTimer } from "../system/schedule.ts";
import { judgePrompt, type Verdict } from "./judge.ts";
import { isReceiptOf, type Prompt } from "./prompt.ts";
import type { PromptQueue } from "./queue.ts";

export interface PromptDeliveryOptions {
  readonly clock: () => ClockReading;
  readonly get: (ref: {
    readonly machine: string | null;
    readonly agent: string;
    readonly sessionId: string;
  }) => Session | null;
  /** Why the agent takes no prompt in this session; null if it does. */
  readonly findObstacle: (session: Session) => string | null;
  /** Hands the prompt to the agent. Rejects with why that was not possible. */
  readonly send: (session: Session, text: string) => Promise<void>;
  readonly schedule: Schedule;
  readonly onProblem: (text: string) => void;
}

export interface PromptDelivery {
  /** Sends what can be sent now, and decides about what was sent. */
  check(): void;
  /** Whether it could be sent now. */
  judge(prompt: Prompt): Verdict;
  /** Lets one that is not sent be tried with this text, in its place in the queue. */
  retry(prompt: Prompt, text: string): void;
  onChange(change: SessionChange): void;
  stop(): void;
}

/** The agent reports a prompt within 0.25 s (measured); its machine can be busy. */
const receiptMs = 15_000;
/** Shown as delivered, then forgotten. */
const keptMs = 60_000;
const noReceipt =
  "the agent has not reported it. It may hold it for you in its terminal, or refuse messages, or have had the same text before";

export function createPromptDelivery(queue: PromptQueue, options: PromptDeliveryOptions): PromptDelivery {
  const { clock } = options;
  /** Sent before this start: their receipt may be in the spool. */
  const inherited = new Set(queue.all().flatMap(({ id, state }) => (state === "sent" ? [id] : [])));
  const timer = createEarliestTimer(clock, options.schedule, check);

  const sessionOf = (prompt: Prompt): Session | null => {
    const ref = parseSessionKey(prompt.session);
    return ref && options.get(ref);
  };

  function judge(prompt: Prompt): Verdict {
    const session = sessionOf(prompt);
    return judgePrompt(prompt, session, session && options.findObstacle(session), clock());
  }

  const move = (prompt: Prompt, state: Prompt["state"], why: string | null = null): void =>
    queue.put({ ...prompt, state, since: clock().at, why });

  function wakeAt(at: number): void {
    const now = clock();
    timer.startAt(now.t + Math.max(0, at - now.at));
  }

  function check(): void {
    try {
      const delivered = queue.forgetDelivered(clock().at - keptMs);
      if (delivered !== null) wakeAt(delivered + keptMs + 1);
      for (const prompt of queue.first()) checkOne(prompt);
    } catch (error) {
      options.onProblem(
        `the next prompts could not be written down, so none is sent: ${readErrorMessage(error)}`,
      );
      wakeAt(clock().at + receiptMs);
    }
  }

  function checkOne(prompt: Prompt): void {
    const now = clock();
    if (prompt.state === "sent") {
      const deadline = prompt.since + receiptMs;
      wakeAt(deadline);
      if (now.at < deadline) return;
      const state = inherited.has(prompt.id) ? "unknown" : "not taken";
      move(prompt, state, state === "unknown" ? "beckon ended meanwhile" : noReceipt);
    } else if (prompt.state === "queued") {
      const verdict = judge(prompt);
      if (verdict.do === "wait" && verdict.until !== null) wakeAt(verdict.until);
      if (verdict.do === "refuse") move(prompt, "not taken", verdict.why);
      if (verdict.do === "send") send(prompt);
    }
  }

  function send(prompt: Prompt): void {
    const session = sessionOf(prompt);
    if (!session) return;
    move(prompt, "sent");
    wakeAt(clock().at + receiptMs);
    options.send(session, prompt.text).catch((error) => {
      const known = queue.find(prompt.id);
      if (known?.state === "sent") move(known, "not taken", readErrorMessage(error));
    });
  }

  timer.startAt(clock().t);
  return {
    check,
    judge,
    retry(prompt, text) {
      inherited.delete(prompt.id);
      move({ ...prompt, text }, "queued");
    },
    onChange({ session, event }) {
      const { change } = event;
      const key = sessionKeyOf(session);
      if (!queue.all().some((prompt) => prompt.session === key)) return;
      if (change.kind === "prompt") {
        const taken = queue.all().find(
          ({ session: of, state, text }) =>
            // Also a late one: the user may have let it in at the terminal, and it must not be sent again.
            of === key && state !== "queued" && state !== "delivered" && isReceiptOf(change.text, text),
        );
        if (taken) move(taken, "delivered");
      }
      timer.startAt(clock().t);
    },
    stop: () => timer.cancel(),
  };
}
