/** `beckon mute`, `beckon snooze` and `beckon dismiss`: no alerts from one session, as in the menu. */
import { viewKeyOf } from "../core/session/session-ref.ts";
import type { SessionView } from "../core/view/session-view.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import { parseArguments, quote, usageError } from "./args.ts";
import { callApi } from "./client.ts";
import type { Callable } from "./command.ts";
import { dismissCommand, muteCommand, snoozeCommand } from "./commands/silence.ts";
import { fetchSession, nameOf, shortId } from "./find-session.ts";
import { printLines, stripControls } from "./output.ts";

export async function mute(args: string[]): Promise<number> {
  const { session: name, isOff } = readArguments("mute", args, 0);
  const paths = resolvePaths();
  const session = await fetchSession(paths, name);
  const done = await muteSession(paths, session, !isOff);
  printLines([isOff ? done : `${done} To end it: beckon mute ${shortId(session)} --off`]);
  return 0;
}

const defaultMinutes = 15;
const maxMinutes = 7 * 24 * 60;

export async function snooze(args: string[]): Promise<number> {
  const { session: name, isOff, rest } = readArguments("snooze", args, 1);
  const [text = String(defaultMinutes)] = rest;
  const minutes = Number(text);
  if (rest.length > 0 && isOff) throw usageError("snooze takes either a number of minutes or --off");
  if (!(/^\d+$/.test(text) && minutes > 0 && minutes <= maxMinutes))
    throw usageError(`snooze takes a number of minutes from 1 to ${maxMinutes}, but got ${quote(text)}`);
  const paths = resolvePaths();
  const session = await fetchSession(paths, name);
  const done = await snoozeSession(paths, session, isOff ? 0 : minutes);
  printLines([isOff ? done : `${done} To end it: beckon snooze ${shortId(session)} --off`]);
  return 0;
}

export async function dismiss(args: string[]): Promise<number> {
  const { session: name } = readArguments("dismiss", args, 0);
  const paths = resolvePaths();
  printLines([await dismissSession(paths, await fetchSession(paths, name))]);
  return 0;
}

type Action = "mute" | "snooze" | "dismiss";

const definitions: Readonly<Record<Action, Callable>> = {
  mute: muteCommand,
  snooze: snoozeCommand,
  dismiss: dismissCommand,
};

interface SilenceArguments {
  readonly session: string;
  readonly isOff: boolean;
  readonly rest: readonly string[];
}

function readArguments(command: Action, args: readonly string[], maxRest: number): SilenceArguments {
  const { flags, rest } = parseArguments(args, definitions[command]);
  const [session, ...others] = rest;
  const usage = command === "snooze" ? " and, if you like, a number of minutes" : "";
  if (!session)
    throw usageError(
      `${command} takes a session: its id, its first 4 characters or more, or its project${usage}`,
    );
  if (others.length > maxRest)
    throw usageError(`${command} takes one session${usage}, but got ${quote(others[maxRest] ?? "")} too`);
  return { session, isOff: flags.has("--off"), rest: others };
}

/** Returns what holds then, for the user. */
export async function muteSession(paths: Paths, session: SessionView, isOn: boolean): Promise<string> {
  checkLive(session, "mute");
  const name = nameOf(session);
  const { silence, silenceKind } = await change(paths, session, "mute", { on: isOn });
  if (isOn) return `${name} is muted.`;
  return silenceKind === "muted"
    ? `${name} itself is not muted, but its project is: see the menu, and mutedProjects in the settings.`
    : `${name} is not muted any more${silence ? `, but it is ${silence}` : ""}.`;
}

/** Returns what holds then, for the user. `minutes` is 0 to end the snooze. */
export async function snoozeSession(paths: Paths, session: SessionView, minutes: number): Promise<string> {
  checkLive(session, "snooze");
  const { silence } = await change(paths, session, "snooze", { minutes });
  const name = nameOf(session);
  if (minutes > 0) return `${name} is ${silence ?? "snoozed"}.`;
  return `${name} is not snoozed any more${silence ? `, but it is ${silence}` : ""}.`;
}

/** Returns what was dismissed, for the user. Throws if the session does not need the user. */
export async function dismissSession(paths: Paths, session: SessionView): Promise<string> {
  checkLive(session, "dismiss");
  const name = nameOf(session);
  const isAsking = session.asks.some(({ kind }) => kind !== "idle");
  if (!isAsking && session.group !== "failed")
    throw new Error(`nothing to dismiss: ${name} does not need you`);
  const { silence, silenceKind = "dismissed" } = await change(paths, session, "dismiss", {});
  if (!isAsking) return `Dismissed the failure of ${name}.`;
  const next =
    silenceKind === "dismissed"
      ? "Its next request alerts you again."
      : `Its alerts stay off: it is ${silence}.`;
  return `Dismissed what ${name} asks. ${next}`;
}

function checkLive(session: SessionView, action: Action): void {
  if (session.group === "ended")
    throw new Error(`${nameOf(session)} has ended, so there is nothing to ${action}`);
}

/** Resolves with the session as it is then. */
async function change(
  paths: Paths,
  session: SessionView,
  action: Action,
  body: object,
): Promise<SessionView> {
  const response = await callApi(paths, `/api/sessions/${encodeURIComponent(viewKeyOf(session))}/${action}`, {
    body,
  });
  if (typeof response === "string") throw new Error(response);
  if (response.status !== 200) throw new Error(stripControls(String(response.body.error)));
  return fetchSession(paths, viewKeyOf(session));
}
