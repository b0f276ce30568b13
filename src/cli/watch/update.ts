/** What a key, new data or a finished action changes, and what is to be done. Pure. */
import {
  type AnswerStep,
  createStep,
  findOffer,
  isTooSoon,
  judgeAnswer,
  listOffers,
  type RefusedVerdict,
} from "../../core/answers/policy.ts";
import { explainVerdict, tooSoon } from "../../core/answers/words.ts";
import type { PromptView, SessionPrompts } from "../../core/interfaces/wire.ts";
import type { Answer } from "../../core/session/ask-details.ts";
import { viewKeyOf } from "../../core/session/session-ref.ts";
import { capitalize } from "../../core/text/words.ts";
import type { AskView, SessionView } from "../../core/view/session-view.ts";
import { isAnswerable } from "../asks.ts";
import { notRunning } from "../client.ts";
import type { Input } from "./keys.ts";
import {
  type AskScreen,
  blockingAsks,
  detailsIdOf,
  findDetails,
  findSelected,
  listSessions,
  type Model,
  nameAll,
  type Size,
  type WatchData,
} from "./model.ts";
import { openPromptBox, type PromptScreen, pasteIntoPrompt, pressInPrompt } from "./prompt-box.ts";
import {
  computeLayout,
  countAskLines,
  countHelpLines,
  createAskStep,
  findSingleQuestion,
  isAskShown,
} from "./screen.ts";

type AskToAnswer = AskView & Required<Pick<AskView, "answerId">>;

export type Effect =
  | { readonly do: "quit" | "suspend" | "redraw" }
  | { readonly do: "details" | "prompts"; readonly session: SessionView }
  /** Ends with a `taken back` event, or a `done` one. */
  | { readonly do: "take back"; readonly prompt: PromptView }
  | SessionAction;

/** What the user does with a session. It ends with a `done` event. */
export type SessionAction =
  | { readonly do: "focus" | "dismiss"; readonly session: SessionView }
  | { readonly do: "mute"; readonly session: SessionView; readonly isOn: boolean }
  | { readonly do: "send"; readonly session: SessionView; readonly text: string }
  /** `minutes` is 0 to end the snooze. */
  | { readonly do: "snooze"; readonly session: SessionView; readonly minutes: number }
  | {
      readonly do: "answer";
      readonly session: SessionView;
      readonly ask: AskToAnswer;
      readonly answer: Answer;
      readonly step: AnswerStep;
    };

export type WatchEvent = { readonly now: number } & (
  | (Input & {
      /** False if it came together with other keys: the user has not seen what the key before it changed. */
      readonly isAlone: boolean;
    })
  | { readonly kind: "resize"; readonly size: Size }
  | { readonly kind: "data"; readonly data: WatchData }
  /** null if they could not be read. */
  | { readonly kind: "details"; readonly session: SessionView | null }
  | { readonly kind: "prompts"; readonly session: SessionView; readonly known: SessionPrompts }
  | { readonly kind: "taken back"; readonly text: string }
  /** An action is over. */
  | { readonly kind: "done"; readonly text: string; readonly isError: boolean }
);

export interface Step {
  readonly model: Model;
  readonly effects: readonly Effect[];
}

const messageMs = 6_000;
const snoozeMinutes = 15;

export function update(before: Model, event: WatchEvent): Step {
  const model = { ...before, now: event.now };
  const { model: changed, effects } = apply(model, event);
  const selected = keepSelection(before, changed);
  const after = keepVisible(
    hasChangedByItself(before, selected, event) ? { ...selected, changedAt: event.now } : selected,
  );
  return requestDetails(after, effects);
}

const stay = (model: Model, ...effects: readonly Effect[]): Step => ({ model, effects });

const say = (model: Model, text: string, isError = false): Model => ({
  ...model,
  message: { text, isError, until: model.now + messageMs },
});

