/** Drives the screen of `beckon status --watch` without a terminal. */

import { createModel, type Model, type Size } from "../../../src/cli/watch/model.ts";
import { renderScreen } from "../../../src/cli/watch/screen.ts";
import { type Effect, update, type WatchEvent } from "../../../src/cli/watch/update.ts";
import type { SessionPrompts } from "../../../src/core/interfaces/wire.ts";
import type { AskDetails } from "../../../src/core/session/ask-details.ts";
import { viewKeyOf } from "../../../src/core/session/session-ref.ts";
import { sortViews } from "../../../src/core/view/order.ts";
import type { AskView, SessionView } from "../../../src/core/view/session-view.ts";
import { ask, asking, now } from "../sessions.ts";

const command: AskDetails = {
  kind: "permission",
  tool: "Bash",
  heading: "Run a command",
  lines: ["npm test"],
  isWhole: true,
  dangers: [],
  always: [],
  questions: [],
};

/** An ask that can be answered. */
export function answerable(
  answerId: string,
  asked: Partial<AskDetails> = {},
): Required<Pick<AskView, "asked" | "answerId">> & AskView {
  const details = { ...command, ...asked };
  return {
    ...ask({ id: answerId, kind: details.kind, tool: details.tool, summary: details.lines.join(" ") }),
    answerable: true,
    answerId,
    asked: details,
    dangers: details.dangers,
  };
}

export const asks = (project: string, ...open: AskView[]): SessionView => asking(project, { asks: open });

/** As the list has it: without the full text. */
function withoutDetails(session: SessionView): SessionView {
  return { ...session, asks: session.asks.map(({ asked: _, why: __, ...listed }) => listed) };
}

/** Long enough to have read what is on the screen. */
const readMs = 1_000;

export function openScreen(
  sessions: readonly SessionView[],
  size: Size = { columns: 80, rows: 24 },
  colour = false,
) {
  let model: Model = createModel({ size, now, home: "/home/dev", colour });
  let time = now;
  let known = sessions;
  const effects: Effect[] = [];

  function dispatch(
    event: { readonly [K in keyof WatchEvent]: WatchEvent[K] } | Record<string, unknown>,
  ): void {
    const step = update(model, { ...event, now: time } as WatchEvent);
    model = step.model;
    for (const effect of step.effects) {
      if (effect.do === "details") pending.push(effect.session);
      else effects.push(effect);
    }
  }
  /** Sessions whose details were asked for. */
  const pending: SessionView[] = [];
  const harness = {
    model: () => model,
    effects,
    pending,
    screen: () => renderScreen(model),
    text: () => renderScreen(model).join("\n"),
    selected: () => model.selected,
    footer: () => renderScreen(model).at(-1) ?? "",
    /** The details that were asked for arrive. */
    answerDetails() {
      for (const { provider, sessionId } of pending.splice(0)) {
        const session = known.find((other) => viewKeyOf(other) === `${provider}:${sessionId}`) ?? null;
        dispatch({ kind: "details", session });
      }
    },
    /** Another list arrives, without details unless asked for. */
    receive(next: readonly SessionView[], { notices = [] as readonly string[], isRunning = true } = {}) {
      known = next;
      dispatch({
        kind: "data",
        data: { isRunning, sessions: sortViews(next.map(withoutDetails)), notices },
      });
    },
    wait(ms: number) {
      time += ms;
    },
    /** Each alone, after the user has read the screen. */
    press(...keys: string[]) {
      for (const key of keys) {
        time += readMs;
        dispatch({ kind: "key", key, isAlone: true });
        harness.answerDetails();
      }
    },
    /** All at once. */
    pressTogether(...keys: string[]) {
      for (const key of keys) dispatch({ kind: "key", key, isAlone: false });
    },
    pressNow(key: string) {
      dispatch({ kind: "key", key, isAlone: true });
    },
    paste: (text: string) => dispatch({ kind: "paste", text, isAlone: true }),
    resize: (columns: number, rows: number) => dispatch({ kind: "resize", size: { columns, rows } }),
    /** What waits for the session of the box arrives. */
    receivePrompts(known: SessionPrompts) {
      const { screen } = model;
      if (screen.kind === "prompt") dispatch({ kind: "prompts", session: screen.session, known });
    },
    takeBack: (text: string) => dispatch({ kind: "taken back", text }),
    done: (text: string, isError = false) => dispatch({ kind: "done", text, isError }),
  };
  harness.receive(sessions);
  harness.answerDetails();
  return harness;
}
