/** What a click does, in the tray's menu, on an alert, or through the API. */
import type { Alerts } from "../alerts/index.ts";
import type { PendingRequests } from "../answers/pending.ts";
import type { Config } from "../core/config/config.ts";
import { createConfigTemplate } from "../core/config/config-template.ts";
import type { UserAction } from "../core/config/user-action.ts";
import { readErrorMessage } from "../core/error-message.ts";
import type { Terminals } from "../core/ports.ts";
import type { ClockReading } from "../core/session/event.ts";
import { sessionKeyOf } from "../core/session/keys.ts";
import type { Session } from "../core/session/session.ts";
import { capitalize } from "../core/text/words.ts";
import { type FocusOutcome, formatFocusOutcome } from "../core/view/focus-text.ts";
import { findNextWaiting } from "../core/view/groups.ts";
import { createConfigFile } from "../storage/config-file.ts";

export interface UserActionsOptions {
  readonly alerts: Pick<Alerts, "setPreference" | "preferences" | "showMessage">;
  readonly terminals: Terminals;
  /** Why the session's terminal is not known; null if its place is right. */
  readonly locate: (session: Session) => Promise<string | null>;
  readonly pending: Pick<PendingRequests, "answer">;
  readonly clock: () => ClockReading;
  readonly sessions: (now: ClockReading) => readonly Session[];
  readonly config: () => Config;
  readonly configPath: string;
  readonly version: string;
  readonly url: () => string;
  /** The real path of the session's transcript; null if it has none, or the path is not one of its agent's own files. */
  readonly findTranscript: (session: Session) => Promise<string | null>;
  /** Resolves with null, or with the reason why the file could not be opened. */
  readonly openFile: (path: string) => Promise<string | null>;
  /** A new address of the page, for one use. */
  readonly createPageUrl: () => string;
  /** Opens the page in the browser; resolves with null, or with the reason why it could not. */
  readonly openPage: (url: string) => Promise<string | null>;
  /** Opens the list of sessions in a terminal; resolves with null, or with the reason why it could not. */
  readonly openList: () => Promise<string | null>;
  readonly copy: (text: string) => Promise<boolean>;
  /** Registers the hooks and returns what was done, for the user. Throws an error with a message for the user. */
  readonly connect: (agent: string) => Promise<string>;
  /** What users call the agent. */
  readonly agentName: (agent: string) => string;
  readonly quit: () => void;
  readonly onProblem: (text: string) => void;
}

export interface UserActions {
  /** Runs the action and shows a message if it could not be done. Never rejects. */
  click(action: UserAction): Promise<void>;
  focus(session: Session): Promise<FocusOutcome>;
  /** The session that has waited longest; null if none waits. */
  next(): Session | null;
  /** Resolves with the reason if it could not be opened. */
  openTranscript(session: Session): Promise<string | null>;
}

const impossible = (why: string): FocusOutcome => ({ result: "impossible", by: "", why });

export function createUserActions(options: UserActionsOptions): UserActions {
  const { showMessage, setPreference } = options.alerts;

  function findSession(key: string): Session | null {
    const sessions = options.sessions(options.clock());
    return sessions.find((session) => sessionKeyOf(session) === key) ?? null;
  }

  async function focus(shown: Session): Promise<FocusOutcome> {
    const unknown = shown.ended ? null : await options.locate(shown);
    const session = findSession(sessionKeyOf(shown)) ?? shown;
    const { place, cwd, title, attach } = session;
    if (session.ended && !place)
      return impossible(
        "the session has ended, so there is no terminal to go to. List the others: beckon status",
      );
    if (attach !== null && !session.ended)
      return impossible(`it runs in the background. Open it in a terminal: ${attach}`);
    if (unknown !== null) return impossible(unknown);
    if (!place) {
      return impossible(
        "no hook of this session has reported where its terminal is. Check the hooks: beckon doctor",
      );
    }
    const outcome = await options.terminals.focus({ place, cwd, title });
    return session.ended && outcome.result === "impossible"
      ? { ...outcome, why: `the session has ended, and ${outcome.why}` }
      : outcome;
  }

  function next(): Session | null {
    const now = options.clock();
    const preferences = options.alerts.preferences();
    return findNextWaiting(options.sessions(now), { preferences, config: options.config(), now });
  }

  async function focusWithMessage(session: Session | null, reasonIfNone: string): Promise<void> {
    const outcome = session ? await focus(session) : impossible(reasonIfNone);
    const { title, lines } = formatFocusOutcome(outcome, session);
    if (outcome.result !== "exact") showMessage(title, lines.join("\n"));
  }

  async function answer(action: Extract<UserAction, { do: "answer" }>): Promise<void> {
    const session = findSession(action.session);
    const result = session
      ? await options.pending.answer(session, action.ask, action.answer, action.step)
      : "this session is over";
    if (typeof result === "string") showMessage("Nothing was answered", capitalize(result));
    else if ("refused" in result) showMessage("Nothing was answered", capitalize(result.error));
  }

  async function copyId(session: Session | null): Promise<void> {
    const id = session?.sessionId ?? "";
    if (await options.copy(id)) return;
    showMessage("Could not copy: install wl-clipboard or xclip", `The session is ${id}`);
  }

  async function openTranscript(session: Session | null): Promise<string | null> {
    const path = session && (await options.findTranscript(session));
    return path ? await options.openFile(path) : "this machine has no transcript of the session";
  }

  async function openTranscriptWithMessage(session: Session | null): Promise<void> {
    const problem = await openTranscript(session);
    if (problem) showMessage("The transcript could not be opened", problem);
  }

  async function openList(): Promise<void> {
    const problem = await options.openList();
    if (problem) showMessage("The list could not be opened", problem);
  }

  async function openDashboard(): Promise<void> {
    const problem = await options.openPage(options.createPageUrl());
    if (problem) showMessage("The dashboard could not be opened", `${problem}. Run: beckon open --print`);
  }

  async function openSettings(): Promise<void> {
    const { configPath } = options;
    const problem =
      createConfigFile(configPath, createConfigTemplate(options.version)) ??
      (await options.openFile(configPath));
    if (problem) showMessage("The settings could not be opened", `They are in ${configPath}. ${problem}`);
  }

  async function connect(agent: string): Promise<void> {
    const name = options.agentName(agent);
    try {
      showMessage(`${name} is connected`, await options.connect(agent));
    } catch (error) {
      showMessage(`${name} could not be connected`, readErrorMessage(error));
    }
  }

  async function run(action: UserAction): Promise<void> {
    switch (action.do) {
      case "focus":
        return focusWithMessage(findSession(action.session), "this session is over and no longer known");
      case "next":
        return focusWithMessage(next(), "no session needs you now");
      case "answer":
        return answer(action);
      case "copy-id":
        return copyId(findSession(action.session));
      case "transcript":
        return openTranscriptWithMessage(findSession(action.session));
      case "settings":
        return openSettings();
      case "about":
        return showMessage(`beckon ${options.version}`, `Running at ${options.url()}`);
      case "connect":
        return connect(action.agent);
      case "quit":
        return options.quit();
      case "mute":
      case "mute-project":
      case "snooze":
      case "dismiss":
      case "quiet":
        return setPreference(action);
      case "list":
        return openList();
      case "dashboard":
        return openDashboard();
      // The tray asks for the second click itself.
      case "confirm":
        return;
      default:
        return action satisfies never;
    }
  }

  return {
    focus,
    next,
    openTranscript,
    async click(action) {
      await run(action).catch((error) => options.onProblem(`"${action.do}" failed: ${error}`));
    },
  };
}
