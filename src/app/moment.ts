/** A moment of the past with why each of its alerts came or did not, which the answer log knows. */
import { findAlertEntries } from "../answers/log.ts";
import type { PastMoment } from "../core/interfaces/wire.ts";
import { createAskAlertKey } from "../core/session/keys.ts";
import { parseSessionKey } from "../core/session/session-ref.ts";
import type { PastAlert } from "../core/view/past-ask.ts";

/** `path` is the answer log's. */
export function addPastAlerts(moment: PastMoment, path: string): PastMoment {
  const asks = new Map(
    moment.ends.flatMap(({ key, ask }) => {
      const ref = parseSessionKey(key);
      return ref ? [[createAskAlertKey(ref, ask), { key, ask }] as const] : [];
    }),
  );
  const alerts = findAlertEntries(path, new Set(asks.keys())).flatMap(
    ({ at, what, outcome, alert = "" }): PastAlert[] => {
      const about = asks.get(alert);
      return !about || what === "answered" || what === "prompt" ? [] : [{ ...about, at, what, outcome }];
    },
  );
  return { ...moment, alerts };
}
