/** Whether nobody is there who could be alerted. */
import type { Config } from "../config/config.ts";
import type { Session } from "../session/session.ts";

export function isUnattended(
  { attended, file }: Session,
  { alerts }: { readonly alerts: Pick<Config["alerts"], "unattended" | "sdkHosts"> },
): boolean {
  if (attended !== false || alerts.unattended) return false;
  // A program that runs an agent through its SDK can show the dialog to somebody: only then the status file says that it waits.
  return !(alerts.sdkHosts && file?.status === "waiting");
}
