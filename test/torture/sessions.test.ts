import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { afterItAsked, briefOf, done, prompted, toolStarts, untilItAsks, waiting } from "./story.ts";
import { createWorld } from "./world.ts";

type Fields = Record<string, unknown>;

const wrongValues = [null, 7, "text", true, [], {}, [null], [7], [{}], { at: "x", t: null }];

/** Every field of a session, at every depth, with each wrong value and left out: one session for each. */
function spoiled(session: Fields): Fields[] {
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

/** A session that has one of everything. */
function tellEverything(id: string): object[] {
  const meta = {
    ...{ pid: 1, procStart: "1", tty: "/dev/pts/1", terminal_session_id: "t", env: { TERM: "xterm" } },
  };
  const more = [
    { ...prompted(id, ""), hook_event_name: "SubagentStart", agent_id: "a1", agent_type: "Explore" },
    { ...toolStarts(id, "ls -l", "toolu_2"), agent_id: "a1" },
  ];
  return [...untilItAsks(id, "ls"), ...more].map((payload) => ({ provider: "claude", _meta: meta, payload }));
}

test("sessions with wrong fields inside a good snapshot: the app runs, and the others are shown right", async () => {
  const world = await createWorld();
  try {
    const first = await world.start();
    for (const body of [...untilItAsks("good", "make"), ...tellEverything("rich")]) await world.post(body);
    await first.stop();
    const snapshot = JSON.parse(world.read("snapshot.json")) as { sessions: Fields[] };
    const rich = snapshot.sessions.find(({ sessionId }) => sessionId === "rich") ?? {};
    const wrong = [
      {
        ...rich,
        file: { status: "busy", waitingFor: null, at: 1, t: 1 },
        tokens: { input: 1, output: 2, cached: 3 },
      },
      { ...rich, beforeCompact: { running: true, detail: null } },
      { ...rich, ended: { reason: "other", whileBusy: false, at: 1, t: 1 } },
    ]
      .flatMap(spoiled)
      .map((session, n) =>
        "rich" === session.sessionId ? { ...session, sessionId: `wrong-${n}` } : session,
      );
    const sessions = [...wrong, ...snapshot.sessions];
    writeFileSync(world.inHome("snapshot.json"), JSON.stringify({ ...snapshot, sessions }));
    console.log(`snapshot: ${wrong.length} sessions with a wrong field`);
    expect(wrong.length).toBeGreaterThan(1_000);

    // Not running, it shows the snapshot itself.
    expect(briefOf(await world.status(), "good")).toEqual(waiting("make"));
    const app = await world.start();
    const shown = await world.status();
    expect(briefOf(shown, "good")).toEqual(waiting("make"));
    expect(briefOf(shown, "rich")).toMatchObject({ phase: "waiting_permission" });
    expect(world.log()).toContain("sessions that make no sense");
    expect(await world.beckon(["status"])).toMatchObject({ code: 0, stderr: "" });
    for (const { sessionId } of shown) {
      if (sessionId === "good") continue;
      for (const body of [prompted(sessionId, "x"), ...afterItAsked(sessionId, "ls", "x")]) {
        expect((await world.post(body)).status).toBe(200);
      }
    }
    for (const body of afterItAsked("good", "make", "made")) await world.post(body);
    expect(briefOf(await world.status(), "good")).toEqual(done("make", "made"));
    expect(world.log()).not.toMatch(/could not|failed/);
    expect(await app.stop()).toBe(0);
  } finally {
    await world.destroy();
  }
}, 60_000);