function apply(model: Model, event: WatchEvent): Step {
  switch (event.kind) {
    case "key":
      return press({ ...model, message: null }, event.key, event.isAlone);
    case "paste":
      return stay(paste(model, event.text));
    case "resize":
      return stay(resize({ ...model, size: event.size }));
    case "data":
      return readPromptsAgain(closeIfGone(retryDetails(dropMessage({ ...model, data: event.data }))));
    case "details":
      return stay(receiveDetails(model, event.session));
    case "prompts":
      return stay(receivePrompts(model, event.session, event.known));
    case "taken back":
      return readPromptsAgain(
        model.screen.kind === "prompt" && model.screen.text === ""
          ? { ...model, screen: { ...model.screen, text: event.text } }
          : model,
      );
    case "done":
      return stay(
        say(
          { ...selectNextWaiting(endSending(model, event), event), sending: null },
          event.text,
          event.isError,
        ),
      );
  }
}

function paste(model: Model, text: string): Model {
  const { screen } = model;
  if (screen.kind === "filter") return { ...model, filter: model.filter + text.replace(/\s+/g, " ") };
  return screen.kind === "prompt" ? { ...model, screen: pasteIntoPrompt(screen, text) } : model;
}

/** What waits for a session changes by itself. */
function readPromptsAgain(model: Model): Step {
  const { screen } = model;
  return screen.kind === "prompt" ? stay(model, { do: "prompts", session: screen.session }) : stay(model);
}

function receivePrompts(model: Model, session: SessionView, known: SessionPrompts): Model {
  const { screen } = model;
  const isShown = screen.kind === "prompt" && viewKeyOf(screen.session) === viewKeyOf(session);
  return isShown ? { ...model, screen: { ...screen, known } } : model;
}

/** What could not be sent stays in the box. */
function endSending(model: Model, { isError }: { readonly isError: boolean }): Model {
  const { screen } = model;
  if (screen.kind !== "prompt" || !screen.isSending) return model;
  return { ...model, screen: isError ? { ...screen, isSending: false } : { kind: "list" } };
}

const dropMessage = (model: Model): Model =>
  model.message && model.message.until <= model.now ? { ...model, message: null } : model;

/** After an answer, the next session that waits is selected, unless the user has moved on or this one asks more. */
function selectNextWaiting(model: Model, { isError }: { readonly isError: boolean }): Model {
  const { sending, selected } = model;
  if (isError || sending === null || sending.key !== selected) return model;
  const sessions = listSessions(model);
  const index = sessions.findIndex((session) => viewKeyOf(session) === selected);
  const waits = (session: SessionView) =>
    session.group === "needs_you" &&
    blockingAsks(session).some(({ answerId }) => answerId !== sending.answerId);
  const next = [...sessions.slice(index), ...sessions.slice(0, index)].find(waits);
  return next ? { ...model, selected: viewKeyOf(next) } : model;
}

/** The same session as before or, if it is gone, the one that is now in its place. */
function keepSelection(before: Model, model: Model): Model {
  const sessions = listSessions(model);
  if (sessions.some((session) => viewKeyOf(session) === model.selected)) return model;
  const index = listSessions(before).findIndex((session) => viewKeyOf(session) === before.selected);
  const next = sessions[Math.min(Math.max(0, index), sessions.length - 1)];
  return { ...model, selected: next ? viewKeyOf(next) : null };
}

/** Whether the ask under the cursor, or what is shown of it, is another now, without a key. */
function hasChangedByItself(before: Model, model: Model, event: WatchEvent): boolean {
  if (event.kind !== "data" && event.kind !== "details" && event.kind !== "done") return false;
  return askShownIn(before) !== askShownIn(model);
}

function askShownIn(model: Model): string | null {
  const session = findSelected(model);
  return session && `${detailsIdOf(session)} ${findDetails(model, session) !== null}`;
}

function keepVisible(model: Model): Model {
  const sessions = listSessions(model);
  const index = Math.max(
    0,
    sessions.findIndex((session) => viewKeyOf(session) === model.selected),
  );
  const { listRows } = computeLayout(model);
  const inView = Math.min(Math.max(model.top, index - listRows + 1), index);
  return { ...model, top: Math.max(0, Math.min(inView, sessions.length - listRows)) };
}

/** Everything that the selected session asks is read once, and again when it asks something else. */
function requestDetails(model: Model, effects: readonly Effect[]): Step {
  const session = findSelected(model);
  if (!session || blockingAsks(session).length === 0) return { model, effects };
  const wanted = detailsIdOf(session);
  if (model.requested === wanted) return { model, effects };
  return { model: { ...model, requested: wanted }, effects: [...effects, { do: "details", session }] };
}

