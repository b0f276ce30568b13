import type { PendingRequests } from "../answers/pending.ts";
import type { Config } from "../core/config/config.ts";
import { createConfigTemplate } from "../core/config/config-template.ts";
import type { UserAction } from "../core/config/user-action.ts";
import type { Terminals } from "../core/ports.ts";
import type { ClockReading } from "../core/session/event.ts";
import { sessionKeyOf } from "../core/session/keys.ts";
import type { Session } from "../core/session/session.ts";
import { type FocusOutcome, formatFocusOutcome } from "../core/view/focus-text.ts";
import { findNextWaiting } from "../core/view/groups.ts";
import { createConfigFile } from "../storage/config-file.ts";
import type { Presenter } from "./presenter.ts";

export interface UserActionsOptions {
  readonly desk: Pick<Presenter, "setPreference" | "preferences" | "showMessage">;
  readonly terminals: Terminals;
  readonly held: Pick<PendingRequests, "answer">;
  readonly clock: () => ClockReading;
  readonly sessions: (now: ClockReading) => readonly Session[];
  readonly config: () => Config;
  readonly configPath: string;
  readonly version: string;
  readonly url: () => string;
  /** The real path of the session's transcript. null if it has none, or the path is not one of its agent's own files. */
  readonly findTranscript: (session: Session) => Promise<string | null>;
  readonly openFile: (path: string) => Promise<string | null>;
  readonly copy: (text: string) => Promise<boolean>;
  /** Registers the hooks; what was done, in words. Throws, in words too. */
  readonly connect: () => Promise<string>;
  readonly quit: () => void;
  readonly onProblem: (text: string) => void;
}

export interface UserActions {
  /** By a click: the person is told where it could not be done. */
  click(action: UserAction): void;
  focus(session: Session): Promise<FocusOutcome>;
  /** The one that has waited longest. */
  next(): Session | null;
}

const impossible = (why: string): FocusOutcome => ({ result: "impossible", by: "", why });

export function createUserActions(options: UserActionsOptions): UserActions {
  const { desk } = options;

  function find(key: string): Session | null {
    const all = options.sessions(options.clock());
    return all.find((session) => sessionKeyOf(session) === key) ?? null;
  }

  async function focus(session: Session): Promise<FocusOutcome> {
    const { place, cwd, title } = session;
    if (session.ended)
      return impossible("it has ended: there is no terminal to go to. Those that run: beckon status");
    if (!place) {
      return impossible(
        "no hook of this session has said where its terminal is. To see whether the hooks work: beckon doctor",
      );
    }
    return options.terminals.focus({ place, cwd, title });
  }

  function next(): Session | null {
    const now = options.clock();
    const given = { preferences: desk.preferences(), config: options.config(), now };
    return findNextWaiting(options.sessions(now), given);
  }

  async function goTo(session: Session | null, otherwise: string): Promise<void> {
    const outcome = session ? await focus(session) : impossible(otherwise);
    const { title, lines } = formatFocusOutcome(outcome, session);
    if (outcome.result !== "exact") desk.showMessage(title, lines.join("\n"));
  }

  async function answer(chosen: Extract<UserAction, { do: "answer" }>): Promise<void> {
    const session = find(chosen.session);
    const result = session
      ? await options.held.answer(session, chosen.ask, chosen.answer, chosen.by)
      : "this session is over";
    if (typeof result === "string") desk.showMessage("Nothing was answered", capital(result));
    else if ("refused" in result) desk.showMessage("Nothing was answered", capital(result.error));
  }

  async function openTranscript(session: Session | null): Promise<void> {
    const path = session && (await options.findTranscript(session));
    const failed = path ? await options.openFile(path) : "there is no transcript of it on this machine";
    if (failed) desk.showMessage("The transcript could not be opened", failed);
  }

  async function openSettings(): Promise<void> {
    const { configPath } = options;
    const failed =
      createConfigFile(configPath, createConfigTemplate(options.version)) ??
      (await options.openFile(configPath));
    if (failed) desk.showMessage("The settings could not be opened", `They are in ${configPath}. ${failed}`);
  }

  async function connect(): Promise<void> {
    try {
      desk.showMessage("Claude Code is connected", await options.connect());
    } catch (error) {
      desk.showMessage(
        "Claude Code could not be connected",
        error instanceof Error ? error.message : String(error),
      );
    }
  }

  async function act(action: UserAction): Promise<void> {
    switch (action.do) {
      case "focus":
        return goTo(find(action.session), "this session is over, and no longer known");
      case "next":
        return goTo(next(), "nothing needs you now");
      case "answer":
        return answer(action);
      case "copy-id": {
        const id = find(action.session)?.sessionId ?? "";
        if (!(await options.copy(id)))
          desk.showMessage("Could not copy: install wl-clipboard or xclip", `The session is ${id}`);
        return;
      }
      case "transcript":
        return openTranscript(find(action.session));
      case "settings":
        return openSettings();
      case "about":
        return desk.showMessage(`beckon ${options.version}`, `Running at ${options.url()}`);
      case "connect":
        return connect();
      case "quit":
        return options.quit();
      case "mute":
      case "mute-project":
      case "snooze":
      case "dismiss":
      case "quiet":
        return desk.setPreference(action);
      case "dashboard":
        return;
      default:
        return action satisfies never;
    }
  }

  return {
    focus,
    next,
    click(action) {
      act(action).catch((error) => options.onProblem(`"${action.do}" failed: ${error}`));
    },
  };
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
