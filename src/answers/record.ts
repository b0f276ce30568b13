/** Writes the answer log: who answered what and where, which alerts were shown, and why others were not. */

import type { AskEnding } from "../core/answers/ending.ts";
import { forgetOldest } from "../core/forget-oldest.ts";
import type { AskEnd, SessionChange } from "../core/interfaces/index.ts";
import {
  createAskAlertKey,
  createDiedAlertKey,
  createTurnEndAlertKey,
  sessionKeyOfAlert,
} from "../core/session/keys.ts";
import { isProbe, isProbeAlert } from "../core/session/probe.ts";
import { projectOf, type Session } from "../core/session/session.ts";
import { sessionKeyOf } from "../core/session/session-ref.ts";
import { formatFailure, statusTexts, summarizeAsk } from "../core/session/texts.ts";
import { truncate } from "../core/text/truncate.ts";
import type { Alert } from "../core/view/view.ts";
import { createAskOutcomes } from "./ask-outcomes.ts";
import type { AnswerLog, AnswerLogEntry } from "./log.ts";
import type { GivenAnswer } from "./pending.ts";

export interface AnswerRecorderOptions {
  readonly log: Pick<AnswerLog, "add" | "flush">;
  /** The entries of earlier runs, from the oldest to the newest. */
  readonly readEntries: () => readonly AnswerLogEntry[];
  readonly mask: (text: string) => string;
  readonly now: () => number;
  readonly findSession: (key: string) => Session | null;
  readonly onAskEnded?: (end: AskEnd) => void;
}

export interface AnswerRecorder {
  answered(answer: GivenAnswer): void;
  /** Records asks that ended without an answer through beckon. */
  onChange(change: SessionChange): void;
  shown(alert: Alert): void;
  /** Writes one entry per alert: later reasons for the same alert, and reasons after it was shown, are ignored. */
  notShown(key: string, reason: string): void;
  /** An alert was sent to a channel, or will not be sent. */
  delivered(key: string, isSent: boolean, outcome: string): void;
  /** Writes the outcomes that are still uncertain. */
  stop(): void;
}

const maxTextLength = 300;
const maxRecordedAlerts = 1_000;

export function createAnswerRecorder(options: AnswerRecorderOptions): AnswerRecorder {
  const { log, mask, now, findSession } = options;
  /** Keys of alerts that the log already has an entry for, oldest first, including entries of earlier runs. */
  let recorded: Set<string> | null = null;
  const loadRecorded = (): Set<string> => {
    recorded ??= new Set(
      options
        .readEntries()
        .slice(-maxRecordedAlerts)
        .flatMap(({ alert }) => (alert === undefined ? [] : [alert])),
    );
    return recorded;
  };

  function cleanText(value: string): string {
    return truncate(mask(value).replace(/\s+/g, " ").trim(), maxTextLength);
  }

  function add(
    session: Session,
    entry: Pick<AnswerLogEntry, "what" | "asked" | "outcome" | "by" | "alert">,
    at = now(),
  ): void {
    if (isProbe(session)) return;
    log.add({
      at,
      session: sessionKeyOf(session),
      project: projectOf(session),
      ...entry,
      asked: cleanText(entry.asked),
      outcome: cleanText(entry.outcome),
    });
  }

  function addAlert(
    session: Session,
    alert: string,
    entry: Pick<AnswerLogEntry, "what" | "asked" | "outcome">,
  ): void {
    const keys = loadRecorded();
    keys.delete(alert);
    keys.add(alert);
    forgetOldest(keys, maxRecordedAlerts);
    add(session, { ...entry, by: null, alert });
  }

  const outcomes = createAskOutcomes({
    now,
    onOutcome({ session, ask, outcome, how, isAbandoned, at }) {
      const by = isAbandoned ? null : "in the terminal";
      options.onAskEnded?.({ session, ask, how, where: isAbandoned ? null : "terminal", at });
      add(session, { what: "answered", asked: summarizeAsk(ask), outcome, by }, at);
    },
  });

  return {
    answered({ session, ask, answered, how, by }) {
      options.onAskEnded?.({ session, ask, how, where: whereOf(how, by), at: now() });
      add(session, {
        what: "answered",
        asked: summarizeAsk(ask),
        outcome: answered,
        by: cleanText(by),
      });
      // On disk before the user sees that the answer was accepted.
      log.flush();
    },
    onChange: outcomes.onChange,
    shown(alert) {
      const session = findSession(alert.session);
      if (!session) return;
      const asked = alert.covers ? alert.title : (describeAlert(session, alert.key) ?? alert.title);
      addAlert(session, alert.key, { what: "shown", asked, outcome: "alert shown" });
    },
    notShown(key, reason) {
      const session = findSession(sessionKeyOfAlert(key));
      if (!session || isProbeAlert(key)) return;
      // The reason often changes while an ask is open ("you are looking at it", "you have just looked at it").
      if (loadRecorded().has(key)) return;
      addAlert(session, key, {
        what: "not shown",
        asked: describeAlert(session, key) ?? "",
        outcome: reason,
      });
    },
    delivered(key, isSent, outcome) {
      const session = findSession(sessionKeyOfAlert(key));
      if (!session) return;
      const asked = describeAlert(session, key) ?? "";
      addAlert(session, key, { what: isSent ? "shown" : "not sent", asked, outcome });
    },
    stop: outcomes.stop,
  };
}

/** Where the user answered, as the history names it. */
function whereOf(how: AskEnding, by: string): string {
  if (how === "rule") return "rule";
  return by === "in the terminal" ? "terminal" : by;
}

/** What an alert is about, from the state, where secrets are masked; null if its ask is over. */
function describeAlert(session: Session, key: string): string | null {
  const { asks, stopped, ended, turn } = session;
  const ask = asks.find(({ id }) => key === createAskAlertKey(session, id));
  if (ask) return summarizeAsk(ask);
  if (ended && key === createDiedAlertKey(session, ended)) return statusTexts.died;
  if (!stopped || key !== createTurnEndAlertKey(session, stopped)) return null;
  return turn.error === null ? "turn finished" : `turn ${formatFailure(turn.error)}`;
}