/** If the details did not come, or are of an ask that is over. */
function retryDetails(model: Model): Model {
  const session = findSelected(model);
  return session && findDetails(model, session) === null ? { ...model, requested: null } : model;
}

function receiveDetails(model: Model, session: SessionView | null): Model {
  if (!session) return { ...model, opening: null };
  const { opening } = model;
  const received = { ...model, details: session, opening: null };
  if (!opening || opening.key !== viewKeyOf(session)) return received;
  const ask = session.asks.find(({ answerId }) => answerId === opening.answerId);
  return ask ? openAsk(received, session, ask) : say(received, goneText, true);
}

const goneText = "This ask is gone: it was answered elsewhere, or it ended.";

function closeIfGone(model: Model): Model {
  const { screen, data, sending } = model;
  if (screen.kind !== "ask") return model;
  const { answerId } = screen.ask;
  const session = data?.sessions.find((known) => viewKeyOf(known) === viewKeyOf(screen.session));
  if (session?.asks.some((ask) => ask.answerId === answerId)) return model;
  const closed: Model = { ...model, screen: { kind: "list" } };
  return sending?.answerId === answerId ? closed : say(closed, goneText, true);
}

function resize(model: Model): Model {
  const { screen } = model;
  if (screen.kind !== "ask") return model;
  // The lines are others now, so nothing of them has been seen.
  return { ...model, screen: showFrom(model, { ...screen, seenTo: 0, openedAt: model.now }, 0) };
}

function press(model: Model, key: string, isAlone: boolean): Step {
  if (key === "ctrl-c") return stay(model, { do: "quit" });
  if (key === "ctrl-z") return stay(model, { do: "suspend" });
  if (key === "ctrl-l") return stay(model, { do: "redraw" });
  switch (model.screen.kind) {
    case "list":
      return pressInList({ ...model, opening: null }, key, isAlone);
    case "filter":
      return pressInFilter(model, key);
    case "help":
      return pressInHelp(model, model.screen.top, key);
    case "ask":
      return pressInAsk(model, model.screen, key, isAlone);
    case "prompt":
      return pressInPromptBox(model, model.screen, key, isAlone);
  }
}

/** By how many rows a key moves; null if it does not move. */
function movementOf(key: string, page: number): number | null {
  switch (key) {
    case "up":
    case "k":
      return -1;
    case "down":
    case "j":
      return 1;
    case "pageup":
      return -page;
    case "pagedown":
    case " ":
      return page;
    case "home":
    case "g":
      return Number.NEGATIVE_INFINITY;
    case "end":
    case "G":
      return Number.POSITIVE_INFINITY;
    default:
      return null;
  }
}

function move(model: Model, rows: number): Model {
  const sessions = listSessions(model);
  const index = sessions.findIndex((session) => viewKeyOf(session) === model.selected);
  const next = sessions[Math.max(0, Math.min(sessions.length - 1, index + rows))];
  return next ? { ...model, selected: viewKeyOf(next) } : model;
}

function pressInList(model: Model, key: string, isAlone: boolean): Step {
  const rows = movementOf(key, Math.max(1, computeLayout(model).listRows - 1));
  if (rows !== null) return stay(move(model, rows));
  switch (key) {
    case "q":
    case "Q":
    case "ctrl-d":
      return stay(model, { do: "quit" });
    case "?":
      return stay({ ...model, screen: { kind: "help", top: 0 } });
    case "/":
      return stay({ ...model, screen: { kind: "filter" } });
    case "e":
      return stay({ ...model, hasEndedUnfolded: !model.hasEndedUnfolded });
    case "escape":
      return stay({ ...model, filter: "" });
  }
  const session = findSelected(model);
  if (!session) return stay(model);
  const name = nameAll(model)(session);
  const isEnded = session.group === "ended";
  switch (key) {
    case "enter":
      return stay(say(model, `Going to ${name} …`), { do: "focus", session });
    case "m":
      if (isEnded) return stay(say(model, `${name} has ended.`, true));
      return stay(model, { do: "mute", session, isOn: session.silenceKind !== "muted" });
    case "s": {
      if (isEnded) return stay(say(model, `${name} has ended.`, true));
      const minutes = session.silenceKind === "snoozed" ? 0 : snoozeMinutes;
      return stay(model, { do: "snooze", session, minutes });
    }
    case "x":
      return stay(model, { do: "dismiss", session });
    case "p":
      if (isEnded) return stay(say(model, `${name} has ended.`, true));
      if (!model.data?.isRunning) return stay(say(model, notRunning, true));
      return stay({ ...model, screen: openPromptBox(session) }, { do: "prompts", session });
    case "a":
    case "d":
      return pressAnswer(model, session, key, isAlone);
    default:
      return stay(model);
  }
}

