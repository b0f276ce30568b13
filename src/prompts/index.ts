/**
 * The next prompts: what the user has written for sessions, in a file until each is delivered. A prompt is sent once. What the agent
 * reports as its prompt is the receipt; without one it is "not taken", and the user decides what happens.
 */
import { randomBytes } from "node:crypto";
import { readErrorMessage } from "../core/error-message.ts";
import type { Schedule, Sink } from "../core/interfaces/index.ts";
import type { ClockReading } from "../core/session/event.ts";
import type { Session } from "../core/session/session.ts";
import { parseSessionKey, sessionKeyOf } from "../core/session/session-ref.ts";
import { createEarliestTimer } from "../system/schedule.ts";
import { isAsking, judgePrompt, type Verdict } from "./judge.ts";
import { findTextProblem, isOver, isReceiptOf, isStuck, type Prompt, type PromptTiming } from "./prompt.ts";

export interface PromptsOptions {
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
  /** As of the last start. */
  readonly saved: readonly Prompt[];
  /** Writes them down before it returns: what was sent must not be sent again after a kill. Throws if it cannot. */
  readonly save: (prompts: readonly Prompt[]) => void;
  /** A prompt was delivered or not taken: for the log. */
  readonly onEnded: (prompt: Prompt) => void;
  /** What is shown of prompts has changed. */
  readonly onChange: () => void;
  readonly schedule: Schedule;
  readonly onProblem: (text: string) => void;
}

export interface NewPrompt extends PromptTiming {
  readonly text: string;
  readonly by: string;
}

/** A prompt as it is shown: why it waits is known only now. */
export interface ShownPrompt extends Prompt {
  readonly says: string;
}

export interface Prompts extends Sink {
  /** Returns a text if it cannot be sent to the session. */
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
  let prompts: readonly Prompt[] = options.saved.map((prompt) =>
    prompt.state === "sent" ? { ...prompt, since: clock().at } : prompt,
  );
  /** Sent before this start: their receipt may be in the spool. */
  const inherited = new Set(prompts.filter(({ state }) => state === "sent").map(({ id }) => id));
  const timer = createEarliestTimer(clock, options.schedule, check);

  function store(next: readonly Prompt[]): void {
    options.save(next);
    prompts = next;
    options.onChange();
  }

  function put(prompt: Prompt): Prompt {
    store(prompts.map((known) => (known.id === prompt.id ? prompt : known)));
    if (prompt.state === "delivered" || isStuck(prompt)) options.onEnded(prompt);
    return prompt;
  }

  const sessionOf = (prompt: Prompt): Session | null => {
    const ref = parseSessionKey(prompt.session);
    return ref && options.get(ref);
  };

  function judge(prompt: Prompt): Verdict {
    const session = sessionOf(prompt);
    return judgePrompt(prompt, session, session && options.findObstacle(session), clock());
  }

  /** The first of each session that is not over. Those behind it wait. */
  function listFirst(): readonly Prompt[] {
    const first = new Map<string, Prompt>();
    for (const prompt of prompts)
      if (!isOver(prompt) && !first.has(prompt.session)) first.set(prompt.session, prompt);
    return [...first.values()];
  }

  function wakeAt(at: number): void {
    const now = clock();
    timer.startAt(now.t + Math.max(0, at - now.at));
  }

  function check(): void {
    try {
      forgetDelivered();
      for (const prompt of listFirst()) checkOne(prompt);
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
      put({
        ...prompt,
        state,
        since: now.at,
        why: state === "unknown" ? "beckon ended meanwhile" : noReceipt,
      });
    } else if (prompt.state === "queued") {
      const verdict = judge(prompt);
      if (verdict.do === "wait" && verdict.until !== null) wakeAt(verdict.until);
      if (verdict.do === "refuse") put({ ...prompt, state: "not taken", since: now.at, why: verdict.why });
      if (verdict.do === "send") send(prompt);
    }
  }

