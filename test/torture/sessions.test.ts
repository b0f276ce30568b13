import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { createFixture } from "./fixture.ts";
import {
  doneSummary,
  eventsAfterAsk,
  eventsUntilAsk,
  prompted,
  summarizeSession,
  toolStarted,
  waitingSummary,
} from "./scenario.ts";

type Fields = Record<string, unknown>;

const wrongValues = [null, 7, "text", true, [], {}, [null], [7], [{}], { at: "x", t: null }];

/** One session for each field at every depth, without it and with each wrong value. */
function createDamagedSessions(session: Fields): Fields[] {
  const sessions: Fields[] = [];
  const visit = (holder: Fields, replace: (changed: Fields) => Fields) => {
    for (const [name, value] of Object.entries(holder)) {
      for (const wrong of wrongValues) sessions.push(replace({ ...holder, [name]: wrong }));
      const { [name]: _, ...without } = holder;
      sessions.push(replace(without));
      const inner = Array.isArray(value) ? value[0] : value;
      if (typeof inner !== "object" || inner === null) continue;
      const wrap = (changed: Fields) => (Array.isArray(value) ? [changed] : changed);
      visit(inner as Fields, (changed) => replace({ ...holder, [name]: wrap(changed) }));
    }
  };
  visit(session, (changed) => changed);
  return sessions;
}

/** The events of a session with every kind of content. */
function createRichSession(id: string): object[] {
  const meta = {
    ...{ pid: 1, procStart: "1", tty: "/dev/pts/1", terminal_session_id: "t", env: { TERM: "xterm" } },
  };
  const more = [
    { ...prompted(id, ""), hook_event_name: "SubagentStart", agent_id: "a1", agent_type: "Explore" },
    { ...toolStarted(id, "ls -l", "toolu_2"), agent_id: "a1" },
  ];
  return [...eventsUntilAsk(id, "ls"), ...more].map((payload) => ({
    provider: "claude",
    _meta: meta,
    payload,
  }));
}

test("sessions with wrong fields in a good snapshot are dropped, and the others are right", async () => {
  const fixture = await createFixture();
  try {
    const first = await fixture.start();
    for (const body of [...eventsUntilAsk("good", "make"), ...createRichSession("rich")])
      await fixture.post(body);
    await first.stop();
    const snapshot = JSON.parse(fixture.read("snapshot.json")) as { sessions: Fields[] };
    const rich = snapshot.sessions.find(({ sessionId }) => sessionId === "rich") ?? {};
    const wrong = [
      {
        ...rich,
        file: { status: "busy", waitingFor: null, at: 1, t: 1 },
        usage: { tokens: { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 }, costMicros: 5 },
        context: { used: 1, window: null },
      },
      { ...rich, beforeCompact: { running: true, detail: null } },
      { ...rich, ended: { reason: "other", whileBusy: false, at: 1, t: 1 } },
    ]
      .flatMap(createDamagedSessions)
      .map((session, n) =>
        "rich" === session.sessionId ? { ...session, sessionId: `wrong-${n}` } : session,
      );
    const sessions = [...wrong, ...snapshot.sessions];
    writeFileSync(fixture.inHome("snapshot.json"), JSON.stringify({ ...snapshot, sessions }));
    console.log(`snapshot: ${wrong.length} sessions with a wrong field`);
    expect(wrong.length).toBeGreaterThan(1_000);

    // While the app is down, the status comes from the snapshot.
    expect(summarizeSession(await fixture.status(), "good")).toEqual(waitingSummary("make"));
    const app = await fixture.start();
    const shown = await fixture.status();
    expect(summarizeSession(shown, "good")).toEqual(waitingSummary("make"));
    expect(summarizeSession(shown, "rich")).toMatchObject({ phase: "waiting_permission" });
    expect(fixture.log()).toContain("damaged sessions of the snapshot");
    expect(await fixture.beckon(["status"])).toMatchObject({ code: 0, stderr: "" });
    for (const { sessionId } of shown) {
      if (sessionId === "good") continue;
      for (const body of [prompted(sessionId, "x"), ...eventsAfterAsk(sessionId, "ls", "x")]) {
        expect((await fixture.post(body)).status).toBe(200);
      }
    }
    for (const body of eventsAfterAsk("good", "make", "made")) await fixture.post(body);
    expect(summarizeSession(await fixture.status(), "good")).toEqual(doneSummary("make", "made"));
    expect(fixture.log()).not.toMatch(/could not|failed/);
    expect(await app.stop()).toBe(0);
  } finally {
    await fixture.destroy();
  }
}, 60_000);
