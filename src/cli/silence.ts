/** `beckon mute`, `beckon snooze` and `beckon dismiss`: no alerts from one session, as in the menu. */
import type { SessionSnapshot } from "../core/view/snapshot.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import { parseArguments, quote, usageError } from "./args.ts";
import { callApi } from "./client.ts";
import { encodeKey, fetchSession, nameOf, shortId } from "./find-session.ts";
import { printLines, stripControls } from "./output.ts";

export async function mute(args: string[]): Promise<number> {
  const { session: name, isOff } = readArguments("mute", args, 0);
  const { session, after } = await change(name, "mute", { on: !isOff });
  const end = `To end it: beckon mute ${shortId(session)} --off`;
  if (!isOff) return confirmChange(`${nameOf(session)} is muted. ${end}`);
  const { silence, silenceKind } = after;
  return confirmChange(
    silenceKind === "muted"
      ? `${nameOf(session)} itself is not muted, but its project is: see the menu, and mutedProjects in the settings.`
      : `${nameOf(session)} is not muted any more${silence ? `, but it is ${silence}` : ""}.`,
  );
}

const maxMinutes = 7 * 24 * 60;

export async function snooze(args: string[]): Promise<number> {
  const { session: name, isOff, rest } = readArguments("snooze", args, 1);
  const [text] = rest;
  const minutes = text === undefined ? undefined : Number(text);
  if (text !== undefined && isOff) throw usageError("snooze takes either a number of minutes or --off");
  if (minutes !== undefined && !(/^\d+$/.test(text ?? "") && minutes > 0 && minutes <= maxMinutes))
    throw usageError(
      `snooze takes a number of minutes from 1 to ${maxMinutes}, but got ${quote(text ?? "")}`,
    );
  const body = isOff ? { minutes: 0 } : minutes === undefined ? {} : { minutes };
  const { session, after } = await change(name, "snooze", body);
  const { silence } = after;
  return confirmChange(
    isOff
      ? `${nameOf(session)} is not snoozed any more${silence ? `, but it is ${silence}` : ""}.`
      : `${nameOf(session)} is ${silence ?? "snoozed"}. To end it: beckon snooze ${shortId(session)} --off`,
  );
}

export async function dismiss(args: string[]): Promise<number> {
  const { session: name } = readArguments("dismiss", args, 0);
  const { session } = await change(name, "dismiss", {});
  return confirmChange(
    session.group === "failed"
      ? `Dismissed the failure of ${nameOf(session)}.`
      : `Dismissed what ${nameOf(session)} asks. Its next request alerts you again.`,
  );
}

type Action = "mute" | "snooze" | "dismiss";

interface SilenceArguments {
  readonly session: string;
  readonly isOff: boolean;
  readonly rest: readonly string[];
}

function readArguments(command: Action, args: readonly string[], maxRest: number): SilenceArguments {
  const { flags, rest } = parseArguments(args, {
    command,
    flags: command === "dismiss" ? [] : ["--off"],
    takesArguments: true,
  });
  const [session, ...others] = rest;
  const usage = command === "snooze" ? " and, if you like, a number of minutes" : "";
  if (!session)
    throw usageError(`${command} takes a session: its id, the start of it, or its project${usage}`);
  if (others.length > maxRest)
    throw usageError(`${command} takes one session${usage}, but got ${quote(others[maxRest] ?? "")} too`);
  return { session, isOff: flags.has("--off"), rest: others };
}

/** The session before and after the change. Throws if there is nothing to change. */
async function change(
  name: string,
  action: Action,
  body: object,
): Promise<{ readonly session: SessionSnapshot; readonly after: SessionSnapshot }> {
  const paths = resolvePaths();
  const session = await fetchSession(paths, name);
  checkApplies(session, action);
  await setSilence(paths, session, action, body);
  return { session, after: await fetchSession(paths, `${session.provider}:${session.sessionId}`) };
}

/** As in the menu, which offers this only where it has an effect. */
function checkApplies(session: SessionSnapshot, action: Action): void {
  if (session.group === "ended")
    throw new Error(`${nameOf(session)} has ended, so there is nothing to ${action}`);
  const asks = session.asks.some(({ kind }) => kind !== "idle");
  if (action === "dismiss" && !asks && session.group !== "failed")
    throw new Error(`nothing to dismiss: ${nameOf(session)} does not need you`);
}

export async function setSilence(
  paths: Paths,
  session: SessionSnapshot,
  action: Action,
  body: object,
): Promise<void> {
  const response = await callApi(paths, `/api/sessions/${encodeKey(session)}/${action}`, { body });
  if (typeof response === "string") throw new Error(response);
  if (response.status !== 200) throw new Error(stripControls(String(response.body.error)));
}

function confirmChange(text: string): number {
  printLines([text]);
  return 0;
}