  function send(prompt: Prompt): void {
    const session = sessionOf(prompt);
    if (!session) return;
    const sent = put({ ...prompt, state: "sent", since: clock().at, why: null });
    wakeAt(sent.since + receiptMs);
    options.send(session, sent.text).catch((error) => {
      const known = prompts.find(({ id }) => id === sent.id);
      if (known?.state === "sent")
        put({ ...known, state: "not taken", since: clock().at, why: readErrorMessage(error) });
    });
  }

  function forgetDelivered(): void {
    const oldest = clock().at - keptMs;
    const kept = prompts.filter((prompt) => !isOver(prompt) || prompt.since > oldest);
    if (kept.length < prompts.length) store(kept);
    const next = kept.find(isOver);
    if (next) wakeAt(next.since + keptMs + 1);
  }

  function describe(prompt: Prompt): string {
    if (prompt.state === "queued") {
      if (listFirst().every(({ id }) => id !== prompt.id)) return "after the one before it";
      const verdict = judge(prompt);
      return verdict.do === "send" ? "sent in a moment" : verdict.why;
    }
    return prompt.why ?? "";
  }

  const show = (prompt: Prompt): ShownPrompt => ({ ...prompt, says: describe(prompt) });
  const findKnown = (id: string): Prompt | undefined => prompts.find((prompt) => prompt.id === id);
  const missing = (id: string) => `there is no prompt ${id}`;

  timer.startAt(clock().t);
  return {
    name: "prompts",
    onChange({ session, event }) {
      const { change } = event;
      const key = sessionKeyOf(session);
      if (!prompts.some((prompt) => prompt.session === key)) return;
      if (change.kind === "prompt") {
        const taken = prompts.find(
          ({ session: of, state, text }) =>
            of === key && (state === "sent" || state === "unknown") && isReceiptOf(change.text, text),
        );
        if (taken) put({ ...taken, state: "delivered", since: clock().at, why: null });
      }
      timer.startAt(clock().t);
    },
    add(session, { text, by, isNow, ...timing }) {
      const problem = findTextProblem(text);
      if (problem !== null) return problem;
      const key = sessionKeyOf(session);
      if (prompts.filter((prompt) => prompt.session === key && !isOver(prompt)).length >= maxPerSession)
        return `${maxPerSession} prompts wait for this session already`;
      if (prompts.length >= maxPrompts) return `${maxPrompts} prompts wait already`;
      const at = clock().at;
      const id = randomBytes(4).toString("hex");
      const prompt: Prompt = {
        id,
        session: key,
        text,
        by,
        createdAt: at,
        ...timing,
        state: "queued",
        since: at,
        why: null,
      };
      const verdict = judge(prompt);
      if (verdict.do === "refuse") return verdict.why;
      if (isNow && isAsking(session))
        return "it asks you something. Answer that first, or send this when it is idle (--when idle)";
      store([...prompts, prompt]);
      check();
      return show(findKnown(id) ?? prompt);
    },
    change(id, text) {
      const known = findKnown(id);
      if (!known) return missing(id);
      if (known.state === "sent" || isOver(known)) return "it is sent already";
      const problem = findTextProblem(text);
      if (problem !== null) return problem;
      inherited.delete(id);
      put({ ...known, text, state: "queued", since: clock().at, why: null });
      check();
      return show(findKnown(id) ?? known);
    },
    remove(id) {
      const known = findKnown(id);
      if (!known) return missing(id);
      if (known.state === "sent") return "it is sent already";
      const shown = show(known);
      store(prompts.filter((prompt) => prompt !== known));
      check();
      return shown;
    },
    list: (session) =>
      prompts.filter((prompt) => !session || prompt.session === sessionKeyOf(session)).map(show),
    find(id) {
      const known = findKnown(id);
      return known ? show(known) : null;
    },
    stop: () => timer.cancel(),
  };
}
