/** `beckon quiet`: turns all alerts off for a while, as in the menu. */
import type { Quiet } from "../core/config/quiet.ts";
import { type QuietMode, quietModes } from "../core/config/user-action.ts";
import { resolvePaths } from "../storage/paths.ts";
import { formatLocalTime } from "../system/clock.ts";
import { parseArguments, quote, usageError } from "./args.ts";
import { callApi } from "./client.ts";
import { quietCommand } from "./commands/quiet.ts";
import { printLines, stripControls } from "./output.ts";

const isMode = (text: string): text is QuietMode => quietModes.some((mode) => mode === text);

export async function quiet(args: string[]): Promise<number> {
  const { rest } = parseArguments(args, quietCommand);
  const [mode, ...others] = rest;
  const wrong = mode !== undefined && !isMode(mode) ? mode : others[0];
  if (wrong !== undefined) throw usageError(`quiet takes hour, tomorrow, on or off, but got ${quote(wrong)}`);
  const response =
    mode === undefined
      ? await callApi(resolvePaths(), "/api/sessions")
      : await callApi(resolvePaths(), "/api/quiet", { body: { mode } });
  if (typeof response === "string") throw new Error(response);
  if (response.status !== 200) throw new Error(stripControls(String(response.body.error)));
  const current = response.body.quiet as Quiet | undefined;
  printLines([
    current
      ? formatQuiet(current, Date.now())
      : `Alerts are on.${mode === undefined ? " To turn them off: beckon quiet hour, tomorrow or on" : ""}`,
  ]);
  return 0;
}

export function formatQuiet({ by, until }: Quiet, now: number): string {
  if (by === "quiet hours")
    return `Quiet until ${formatLocalTime(until ?? now, now)} (quiet hours): beckon shows no alerts. To change them: quietHours in config.json`;
  const end = until === null ? "" : ` until ${formatLocalTime(until, now)}`;
  return `Quiet${end}: beckon shows no alerts. To end it: beckon quiet off`;
}
