import type { PendingRequests } from "../answers/pending.ts";
import type { ClockReading } from "../core/session/event.ts";
import { sessionKeyOf } from "../core/session/keys.ts";
import type { Session } from "../core/session/session.ts";
import { type FocusOutcome, formatFocusOutcome } from "../core/view/focus-text.ts";
import type { Store } from "../state/store.ts";
import type { Presenter } from "./presenter.ts";
import { answerFromRequest } from "./read-answer.ts";
import type { UserActions } from "./user-actions.ts";

export interface SessionActionDeps {
  readonly store: Pick<Store, "find">;
  readonly clock: () => ClockReading;
  readonly desk: Pick<Presenter, "setPreference">;
  readonly actions: UserActions;
  readonly held: Pick<PendingRequests, "answer">;
}

const snoozeMinutes = 15;

/** With `says`, for people. */
function toldFocus(outcome: FocusOutcome, session: Session): FocusOutcome & { readonly says: string } {
  const { title, lines } = formatFocusOutcome(outcome, session);
  return { ...outcome, says: `${title}. ${lines.join(" ")}` };
}

/** null: there is no such session. A text: what is wrong with what was given. */
export async function runSessionAction(
  { store, clock, desk, actions, held }: SessionActionDeps,
  name: string,
  deed: string,
  given: Readonly<Record<string, unknown>>,
): Promise<object | string | null> {
  const session = name === "--next" ? actions.next() : store.find(name, clock());
  if (!session) return null;
  const key = sessionKeyOf(session);
  switch (deed) {
    case "focus":
      return toldFocus(await actions.focus(session), session);
    case "answer":
      return answerFromRequest(held, session, given);
    case "mute":
      if (given.on !== undefined && typeof given.on !== "boolean") return "on must be true or false";
      desk.setPreference({ do: "mute", session: key, on: given.on !== false });
      return { ok: true };
    case "snooze": {
      const { minutes = snoozeMinutes } = given;
      if (typeof minutes !== "number") return "minutes must be a number; 0 ends the snooze";
      desk.setPreference({ do: "snooze", session: key, minutes: minutes > 0 ? minutes : null });
      return { ok: true };
    }
    case "dismiss":
      desk.setPreference({ do: "dismiss", session: key });
      return { ok: true };
    default:
      return null;
  }
}
