/**
 * The next prompts: what the user has written for sessions, in a file until each is delivered. A prompt is sent once. What the agent
 * reports as its prompt is the receipt; without one it is "not taken", and the user decides what happens.
 */
import { readErrorMessage } from "../core/error-message.ts";
import type { Sink } from "../core/interfaces/index.ts";
import type { Session } from "../core/session/session.ts";
import { sessionKeyOf } from "../core/session/session-ref.ts";
import { createPromptDelivery, type PromptDeliveryOptions } from "./delivery.ts";
import { isAsking } from "./judge.ts";
import { createPrompt, findTextProblem, isOver, type NewPrompt, type Prompt } from "./prompt.ts";
import { createPromptQueue, type QueueOptions } from "./queue.ts";

export interface PromptsOptions extends QueueOptions, PromptDeliveryOptions {}

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

const maxPerSession = 20;
const maxPrompts = 500;

export function createPrompts(options: PromptsOptions): Prompts {
  const { clock } = options;
  const saved = options.saved.map((prompt) =>
    prompt.state === "sent" ? { ...prompt, since: clock().at } : prompt,
  );
  const queue = createPromptQueue({ ...options, saved });
  const delivery = createPromptDelivery(queue, options);

  function describe(prompt: Prompt): string {
    if (prompt.state !== "queued") return prompt.why ?? "";
    if (queue.first().every(({ id }) => id !== prompt.id)) return "after the one before it";
    const verdict = delivery.judge(prompt);
    return verdict.do === "send" ? "sent in a moment" : verdict.why;
  }

  const show = (prompt: Prompt): ShownPrompt => ({ ...prompt, says: describe(prompt) });
  const missing = (id: string) => `there is no prompt ${id}`;

  return {
    name: "prompts",
    onChange: delivery.onChange,
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
      const verdict = delivery.judge(prompt);
      if (verdict.do === "refuse") return verdict.why;
      if (added.isNow && isAsking(session))
        return "it asks you something. Answer that first, or send this when it is idle";
      try {
        queue.add(prompt);
      } catch (error) {
        return `it could not be written down: ${readErrorMessage(error)}`;
      }
      delivery.check();
      return show(queue.find(id) ?? prompt);
    },
    change(id, text) {
      const known = queue.find(id);
      if (!known) return missing(id);
      if (known.state === "sent" || isOver(known)) return "it is sent already";
      const problem = findTextProblem(text);
      if (problem !== null) return problem;
      delivery.retry(known, text);
      delivery.check();
      return show(queue.find(id) ?? known);
    },
    remove(id) {
      const known = queue.find(id);
      if (!known) return missing(id);
      if (known.state === "sent") return "it is sent already";
      const shown = show(known);
      queue.remove(id);
      delivery.check();
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
    stop: delivery.stop,
  };
}
