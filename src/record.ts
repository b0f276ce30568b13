/** What beckon writes down of asks and alerts, for `beckon log`: who answered what, and what was not shown, and why. */
import { askKey, diedKey, keyOf, overKey } from "./core/alert-keys.ts";
import { wantOf } from "./core/ask-words.ts";
import type { AgentEvent } from "./core/event.ts";
import { doing, failedWith } from "./core/groups.ts";
import { isOfProbe, isProbe } from "./core/probe.ts";
import type { Session } from "./core/session.ts";
import { projectOf } from "./core/snapshot.ts";
import type { Alert } from "./core/view.ts";
import { createEnds } from "./ends.ts";
import type { Verdict } from "./held-words.ts";
import type { Decisions, Logged } from "./storage/decisions.ts";

export interface RecorderOptions {
  readonly decisions: Pick<Decisions, "add" | "flush">;
  /** What was written down before this start, the newest last. */
  readonly before: () => readonly Logged[];
  readonly mask: (text: string) => string;
  readonly now: () => number;
  readonly find: (key: string) => Session | null;
}

export interface Recorder {
  verdict(verdict: Verdict): void;
  /** Asks that ended without beckon's doing. */
  follow(after: Session, event: AgentEvent, before: Session | null): void;
  shown(alert: Alert): void;
  notShown(key: string, why: string): void;
  /** Writes down what it still waits to know better. */
  stop(): void;
}

const maxLength = 300;
const maxRemembered = 1_000;

export function createRecorder({ decisions, before, mask, now, find }: RecorderOptions): Recorder {
  let told: Map<string, string> | null = null;
  /** What the log says last of an alert: the app, started again, comes to the same end about it. */
  const toldBefore = (): Map<string, string> => {
    told ??= new Map(
      before()
        .slice(-maxRemembered)
        .flatMap(({ alert, outcome }) => (alert === undefined ? [] : [[alert, outcome] as const])),
    );
    return told;
  };

  const text = (value: string) => {
    const line = mask(value).replace(/\s+/g, " ").trim();
    return line.length > maxLength ? `${line.slice(0, maxLength)}…` : line;
  };

  function add(
    session: Session,
    entry: Pick<Logged, "what" | "asked" | "outcome" | "by" | "alert">,
    at = now(),
  ): void {
    if (isProbe(session)) return;
    const about = { at, session: keyOf(session), project: projectOf(session) };
    decisions.add({ ...about, ...entry, asked: text(entry.asked), outcome: text(entry.outcome) });
  }

  function addAlert(
    session: Session,
    alert: string,
    entry: Pick<Logged, "what" | "asked" | "outcome">,
  ): void {
    const said = toldBefore();
    said.delete(alert);
    said.set(alert, text(entry.outcome));
    const [oldest] = said.keys();
    if (said.size > maxRemembered && oldest !== undefined) said.delete(oldest);
    add(session, { ...entry, by: null, alert });
  }

  const ends = createEnds({
    now,
    onEnd({ session, ask, outcome, isLeft, at }) {
      const by = isLeft ? null : "in the terminal";
      add(session, { what: "answered", asked: wantOf(ask), outcome, by }, at);
    },
  });

  return {
    verdict({ session, ask, answered, by }) {
      add(session, { what: "answered", asked: wantOf(ask), outcome: answered, by: text(by) });
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
      if (!session || isOfProbe(key)) return;
      if (toldBefore().get(key) === text(why)) return;
      addAlert(session, key, { what: "not shown", asked: subjectOf(session, key) ?? "", outcome: why });
    },
    stop: ends.stop,
  };
}

/** What an alert is about, in the state's words, where secrets are masked; null: an ask that is over already. */
function subjectOf(session: Session, key: string): string | null {
  const { asks, stopped, ended, turn } = session;
  const ask = asks.find(({ id }) => key === askKey(session, id));
  if (ask) return wantOf(ask);
  if (ended && key === diedKey(session, ended)) return doing.died;
  if (!stopped || key !== overKey(session, stopped)) return null;
  return turn.error === null ? "turn finished" : `turn ${failedWith(turn.error)}`;
}
