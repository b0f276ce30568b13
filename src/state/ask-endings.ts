/** Asks that closed a moment ago. How they ended is known a little later, or never. */
import type { AskEnding } from "../core/answers/ending.ts";
import { inApp, inEditor, inTerminal } from "../core/answers/words.ts";
import type { AskEnd, Transition } from "../core/interfaces/index.ts";
import type { ClockReading } from "../core/session/event.ts";
import type { Ask, Session } from "../core/session/session.ts";
import { sessionKeyOf } from "../core/session/session-ref.ts";
import { timing } from "../core/timing.ts";

interface ClosedAsk {
  readonly id: string;
  readonly session: Session;
  readonly ask: Ask;
  readonly waitedMs: number;
}

export interface AskEndings {
  /** The ask has closed: `onEnded` will say how, or it is overdue. */
  expect(closed: ClosedAsk): void;
  areExpected(): boolean;
  onEnded(end: Pick<AskEnd, "session" | "ask" | "how" | "by" | "detail">): void;
  /** Ends the asks of which it is not known by now. */
  endOverdue(t: number): void;
}

/** How an ask ended is known by then. */
const endMs = timing.lateHookMs + 200;
/** The same for an ask of another machine, which says it when it knows. */
const mirroredEndMs = endMs + 10_000;

export function createAskEndings(
  clock: () => ClockReading,
  onTransition: (transition: Transition) => void,
): AskEndings {
  /** With the time at which each is overdue. */
  const expected = new Map<ClosedAsk, number>();

  function end(
    closed: ClosedAsk,
    session: Session,
    how: AskEnding,
    where: string | null,
    detail: string | null,
  ): void {
    expected.delete(closed);
    const { id, ask, waitedMs } = closed;
    onTransition({ kind: "ask-ended", id, session, ask, how, where, detail, waitedMs });
  }

  return {
    expect(closed) {
      const waitMs = closed.session.machine === null ? endMs : mirroredEndMs;
      expected.set(closed, clock().t + waitMs);
    },
    areExpected: () => expected.size > 0,
    onEnded({ session, ask, how, by, detail = null }) {
      const key = sessionKeyOf(session);
      for (const closed of expected.keys()) {
        if (closed.ask.id !== ask.id || sessionKeyOf(closed.session) !== key) continue;
        end(closed, session, how, whereOf(how, by), detail);
        return;
      }
    },
    endOverdue(t) {
      for (const [closed, overdueT] of expected)
        if (overdueT <= t) end(closed, closed.session, "dismissed", null, null);
    },
  };
}

/** Where the user answered, as the history names it. */
function whereOf(how: AskEnding, by: string | null): string | null {
  if (how === "rule") return "rule";
  if (by === inTerminal) return "terminal";
  if (by === inEditor) return "editor";
  return by === inApp ? "app" : by;
}
