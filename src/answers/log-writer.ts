/** Writes the answer log: who answered what and where, which alerts were shown, and why others were not. */
import { forgetOldest } from "../core/forget-oldest.ts";
import type { AskEnd, SessionChange } from "../core/interfaces/index.ts";
import { isLimitAlertKey, sessionKeyOfAlert } from "../core/session/keys.ts";
import { isProbe, isProbeAlert } from "../core/session/probe.ts";
import type { Session } from "../core/session/session.ts";
import { truncate } from "../core/text/truncate.ts";
import type { Alert } from "../core/view/view.ts";
import {
  type AnswerLogEntry,
  createAlertEntry,
  createAnswerEntry,
  createPromptEntry,
  describeAlert,
} from "../streams/answer-log-entry.ts";
import { createAskOutcomes } from "./ask-outcomes.ts";
import type { AnswerLog } from "./log.ts";
import type { GivenAnswer } from "./pending-request.ts";

export interface AnswerLogWriterOptions {
  readonly log: Pick<AnswerLog, "add" | "flush">;
  /** The entries of earlier runs, from the oldest to the newest. */
  readonly readEntries: () => readonly AnswerLogEntry[];
  readonly mask: (text: string) => string;
  readonly now: () => number;
  readonly findSession: (key: string) => Session | null;
  readonly onAskEnded?: (end: AskEnd) => void;
}

export interface SentPrompt {
  /** The session's key. */
  readonly session: string;
  readonly text: string;
  readonly state: string;
  readonly why: string | null;
  readonly by: string;
}

export interface AnswerLogWriter {
  answered(answer: GivenAnswer): void;
  /** Records asks that ended without an answer through beckon. */
  onChange(change: SessionChange): void;
  shown(alert: Alert): void;
  /** Writes one entry per alert: later reasons for the same alert, and reasons after it was shown, are ignored. */
  notShown(key: string, reason: string): void;
  /** An alert was sent to a channel, or will not be sent. */
  delivered(key: string, isSent: boolean, outcome: string): void;
  /** A prompt that was sent through beckon was delivered, or not taken. */
  prompted(prompt: SentPrompt): void;
  /** Writes the outcomes that are still uncertain. */
  stop(): void;
}

const maxTextLength = 300;
const maxRecordedAlerts = 1_000;

export function createAnswerLogWriter(options: AnswerLogWriterOptions): AnswerLogWriter {
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

  function toMaskedLine(value: string): string {
    return truncate(mask(value).replace(/\s+/g, " ").trim(), maxTextLength);
  }

  function addAlert(
    session: Session,
    alert: string,
    what: AnswerLogEntry["what"],
    asked: string,
    outcome: string,
  ): void {
    const keys = loadRecorded();
    keys.delete(alert);
    keys.add(alert);
    forgetOldest(keys, maxRecordedAlerts);
    const entry = { at: now(), what, asked, outcome, alert };
    if (!isProbe(session)) log.add(createAlertEntry(session, entry, toMaskedLine));
  }

  function addEnd(end: AskEnd): void {
    options.onAskEnded?.(end);
    if (!isProbe(end.session)) log.add(createAnswerEntry(end, toMaskedLine));
  }

  const outcomes = createAskOutcomes({ now, onOutcome: addEnd });

  return {
    answered(given) {
      addEnd({ ...given, at: now() });
      // On disk before the user sees that the answer was accepted.
      log.flush();
    },
    prompted({ session: key, text, state, why, by }) {
      const session = findSession(key);
      const outcome = why === null ? state : `${state}: ${why}`;
      if (session) log.add(createPromptEntry(session, { at: now(), asked: text, outcome, by }, toMaskedLine));
      log.flush();
    },
    onChange: outcomes.onChange,
    shown(alert) {
      const session = findSession(alert.session);
      if (!session) return;
      const hasOwnTitle = alert.covers !== undefined || isLimitAlertKey(alert.key);
      const asked = hasOwnTitle ? alert.title : (describeAlert(session, alert.key) ?? alert.title);
      addAlert(session, alert.key, "shown", asked, "alert shown");
    },
    notShown(key, reason) {
      const session = findSession(sessionKeyOfAlert(key));
      if (!session || isProbeAlert(key)) return;
      // The reason often changes while an ask is open ("you are looking at it", "you have just looked at it").
      if (loadRecorded().has(key)) return;
      addAlert(session, key, "not shown", describeAlert(session, key) ?? "", reason);
    },
    delivered(key, isSent, outcome) {
      const session = findSession(sessionKeyOfAlert(key));
      if (!session) return;
      addAlert(session, key, isSent ? "shown" : "not sent", describeAlert(session, key) ?? "", outcome);
    },
    stop: outcomes.stop,
  };
}
