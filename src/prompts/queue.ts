/** The prompts that are not over, and those that were delivered a moment ago. In a file too. */
import { readErrorMessage } from "../core/error-message.ts";
import { isOver, isStuck, type Prompt } from "./prompt.ts";

export interface QueueOptions {
  /** As of the last start. */
  readonly saved: readonly Prompt[];
  /** Writes them down before it returns: what was sent must not be sent again after a kill. Throws if it cannot. */
  readonly save: (prompts: readonly Prompt[]) => void;
  /** A prompt was delivered or not taken: for the log. */
  readonly onEnded: (prompt: Prompt) => void;
  /** What is shown of prompts has changed. */
  readonly onChange: () => void;
  readonly onProblem: (text: string) => void;
}

export interface PromptQueue {
  all(): readonly Prompt[];
  find(id: string): Prompt | undefined;
  add(prompt: Prompt): void;
  /** In the place of the one with this id. */
  put(prompt: Prompt): void;
  remove(id: string): void;
  /** Those of a session that are not over, oldest first. */
  waiting(session: string): readonly Prompt[];
  /** The first of each session that is not over. Those behind it wait. */
  first(): readonly Prompt[];
  /** Forgets those that were delivered before this time. Returns when the next one was delivered; null if none is left. */
  forgetDelivered(before: number): number | null;
}

const isSent = ({ state }: Prompt): boolean => state === "sent";

export function createPromptQueue({ saved, save, onEnded, onChange, onProblem }: QueueOptions): PromptQueue {
  let prompts = saved;

  /** What is queued or sent counts once it is on disk. What became of it counts also if the disk is full. */
  function store(next: readonly Prompt[], isBinding: boolean): void {
    if (isBinding) save(next);
    prompts = next;
    try {
      if (!isBinding) save(next);
    } catch (error) {
      onProblem(`what became of a prompt could not be written down: ${readErrorMessage(error)}`);
    }
    onChange();
  }

  return {
    all: () => prompts,
    find: (id) => prompts.find((prompt) => prompt.id === id),
    add: (prompt) => store([...prompts, prompt], true),
    put(prompt) {
      store(
        prompts.map((known) => (known.id === prompt.id ? prompt : known)),
        isSent(prompt),
      );
      if (isOver(prompt) || isStuck(prompt)) onEnded(prompt);
    },
    remove: (id) =>
      store(
        prompts.filter((prompt) => prompt.id !== id),
        false,
      ),
    waiting: (session) => prompts.filter((prompt) => prompt.session === session && !isOver(prompt)),
    first() {
      const first = new Map<string, Prompt>();
      for (const prompt of prompts)
        if (!isOver(prompt) && !first.has(prompt.session)) first.set(prompt.session, prompt);
      return [...first.values()];
    },
    forgetDelivered(before) {
      const kept = prompts.filter((prompt) => !isOver(prompt) || prompt.since > before);
      if (kept.length < prompts.length) store(kept, false);
      return kept.find(isOver)?.since ?? null;
    },
  };
}
