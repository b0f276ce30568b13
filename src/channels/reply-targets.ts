/** The messages of a channel that take a text in reply. They are remembered across restarts. */
import { forgetOldest } from "../core/forget-oldest.ts";
import { asList } from "../core/json.ts";
import type { ChannelMessage, ChannelState } from "./channel.ts";

export interface ReplyTargets {
  /** `name` is what a reply says about the message that it belongs to. */
  remember(name: string, message: ChannelMessage): void;
  /** The reference of a reply to this message; undefined if it takes none. */
  find(name: string): string | undefined;
}

const maxReplyTargets = 50;

/** Only a listed account can use them, so they are no secret of their own. */
export function createReplyTargets(state: ChannelState): ReplyTargets {
  const references = new Map(readSaved(state.get().replyTargets));
  return {
    remember(name, { replyReference, isFinal }) {
      const wasKnown = references.delete(name);
      const isTarget = replyReference !== null && !isFinal;
      if (isTarget) references.set(name, replyReference);
      forgetOldest(references, maxReplyTargets);
      if (wasKnown || isTarget) state.set({ ...state.get(), replyTargets: [...references] });
    },
    find: (name) => references.get(name),
  };
}

function readSaved(value: unknown): [string, string][] {
  return asList(value).flatMap((row): [string, string][] => {
    const [name, reference] = asList(row);
    return typeof name === "string" && typeof reference === "string" ? [[name, reference]] : [];
  });
}