function pressInFilter(model: Model, key: string): Step {
  switch (key) {
    case "enter":
      return stay({ ...model, screen: { kind: "list" } });
    case "escape":
    case "ctrl-d":
      return stay({ ...model, screen: { kind: "list" }, filter: "" });
    case "backspace":
      return stay({ ...model, filter: [...model.filter].slice(0, -1).join("") });
    case "ctrl-u":
      return stay({ ...model, filter: "" });
    case "up":
    case "down":
    case "pageup":
    case "pagedown":
      return stay(move(model, movementOf(key, computeLayout(model).listRows) ?? 0));
    default:
      return stay([...key].length === 1 ? { ...model, filter: model.filter + key } : model);
  }
}

function pressInPromptBox(model: Model, screen: PromptScreen, key: string, isAlone: boolean): Step {
  const step = pressInPrompt(screen, key, isAlone);
  switch (step.do) {
    case "close":
      return stay({ ...model, screen: { kind: "list" } });
    case "edited":
      return stay({ ...model, screen: step.screen });
    case "take back":
      return stay(model, step);
    case "send": {
      const { session, text } = step.screen;
      return stay(say({ ...model, screen: step.screen }, "Sending …"), { do: "send", session, text });
    }
  }
}

function pressInHelp(model: Model, top: number, key: string): Step {
  const page = Math.max(1, model.size.rows - 1);
  const rows = movementOf(key, page);
  const last = Math.max(0, countHelpLines(model) - page);
  if (rows === null || last === 0) return stay({ ...model, screen: { kind: "list" } });
  return stay({ ...model, screen: { kind: "help", top: Math.max(0, Math.min(last, top + rows)) } });
}

/** Answers what the row shows, or opens it in full where that is too little to decide. */
function pressAnswer(model: Model, session: SessionView, key: "a" | "d", isAlone: boolean): Step {
  const asks = blockingAsks(session);
  const answerable = asks.filter((ask): ask is AskToAnswer => ask.answerId !== undefined);
  const [ask] = answerable;
  const details = findDetails(model, session);
  const name = nameAll(model)(session);
  if (asks.length === 0) return stay(say(model, `${name} is not waiting for an answer.`, true));
  if (!model.data?.isRunning) return stay(say(model, notRunning, true));
  if (!ask) {
    const why = details?.asks.find(({ kind }) => kind !== "idle")?.why ?? "it is being answered";
    return stay(say(model, `${name} cannot be answered from here: ${why}. Enter goes there.`, true));
  }
  // Keys that came together were pressed before anything was read.
  const shownMs = isAlone ? model.now - model.changedAt : 0;
  const step = createStep("list", { isWholeShown: isAskShown(model), shownMs });
  // Of several asks, the user chooses one.
  const isOnly = asks.length === 1;
  if (isOnly && key === "d")
    return isTooSoon(step)
      ? stay(say(model, `${capitalize(tooSoon)}.`, true))
      : answer(model, session, ask, { do: "deny", message: null }, step);
  const inFull = details?.asks.find(({ answerId }) => answerId === ask.answerId);
  if (!details || !inFull)
    return stay({ ...model, opening: { key: viewKeyOf(session), answerId: ask.answerId } });
  const yes: Answer = { do: "allow" };
  if (isOnly && isAnswerable(inFull) && judgeAnswer(inFull.asked, yes, step).kind === "allowed")
    return answer(model, session, inFull, yes, step);
  return stay(openAsk(model, details, inFull));
}

