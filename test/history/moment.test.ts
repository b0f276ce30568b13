/** A day that can be rewound: any moment shows what the list showed then. */
import { expect, test } from "bun:test";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import type { PastMoment } from "../../src/core/interfaces/wire.ts";
import { dayMs } from "../../src/core/timing.ts";
import type { SessionView } from "../../src/core/view/session-view.ts";
import { openDatabase } from "../../src/history/database.ts";
import { findMoment } from "../../src/history/queries/moment.ts";
import { pruneHistory } from "../../src/history/retention.ts";
import { createAppFixture, createAskEvent, createPromptEvent } from "../app-fixture.ts";
import { forEachTest } from "../for-each-test.ts";
import { chooseSeed, createRandom } from "../random.ts";
import { readRecordings } from "../replay/recording.ts";
import { waitUntil } from "../wait-until.ts";
import { writePastDays } from "./past-days.ts";

const fixture = forEachTest(createAppFixture);

const fetchMoment = async (at: number): Promise<PastMoment> =>
  (await fixture.request(`/api/moment?at=${at}`)).json() as Promise<PastMoment>;

/** Without what can be answered, which a moment of the past does not say. */
const withoutAnswers = (sessions: readonly SessionView[]): unknown[] =>
  sessions.map((session) => ({
    ...session,
    asks: session.asks.map(({ answerable, answerId, dangers, ...ask }) => ask),
  }));

interface LiveMoment {
  readonly at: number;
  readonly sessions: unknown[];
}

/** The list as it is now, with a time at which it was this. null if it changed meanwhile. */
async function readLive(pick: (from: number, to: number) => number): Promise<LiveMoment | null> {
  const sessions = withoutAnswers(await fixture.fetchSessions());
  const from = Date.now();
  await waitUntil(() => Date.now() > from + 2, 1_000);
  const to = Date.now();
  const again = withoutAnswers(await fixture.fetchSessions());
  return JSON.stringify(sessions) === JSON.stringify(again) ? { at: pick(from + 1, to), sessions } : null;
}

test("200 random moments of recorded sessions are shown as the list showed them, also before a restart", async () => {
  const random = createRandom(chooseSeed());
  await fixture.start();
  const recordings = readRecordings().filter(({ hasStatus }) => hasStatus);
  const live: LiveMoment[] = [];
  let rows = 0;
  for (let round = 0; live.length < 200; round++) {
    const { rows: recorded } = random.pick(recordings);
    const agent = fixture.startAgent();
    for (const row of recorded) {
      const rename = (id: unknown) => `${id}-${round}`;
      if (row.src === "hook" && row.payload) {
        const { session_id, transcript_path, ...payload } = row.payload;
        await fixture.postHook(
          { ...payload, session_id: rename(session_id) },
          { pid: agent.pid, procStart: agent.procStart, tty: "/dev/pts/7", env: row.env },
        );
      } else if (row.src === "session-file" && row.status) {
        const { status, waitingFor, sessionId } = row;
        fixture.writeStatus(agent.pid, { status, waitingFor, sessionId: rename(sessionId) });
      } else continue;
      if (++rows % 61 === 0) {
        const [session] = await fixture.fetchSessions();
        const key = `${session?.provider}:${session?.sessionId}`;
        await fixture.post({ on: random.chance(0.5) }, `/api/sessions/${encodeURIComponent(key)}/mute`);
      }
      const moment = await readLive(random.between);
      if (moment) live.push(moment);
      if (live.length === 120 && moment) {
        await fixture.stopApps();
        await fixture.start();
      }
    }
    agent.child.kill();
  }
  for (const { at, sessions } of live.sort(() => random.next() - 0.5).slice(0, 200)) {
    const moment = await fetchMoment(at);
    expect(moment.isKnown).toBe(true);
    expect(withoutAnswers(moment.sessions)).toEqual(sessions);
  }
}, 60_000);

