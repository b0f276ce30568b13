/** What beckon writes down of asks and alerts, for `beckon log`: who answered what, and what was not shown, and why. */

import type { AgentEvent } from "../core/session/event.ts";
import { askAlertKey, diedAlertKey, sessionKeyOf, turnEndAlertKey } from "../core/session/keys.ts";
import { isProbe, isProbeAlert } from "../core/session/probe.ts";
import type { Session } from "../core/session/session.ts";
import { projectOf } from "../core/session/session.ts";
import { formatFailure, statusTexts, summarizeAsk } from "../core/session/texts.ts";
import type { Alert } from "../core/view/view.ts";
import type { AnswerLog, AnswerLogEntry } from "./log.ts";
import { createAskOutcomes } from "./outcomes.ts";
import type { GivenAnswer } from "./text.ts";

export interface AnswerRecorderOptions {
  readonly decisions: Pick<AnswerLog, "add" | "flush">;
  /** What was written down before this start, the newest last. */
  readonly before: () => readonly AnswerLogEntry[];
  readonly mask: (text: string) => string;
  readonly now: () => number;
  readonly find: (key: string) => Session | null;
}

export interface AnswerRecorder {
  answered(verdict: GivenAnswer): void;
  /** Asks that ended without beckon's doing. */
  follow(after: Session, event: AgentEvent, before: Session | null): void;
  shown(alert: Alert): void;
  /** Writes one entry per alert: later reasons for the same alert, and reasons after it was shown, are ignored. */
  notShown(key: string, why: string): void;
  /** Writes down what it still waits to know better. */
  stop(): void;
}

const maxLength = 300;
const maxRemembered = 1_000;

export function createAnswerRecorder({
  decisions,
  before,
  mask,
  now,
  find,
}: AnswerRecorderOptions): AnswerRecorder {
  /** Keys of alerts that the log already has an entry for, oldest first. It includes entries of earlier runs. */
  let recorded: Set<string> | null = null;
  const recordedAlerts = (): Set<string> => {
    recorded ??= new Set(
      before()
        .slice(-maxRemembered)
        .flatMap(({ alert }) => (alert === undefined ? [] : [alert])),
    );
    return recorded;
  };

  const text = (value: string) => {
    const line = mask(value).replace(/\s+/g, " ").trim();
    return line.length > maxLength ? `${line.slice(0, maxLength)}…` : line;
  };

  function add(
    session: Session,
    entry: Pick<AnswerLogEntry, "what" | "asked" | "outcome" | "by" | "alert">,
    at = now(),
  ): void {
    if (isProbe(session)) return;
    const about = { at, session: sessionKeyOf(session), project: projectOf(session) };
    decisions.add({ ...about, ...entry, asked: text(entry.asked), outcome: text(entry.outcome) });
  }

  function addAlert(
    session: Session,
    alert: string,
    entry: Pick<AnswerLogEntry, "what" | "asked" | "outcome">,
  ): void {
    const keys = recordedAlerts();
    keys.delete(alert);
    keys.add(alert);
    const [oldest] = keys;
    if (keys.size > maxRemembered && oldest !== undefined) keys.delete(oldest);
    add(session, { ...entry, by: null, alert });
  }

  const ends = createAskOutcomes({
    now,
    onEnd({ session, ask, outcome, isLeft, at }) {
      const by = isLeft ? null : "in the terminal";
      add(session, { what: "answered", asked: summarizeAsk(ask), outcome, by }, at);
    },
  });

  return {
    answered({ session, ask, answered, by }) {
      add(session, { what: "answered", asked: summarizeAsk(ask), outcome: answered, by: text(by) });
      // What the person did is on disk before they are told that it is done.
      decisions.flush();
    },
    follow: ends.follow,
    shown(alert) {
      const session = find(alert.session);
      if (!session) return;
      const asked = alert.covers ? alert.title : (subjectOf(session, alert.key) ?? alert.title);
      addAlert(session, alert.key, { what: "shown", asked, outcome: "alert shown" });
    },
    notShown(key, why) {
      const session = find(key.split("#", 1)[0] ?? "");
      if (!session || isProbeAlert(key)) return;
      // The reason often changes while an ask is open ("you are looking at it", "you have just looked at it"): the first counts.
      if (recordedAlerts().has(key)) return;
      addAlert(session, key, { what: "not shown", asked: subjectOf(session, key) ?? "", outcome: why });
    },
    stop: ends.stop,
  };
}

/** What an alert is about, in the state's words, where secrets are masked; null: an ask that is over already. */
function subjectOf(session: Session, key: string): string | null {
  const { asks, stopped, ended, turn } = session;
  const ask = asks.find(({ id }) => key === askAlertKey(session, id));
  if (ask) return summarizeAsk(ask);
  if (ended && key === diedAlertKey(session, ended)) return statusTexts.died;
  if (!stopped || key !== turnEndAlertKey(session, stopped)) return null;
  return turn.error === null ? "turn finished" : `turn ${formatFailure(turn.error)}`;
}
