/** What a click on an alert does. */

import type { UserAction } from "../core/config/user-action.ts";
import type { Alert } from "../core/view/view.ts";

/**
 * Words and buttons can change under the pointer: so soon after that, nobody has read what they say yes to, and whoever
 * clicks meant what was there before.
 */
const unreadMs = 500;

/** null: the button is of an ask that is over. */
export function clicked(
  { session, buttons = [] }: Alert,
  button: string | null,
  shownMs: number,
): UserAction | null {
  const look: UserAction = { do: "focus", session };
  if (button === null) return look;
  const found = buttons.find(({ id }) => id === button);
  if (found === undefined) return null;
  return found.needsAll && shownMs < unreadMs ? look : found.action;
}