test("a moment says how the asks that were open then have ended, and why there was no alert", async () => {
  await fixture.start();
  await fixture.postHook(createPromptEvent("s1"));
  await fixture.postHook(createAskEvent("s1"));
  const open = (await readLive((from) => from)) as LiveMoment;
  const [session] = await fixture.fetchSessions();
  const ask = session?.asks[0]?.id ?? "";
  const entry = {
    at: open.at,
    session: "claude:s1",
    project: "proj",
    what: "not shown",
    asked: "Bash: touch x",
  };
  const alert = { ...entry, outcome: "you are looking at it", by: null, alert: `claude:s1#${ask}` };
  appendFileSync(fixture.paths.answerLog, `${JSON.stringify(alert)}\n`, { mode: 0o600 });
  await fixture.postHook({ ...createAskEvent("s1"), hook_event_name: "PostToolUse", tool_use_id: "t1" });
  await waitUntil(async () => (await fetchMoment(open.at)).ends[0]?.how === "allowed", 5_000);
  const { ends, sessions, alerts, from } = await fetchMoment(open.at);
  expect(sessions[0]).toMatchObject({ group: "needs_you", asks: [{ tool: "Bash", answerable: false }] });
  expect(ends).toMatchObject([{ key: "claude:s1", ask, how: "allowed", where: "terminal", detail: null }]);
  expect(ends[0]?.closedAt).toBeGreaterThan(open.at);
  expect(alerts).toEqual([{ key: "claude:s1", ask, at: open.at, what: "not shown", outcome: alert.outcome }]);
  // Before everything that is kept, and after now, nothing is known.
  expect(await fetchMoment((from ?? 0) - 1_000)).toMatchObject({ isKnown: false, sessions: [] });
  expect(await fetchMoment(Date.now() + 60_000)).toMatchObject({ isKnown: false, sessions: [] });
  expect((await fixture.request("/api/moment?at=yesterday")).status).toBe(400);

  const readStatus = async (...args: string[]) => {
    const { out, err, code } = await fixture.runBeckon(["status", "--at", ...args]);
    return { text: out, error: err, code };
  };
  const shown = await readStatus(new Date(open.at).toISOString());
  expect(shown.text).toContain("Nothing here can be answered.");
  expect(shown.text).toMatch(
    /● 1 needed you[\s\S]*proj[\s\S]*Bash: touch x[\s\S]*Allowed at .* by you, in the terminal/,
  );
  expect(shown.text).toContain("No alert: you are looking at it");
  await fixture.stopApps();
  // The same from the files of a stopped beckon.
  expect((await readStatus(new Date(open.at).toISOString())).text).toBe(shown.text);
  expect(await readStatus("at tea time")).toMatchObject({ code: 2, text: "" });
});

test("a moment at which beckon did not run says so", async () => {
  await fixture.start();
  await fixture.postHook(createPromptEvent("s1"));
  await fetchMoment(Date.now());
  await fixture.stopApps();
  const stopped = Date.now();
  await waitUntil(() => Date.now() > stopped + 20, 1_000);
  await fixture.start();
  const moment = await fetchMoment(stopped + 10);
  expect(moment.stoppedAt).toBeLessThanOrEqual(stopped);
  expect(moment.sessions).toMatchObject([{ sessionId: "s1", group: "working" }]);
  await waitUntil(async () => (await fetchMoment(Date.now() - 1)).stoppedAt === undefined, 5_000);
});

test("moments of the last days are shown from blocks, and those before the retention are removed", async () => {
  const path = join(fixture.home, "history.db");
  const random = createRandom(chooseSeed());
  const to = Date.now();
  const { shown } = await writePastDays(path, { events: 4_000, days: 7, to, looks: 30, random });
  const db = openDatabase(path);
  try {
    const countBlocks = () =>
      db.query<{ n: number }, []>("SELECT count(*) AS n FROM past_blocks").get()?.n ?? 0;
    const blocks = countBlocks();
    expect(blocks).toBeGreaterThan(1);
    expect(shown.length).toBeGreaterThan(10);
    for (const { at, sessions } of shown)
      expect(findMoment(db, at, to).sessions).toEqual(JSON.parse(JSON.stringify(sessions)));
    pruneHistory(db, { days: 3, maxMb: 100 }, to, false);
    expect(countBlocks()).toBeLessThan(blocks);
    const { from } = findMoment(db, to, to);
    expect(from).toBeGreaterThan(to - 4 * dayMs);
    for (const { at, sessions } of shown.filter((moment) => moment.at > (from ?? to)))
      expect(findMoment(db, at, to).sessions).toEqual(JSON.parse(JSON.stringify(sessions)));
  } finally {
    db.close();
  }
}, 30_000);
