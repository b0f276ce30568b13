/**
 * `beckon status --watch` in a terminal. model.ts is what it knows, update.ts what keys and news change, screen.ts what is
 * drawn; keys.ts and terminal.ts are the two ends of the terminal. Only this file does anything.
 */
import { viewKeyOf } from "../../core/session/session-ref.ts";
import { capitalize } from "../../core/text/words.ts";
import type { Paths } from "../../storage/paths.ts";
import { pause } from "../../system/schedule.ts";
import { sendAnswer } from "../asks.ts";
import { fetchSession } from "../find-session.ts";
import { goToSession } from "../focus.ts";
import { homeFolder } from "../output.ts";
import { describePrompt, fetchPrompts, removePrompt, sendPrompt } from "../send.ts";
import { dismissSession, muteSession, snoozeSession } from "../silence.ts";
import { createKeyReader, type Input } from "./keys.ts";
import { createModel, type WatchData } from "./model.ts";
import { renderScreen } from "./screen.ts";
import { openTerminal } from "./terminal.ts";
import { type Effect, type SessionAction, update, type WatchEvent } from "./update.ts";

const readMs = 1_000;
/** After Escape, a sequence would have followed by then. */
const escapeMs = 50;

interface WatchOptions {
  readonly paths: Paths;
  /** Whether the sessions that ended are listed from the start. */
  readonly listsEnded: boolean;
  readonly read: () => Promise<WatchData>;
}

/** Resolves when the user quits, or a signal ends it. */
export async function watchSessions({ paths, listsEnded, read }: WatchOptions): Promise<void> {
  const ended = Promise.withResolvers<void>();
  const keys = createKeyReader();
  let pausing = new AbortController();
  const wake = (): void => pausing.abort();
  let isEnded = false;
  let escapeTimer: ReturnType<typeof setTimeout> | undefined;
  const end = (): void => {
    isEnded = true;
    wake();
    ended.resolve();
  };
  const terminal = openTerminal({
    onInput: (chunk) => receive(keys.read(chunk)),
    onResize: () => dispatch({ kind: "resize", size: terminal.size(), now: Date.now() }),
    onEnd: end,
    onCrash: ended.reject,
  });
  let model = createModel({
    size: terminal.size(),
    now: Date.now(),
    home: homeFolder(),
    colour: !process.env.NO_COLOR,
    hasEndedUnfolded: listsEnded,
  });

  function dispatch(event: WatchEvent): void {
    if (isEnded) return;
    try {
      const step = update(model, event);
      model = step.model;
      terminal.draw(renderScreen(model));
      for (const effect of step.effects) run(effect);
    } catch (error) {
      ended.reject(error);
    }
  }

  function receive(inputs: readonly Input[]): void {
    clearTimeout(escapeTimer);
    const isAlone = inputs.length === 1;
    for (const input of inputs) dispatch({ ...input, isAlone, now: Date.now() });
    if (keys.isWaiting()) escapeTimer = setTimeout(() => receive(keys.flush()), escapeMs);
  }

  function run(effect: Effect): void {
    switch (effect.do) {
      case "quit":
        end();
        break;
      case "suspend":
        terminal.suspend();
        break;
      case "redraw":
        terminal.invalidate();
        terminal.draw(renderScreen(model));
        break;
      case "details":
        fetchSession(paths, viewKeyOf(effect.session)).then(
          (session) => dispatch({ kind: "details", session, now: Date.now() }),
          () => dispatch({ kind: "details", session: null, now: Date.now() }),
        );
        break;
      case "prompts":
        fetchPrompts(paths, viewKeyOf(effect.session)).then(
          (known) => dispatch({ kind: "prompts", session: effect.session, known, now: Date.now() }),
          () => {},
        );
        break;
      case "take back":
        removePrompt(paths, effect.prompt.id).then(
          ({ text }) => dispatch({ kind: "taken back", text, now: Date.now() }),
          ({ message: text }: Error) => dispatch({ kind: "done", text, isError: true, now: Date.now() }),
        );
        break;
      default:
        perform(paths, effect)
          .then(
            (text) => ({ text, isError: false }),
            (error: Error) => ({ text: error.message, isError: true }),
          )
          .then(({ text, isError }) => {
            dispatch({ kind: "done", text: capitalize(text), isError, now: Date.now() });
            wake();
          });
    }
  }

  async function readAgain(): Promise<void> {
    while (!isEnded) {
      dispatch({ kind: "data", data: await read(), now: Date.now() });
      if (isEnded) return;
      pausing = new AbortController();
      await pause(readMs, pausing.signal);
    }
  }

  try {
    terminal.draw(renderScreen(model));
    readAgain().catch(ended.reject);
    await ended.promise;
  } finally {
    isEnded = true;
    clearTimeout(escapeTimer);
    wake();
    terminal.close();
  }
}

/** Resolves with what was done, for the user. */
function perform(paths: Paths, action: SessionAction): Promise<string> {
  const { session } = action;
  switch (action.do) {
    case "focus":
      return goToSession(paths, viewKeyOf(session));
    case "mute":
      return muteSession(paths, session, action.isOn);
    case "snooze":
      return snoozeSession(paths, session, action.minutes);
    case "dismiss":
      return dismissSession(paths, session);
    case "send":
      return sendPrompt(paths, session, { text: action.text, by: "list", when: "idle" }).then(describePrompt);
    case "answer":
      return sendAnswer(paths, session, action.ask, action.answer, action.step);
  }
}
