/** What a request asks to be done with a session: by the command line, and later by the page. */
import type { Actions } from "./actions.ts";
import type { Here } from "./agents/envelope.ts";
import { answerDeed } from "./answers.ts";
import { keyOf } from "./core/alert-keys.ts";
import type { Session } from "./core/session.ts";
import type { Desk } from "./desk.ts";
import { focusWords } from "./focus-words.ts";
import type { Held } from "./held.ts";
import type { FocusOutcome } from "./ports.ts";
import type { Store } from "./store.ts";

export interface Doers {
  readonly store: Pick<Store, "find" | "get">;
  readonly clock: () => Here;
  readonly desk: Pick<Desk, "wish">;
  readonly actions: Actions;
  readonly held: Pick<Held, "answer">;
}

const snoozeMinutes = 15;

/** With `says`, for people. */
function toldFocus(outcome: FocusOutcome, session: Session): FocusOutcome & { readonly says: string } {
  const { title, lines } = focusWords(outcome, session);
  return { ...outcome, says: `${title}. ${lines.join(" ")}` };
}

/** null: there is no such session. A text: what is wrong with what was given. */
export async function deedOf(
  { store, clock, desk, actions, held }: Doers,
  name: string,
  deed: string,
  given: Readonly<Record<string, unknown>>,
): Promise<object | string | null> {
  const found = name === "--next" ? null : store.find(name, clock());
  const session = found ? store.get(found.provider, found.sessionId) : actions.next();
  if (!session || (found === null && name !== "--next")) return null;
  const key = keyOf(session);
  switch (deed) {
    case "focus":
      return toldFocus(await actions.focus(session), session);
    case "answer":
      return answerDeed(held, session, given);
    case "mute":
      if (given.on !== undefined && typeof given.on !== "boolean") return "on must be true or false";
      desk.wish({ do: "mute", session: key, on: given.on !== false });
      return { ok: true };
    case "snooze": {
      const { minutes = snoozeMinutes } = given;
      if (typeof minutes !== "number") return "minutes must be a number; 0 ends the snooze";
      desk.wish({ do: "snooze", session: key, minutes: minutes > 0 ? minutes : null });
      return { ok: true };
    }
    case "dismiss":
      desk.wish({ do: "dismiss", session: key });
      return { ok: true };
    default:
      return null;
  }
}