function answer(model: Model, session: SessionView, ask: AskToAnswer, given: Answer, step: AnswerStep): Step {
  if (model.sending !== null) return stay(say(model, "Your last answer is still being sent.", true));
  const sending: Model = {
    ...model,
    screen: { kind: "list" },
    sending: { key: viewKeyOf(session), answerId: ask.answerId },
  };
  return stay(say(sending, "Sending your answer …"), { do: "answer", session, ask, answer: given, step });
}

function openAsk(model: Model, session: SessionView, ask: AskView): Model {
  if (!isAnswerable(ask))
    return say(model, `This cannot be answered from here: ${ask.why ?? "it is being answered"}.`, true);
  const screen: AskScreen = { kind: "ask", session, ask, top: 0, seenTo: 0, openedAt: model.now };
  return { ...model, screen: showFrom(model, screen, 0) };
}

/** `top` is at most a page further than before, so every line above the last one on the screen has been seen. */
function showFrom(model: Model, screen: AskScreen, top: number): AskScreen {
  const { lines, room } = countAskLines(model, screen);
  const next = Math.max(0, Math.min(lines - room, top));
  return { ...screen, top: next, seenTo: Math.max(screen.seenTo, next + room) };
}

function pressInAsk(model: Model, screen: AskScreen, key: string, isAlone: boolean): Step {
  const { session, ask } = screen;
  const { room } = countAskLines(model, screen);
  const rows = movementOf(key, Math.max(1, room - 1));
  // Never further than a page, so that no line is passed over.
  if (rows !== null) {
    const limited = Math.max(-screen.top, Math.min(room, rows));
    return stay({ ...model, screen: showFrom(model, screen, screen.top + limited) });
  }
  const step = createAskStep(model, screen);
  const isOffered = findOffer(listOffers(ask.asked, step), "allow") !== null;
  switch (key) {
    case "escape":
    case "q":
      return stay({ ...model, screen: { kind: "list" } });
    case "tab":
      return stay(openNext(model, screen));
    case "enter":
      return stay(say({ ...model, screen: { kind: "list" } }, `Going to ${nameAll(model)(session)} …`), {
        do: "focus",
        session,
      });
    case "d":
    case "y":
    case "1":
    case "2":
    case "3":
    case "4":
    case "5":
    case "6":
    case "7":
    case "8":
    case "9":
      break;
    case "a":
      return stay(isOffered ? say(model, "Press y to allow it.") : model);
    default:
      return stay(model);
  }
  if (!isAlone) return stay(say(model, "Several keys came at once, so none of them answered.", true));
  const given = findAnswer(screen, key);
  if (given === null) return stay(model);
  const verdict = judgeAnswer(ask.asked, given, step);
  return verdict.kind === "allowed"
    ? answer(model, session, ask, given, step)
    : stay(say(model, explainNoAnswer(verdict, screen, given), true));
}

/** null if this key answers nothing here. */
function findAnswer(screen: AskScreen, key: string): Answer | null {
  if (key === "d") return { do: "deny", message: null };
  if (key === "y") return { do: "allow" };
  const option = findSingleQuestion(screen)?.options[Number(key) - 1];
  return option ? { do: "reply", replies: [[option.label]] } : null;
}

function explainNoAnswer(verdict: RefusedVerdict, { ask: { asked } }: AskScreen, given: Answer): string {
  const why = verdict.kind === "refused" ? verdict.why : null;
  if (why === "unfit") return "A question is answered with the number of an option.";
  if (why === "not shown") return "Read it to the end first: scroll down.";
  return `${capitalize(explainVerdict(verdict, asked, given))}.`;
}

function openNext(model: Model, screen: AskScreen): Model {
  const session =
    model.details && viewKeyOf(model.details) === viewKeyOf(screen.session) ? model.details : screen.session;
  const asks = session.asks.filter(isAnswerable);
  const index = asks.findIndex(({ answerId }) => answerId === screen.ask.answerId);
  const next = asks[(index + 1) % asks.length];
  return next ? openAsk(model, session, next) : model;
}
