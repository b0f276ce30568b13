/** What a click does in the tray's menu or on an alert. */
import type { UserAction } from "../core/config/user-action.ts";
import { readErrorMessage } from "../core/error-message.ts";
import type { Session } from "../core/session/session.ts";
import { capitalize } from "../core/text/words.ts";
import { formatFocusOutcome } from "../core/view/focus-text.ts";
import type { AllRequests } from "./machines.ts";
import { cannotFocus, type Navigation } from "./navigation.ts";

export interface UserActionsOptions {
  readonly navigation: Navigation;
  readonly setPreference: (action: UserAction) => void;
  /** Shows a message on the desktop for a few seconds. */
  readonly showMessage: (title: string, body: string) => void;
  readonly requests: Pick<AllRequests, "answer">;
  readonly configPath: string;
  readonly version: string;
  readonly url: string;
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

/** Runs the action and shows a message if it could not be done. Never rejects. */
export type RunUserAction = (action: UserAction) => Promise<void>;

export function createUserActions(options: UserActionsOptions): RunUserAction {
  const { navigation, showMessage } = options;

  async function focus(session: Session | null, reasonIfNone: string): Promise<void> {
    const outcome = session ? await navigation.focus(session) : cannotFocus(reasonIfNone);
    const { title, lines } = formatFocusOutcome(outcome, session);
    if (outcome.result !== "exact") showMessage(title, lines.join("\n"));
  }

  async function answer(action: Extract<UserAction, { do: "answer" }>): Promise<void> {
    const session = navigation.find(action.session);
    const result = session
      ? await options.requests.answer(session, action.ask, action.answer, action.step)
      : "this session is over";
    if (typeof result === "string") showMessage("Nothing was answered", capitalize(result));
    else if ("refused" in result)
      showMessage(
        result.isUnknown ? "Your answer may not have arrived" : "Nothing was answered",
        capitalize(result.error),
      );
  }

  async function copyId(session: Session | null): Promise<void> {
    const id = session?.sessionId ?? "";
    if (await options.copy(id)) return;
    showMessage("Could not copy: install wl-clipboard or xclip", `The session is ${id}`);
  }

  async function openTranscript(session: Session | null): Promise<void> {
    const problem = await navigation.openTranscript(session);
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

  /** The panel on the page; without a browser, the file. */
  async function openSettings(): Promise<void> {
    const { configPath } = options;
    if ((await options.openPage(`${options.createPageUrl()}#settings`)) === null) return;
    const { openConfigFile } = await import("./settings.ts");
    const problem = await openConfigFile(configPath, options.openFile);
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
        return focus(navigation.find(action.session), "this session is over and no longer known");
      case "next":
        return focus(navigation.next(), "no session needs you now");
      case "answer":
        return answer(action);
      case "copy-id":
        return copyId(navigation.find(action.session));
      case "transcript":
        return openTranscript(navigation.find(action.session));
      case "settings":
        return openSettings();
      case "about":
        return showMessage(`beckon ${options.version}`, `Running at ${options.url}`);
      case "connect":
        return connect(action.agent);
      case "quit":
        return options.quit();
      case "mute":
      case "mute-project":
      case "snooze":
      case "dismiss":
      case "quiet":
        return options.setPreference(action);
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

  return (action) => run(action).catch((error) => options.onProblem(`"${action.do}" failed: ${error}`));
}
