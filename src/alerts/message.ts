/** A word to the person that no session says: how a click ended. The last one counts, for a while. */
import { shortenHome } from "../core/text/paths.ts";
import type { Alert } from "../core/view/view.ts";

export interface UserMessage {
  say(title: string, text: string): void;
  /** What is on the screen of it: nothing, or one. */
  alerts(): readonly Alert[];
  /** Closed by whoever read it. */
  closed(key: string): void;
}

const shownMs = 10_000;

export function createUserMessage(options: {
  readonly home: string;
  readonly now: () => number;
  readonly onChange: () => void;
}): UserMessage {
  let count = 0;
  let said: Alert | null = null;
  const closed = (key: string): void => {
    if (said?.key === key) said = null;
  };
  return {
    say(title, text) {
      const key = `said:${++count}`;
      const how = { session: "", kind: "idle", urgency: "low", sound: false } as const;
      said = { ...how, key, title, body: shortenHome(text, options.home), since: options.now() };
      options.onChange();
      setTimeout(() => {
        closed(key);
        options.onChange();
      }, shownMs).unref();
    },
    alerts: () => (said ? [said] : []),
    closed,
  };
}
