/**
 * The next prompts: what the user has written for sessions, in a file until each is delivered. A prompt is sent once. What the agent
 * reports as its prompt is the receipt; without one it is "not taken", and the user decides what happens.
 */
import { readErrorMessage } from "../core/error-message.ts";
import type { Schedule, Sink } from "../core/interfaces/index.ts";
import type { ClockReading } from "../core/session/event.ts";
import type { Session } from "../core/session/session.ts";
import { parseSessionKey, sessionKeyOf } from "../core/session/session-ref.ts";
import { createEarliestTimer } from "../system/schedule.ts";
import { isAsking, judgePrompt, type Verdict } from "./judge.ts";
import { createPrompt, findTextProblem, isOver, isReceiptOf, type NewPrompt, type Prompt } from "./prompt.ts";
import { createPromptQueue, type QueueOptions } from "./queue.ts";

export interface PromptsOptions extends QueueOptions {
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
}

/** A prompt as it is shown: why it waits is known only now. */
export interface ShownPrompt extends Prompt {
  readonly says: string;
}

export interface Prompts extends Sink {
  /** Returns a text if it cannot be sent to the session. One that is known by its id is not added again. */
  add(session: Session, prompt: NewPrompt): ShownPrompt | string;
  /** Changes the text of one that is not sent, and lets one that was not taken be tried again. Returns a text if it cannot. */
  change(id: string, text: string): ShownPrompt | string;
  remove(id: string): ShownPrompt | string;
  /** Of one session or of all, oldest first. */
  list(session?: Session): readonly ShownPrompt[];
  find(id: string): ShownPrompt | null;
}

/** The agent reports a prompt within 0.25 s (measured); its machine can be busy. */
const receiptMs = 15_000;
/** Shown as delivered, then forgotten. */
const keptMs = 60_000;
const maxPerSession = 20;
const maxPrompts = 500;
const noReceipt =
  "the agent has not reported it. It may hold it for you in its terminal, or refuse messages, or have had the same text before";

export function createPrompts(options: PromptsOptions): Prompts {
  const { clock } = options;
  const saved = options.saved.map((prompt) =>
    prompt.state === "sent" ? { ...prompt, since: clock().at } : prompt,
  );
  const queue = createPromptQueue({ ...options, saved });
  /** Sent before this start: their receipt may be in the spool. */
  const inherited = new Set(saved.filter(({ state }) => state === "sent").map(({ id }) => id));
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

  function describe(prompt: Prompt): string {
    if (prompt.state !== "queued") return prompt.why ?? "";
    if (queue.first().every(({ id }) => id !== prompt.id)) return "after the one before it";
    const verdict = judge(prompt);
    return verdict.do === "send" ? "sent in a moment" : verdict.why;
  }

  const show = (prompt: Prompt): ShownPrompt => ({ ...prompt, says: describe(prompt) });
  const missing = (id: string) => `there is no prompt ${id}`;

  timer.startAt(clock().t);
  return {
    name: "prompts",
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
    add(session, added) {
      const problem = findTextProblem(added.text);
      if (problem !== null) return problem;
      const { id } = added;
      const known = queue.find(id);
      if (known) return show(known);
      const key = sessionKeyOf(session);
      if (queue.waiting(key).length >= maxPerSession)
        return `${maxPerSession} prompts wait for this session already`;
      if (queue.all().length >= maxPrompts) return `${maxPrompts} prompts wait already`;
      const prompt = createPrompt(key, added, clock().at);
      const verdict = judge(prompt);
      if (verdict.do === "refuse") return verdict.why;
      if (added.isNow && isAsking(session))
        return "it asks you something. Answer that first, or send this when it is idle";
      try {
        queue.add(prompt);
      } catch (error) {
        return `it could not be written down: ${readErrorMessage(error)}`;
      }
      check();
      return show(queue.find(id) ?? prompt);
    },
    change(id, text) {
      const known = queue.find(id);
      if (!known) return missing(id);
      if (known.state === "sent" || isOver(known)) return "it is sent already";
      const problem = findTextProblem(text);
      if (problem !== null) return problem;
      inherited.delete(id);
      move({ ...known, text }, "queued");
      check();
      return show(queue.find(id) ?? known);
    },
    remove(id) {
      const known = queue.find(id);
      if (!known) return missing(id);
      if (known.state === "sent") return "it is sent already";
      const shown = show(known);
      queue.remove(id);
      check();
      return shown;
    },
    list: (session) =>
      queue
        .all()
        .filter((prompt) => !session || prompt.session === sessionKeyOf(session))
        .map(show),
    find(id) {
      const known = queue.find(id);
      return known ? show(known) : null;
    },
    stop: () => timer.cancel(),
  };
}
