/** Days of recorded sessions in virtual time, written as the history's thread writes them, with what the list showed at some moments. */
import { loadAgents } from "../../src/agents/index.ts";
import { defaultConfig } from "../../src/core/config/config.ts";
import { noPreferences } from "../../src/core/config/preferences.ts";
import { type AgentEvent, createInternalEvent } from "../../src/core/session/event.ts";
import { dayMs, hourMs, minuteMs } from "../../src/core/timing.ts";
import { createSessionView, type SessionView } from "../../src/core/view/session-view.ts";
import { openDatabase } from "../../src/history/database.ts";
import { createPastRecords } from "../../src/history/past-records.ts";
import { createPastContext } from "../../src/history/past-state.ts";
import { createRecorder } from "../../src/history/recorder/index.ts";
import { createStore } from "../../src/state/store.ts";
import { formatLocalTime } from "../../src/system/clock.ts";
import type { Random } from "../random.ts";
import { readRecordings } from "../replay/recording.ts";
import { createInputs } from "../replay/replay.ts";

export interface PastDays {
  readonly from: number;
  readonly to: number;
  readonly shown: readonly { readonly at: number; readonly sessions: readonly SessionView[] }[];
}

/** How often the app sends what has changed. */
const writeMs = 500;

interface PastDaysOptions {
  readonly events: number;
  readonly days: number;
  readonly to: number;
  /** At how many moments what the list shows is kept. */
  readonly looks: number;
  readonly random: Random;
}

export async function writePastDays(path: string, options: PastDaysOptions): Promise<PastDays> {
  const { random, to } = options;
  const from = to - options.days * dayMs;
  const inputs = planInputs(from, options);
  const db = openDatabase(path);
  const recorder = createRecorder(db, {
    agents: await loadAgents(),
    defaultProvider: "claude",
    onError(text) {
      throw new Error(text);
    },
  });
  const store = createStore();
  let at = from;
  const clock = () => ({ at, t: at - from, boot: null, host: null });
  const context = createPastContext(noPreferences, defaultConfig);
  const past = createPastRecords({
    clock,
    sessions: () => store.sessions(clock()),
    get: store.get,
    context: () => context,
  });
  past.startOver();
  store.subscribe(past.onChange);
  const looks = new Set(Array.from({ length: options.looks }, () => random.between(1, inputs.length)));
  const shown: { at: number; sessions: SessionView[] }[] = [];
  const view = { ...context, formatTime: formatLocalTime };
  let [writtenAt, prunedAt] = [from, from];
  db.run("BEGIN");
  inputs.forEach(({ arrives, event }, index) => {
    if (looks.has(index) && arrives > at + 1) {
      // Some time after the event before: by then it may have settled.
      at = random.between(at + 1, arrives);
      const now = clock();
      shown.push({
        at,
        sessions: store.sessions(now).map((session) => createSessionView(session, now, view)),
      });
    }
    at = Math.max(at, arrives);
    store.dispatch(event);
    if (at - prunedAt > hourMs) {
      prunedAt = at;
      const { completedHours, completedMax } = defaultConfig.keep;
      for (const key of store.prune(clock(), { completedMs: completedHours * hourMs, completedMax }))
        past.onDeparted(key);
    }
    if (at - writtenAt < writeMs) return;
    writtenAt = at;
    recorder.addPast(past.take());
  });
  recorder.addPast(past.take());
  db.run("COMMIT");
  recorder.close();
  db.close();
  return { from, to, shown };
}

/** Recorded sessions one after the other and at the same time, as many as it takes, spread over the days. */
function planInputs(from: number, { events, to, random }: PastDaysOptions) {
  const recordings = readRecordings().map((recording) => createInputs(recording, {}));
  const inputs: ReturnType<typeof createInputs> = [];
  for (let round = 0; inputs.length < events; round++) {
    const startMs = random.between(0, to - from - 60 * minuteMs);
    const recorded = random.pick(recordings);
    const add = (arrives: number, event: AgentEvent) => {
      const t = startMs + event.t;
      const sessionId = `${event.sessionId}-${round}`;
      const id = `${round}-${event.id}`;
      inputs.push({ arrives: from + startMs + arrives, event: { ...event, id, sessionId, at: from + t, t } });
    };
    for (const { arrives, event } of recorded) add(arrives, event);
    // Most recordings stop before the session has ended, and a user has some dozen at a time.
    for (const [sessionId, [last]] of Map.groupBy(recorded.toReversed(), ({ event }) => event.sessionId)) {
      if (!last) continue;
      const when = { at: 0, t: last.event.t + 30 * minuteMs };
      const about = { agent: last.event.agent, sessionId };
      add(
        when.t,
        createInternalEvent(`${last.event.id}-gone`, when, about, { kind: "gone", why: "process" }),
      );
    }
  }
  return inputs.sort((a, b) => a.arrives - b.arrives).slice(0, events);
}
