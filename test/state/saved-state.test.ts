import { describe, expect, test } from "bun:test";
import { claude } from "../../src/agents/claude/index.ts";
import { openEnvelope } from "../../src/agents/envelope.ts";
import type { Session } from "../../src/core/session/session.ts";
import { hourMs, minuteMs } from "../../src/core/timing.ts";
import { decodeState, encodeState, type SavedState } from "../../src/state/saved-state.ts";
import { createStore } from "../../src/state/store.ts";
import type { SnapshotFile } from "../../src/storage/snapshot.ts";
import { viewSession } from "../core/view/session-view.ts";

const savedAt = 1_790_000_000_000;
const uptimeMs = 30 * hourMs;
/** The clock of this machine, `ms` after the save. */
const sameBoot = (ms = 0) => ({ at: savedAt + ms, t: uptimeMs + ms, boot: "boot-1", host: "boot-1/pid:[1]" });
/** The same machine after a reboot, up for a minute. */
const rebooted = (ms: number) => ({ at: savedAt + ms, t: minuteMs, boot: "boot-2", host: "boot-2/pid:[1]" });

let count = 0;
function createSession(
  id: string,
  ...events: [name: string, msBefore: number, fields?: Record<string, unknown>][]
): Session {
  const store = createStore();
  for (const [name, before, fields] of events) {
    const { at, t } = sameBoot(-before);
    const body = { session_id: id, hook_event_name: name, cwd: "/home/dev/proj", ...fields };
    const meta = {
      pid: 4_000,
      procStart: "77",
      tty: "/dev/pts/1",
      host: sameBoot().host,
      env: { TERM: "xterm" },
    };
    const hook = openEnvelope({ _meta: meta, payload: body }, "claude", sameBoot().host);
    const event = hook && claude.translate(hook, { at, t, id: `e-${++count}`, key: `k-${count}` });
    if (event) store.dispatch(event);
  }
  const [session] = store.sessions(sameBoot());
  if (!session) throw new Error("there is no session");
  return session;
}

const bash = { tool_name: "Bash", tool_input: { command: "touch x" } };
const asking = () =>
  createSession(
    "asks",
    ["UserPromptSubmit", 9_000, { prompt: "go" }],
    ["PreToolUse", 8_000, bash],
    ["PermissionRequest", 7_000, bash],
  );
const done = (ago: number) =>
  createSession("done", ["UserPromptSubmit", ago + 1_000, { prompt: "go" }], ["Stop", ago]);
const saveAll = (saved: Pick<SavedState, "sessions" | "eventWindows">): SnapshotFile =>
  JSON.parse(
    JSON.stringify(
      encodeState({ journal: { segment: "1", offset: 5 }, spool: ["a", 3], ...saved }, sameBoot()),
    ),
  );
const save = (...sessions: Session[]) => saveAll({ sessions, eventWindows: [] });

describe("a start without a reboot", () => {
  test("restores everything as it was", () => {
    const sessions = [asking(), done(minuteMs)];
    const restored = decodeState(save(...sessions), sameBoot(hourMs));
    expect(restored).toEqual({
      journal: { segment: "1", offset: 5 },
      spool: ["a", 3],
      sessions,
      eventWindows: [],
      dropped: 0,
    });
  });

  test("restores the last events too, but only unchanged, by the same version and on the same machine", () => {
    const eventWindows = [{ base: asking(), recent: [] }];
    const file = saveAll({ sessions: [], eventWindows: eventWindows });
    expect(decodeState(file, sameBoot(hourMs)).eventWindows).toEqual(eventWindows);
    const { text, sum } = file.lately as { text: string; sum: string };
    for (const lately of [
      { text: text.replace("asks", "aske"), sum },
      { text: "[", sum },
      { text, sum: "" },
      null,
      "",
    ]) {
      expect(decodeState({ ...file, lately }, sameBoot(hourMs)).eventWindows).toEqual([]);
    }
    expect(decodeState(file, rebooted(hourMs)).eventWindows).toEqual([]);
    expect(decodeState(file, { ...sameBoot(hourMs), host: "boot-1/pid:[2]" }).eventWindows).toEqual([]);
  });
});

describe("after a reboot", () => {
  const after = (session: Session, ms: number) => {
    const [restored] = decodeState(save(session), rebooted(ms)).sessions;
    if (!restored) throw new Error("the session is lost");
    return restored;
  };

  test("the stamps are before this boot, and keep their distances", () => {
    const before = asking();
    const restored = after(before, 10 * minuteMs);
    expect(restored.newest).toBe(minuteMs - 10 * minuteMs - 7_000);
    expect(restored.asks[0]?.t).toBe(restored.newest);
    expect(restored.last.t - restored.turn.t).toBe(before.last.t - before.turn.t);
    expect(restored.tools.map((call) => restored.newest - call.t)).toEqual([1_000]);
    expect(restored.last.at).toBe(before.last.at);
  });

  test("a new event comes after the saved ones, though the clock that orders events started again", () => {
    const store = createStore();
    store.restore([after(asking(), 10 * minuteMs)]);
    const now = rebooted(10 * minuteMs);
    const hook = openEnvelope({ session_id: "asks", hook_event_name: "Stop" }, "claude", null);
    const event = hook && claude.translate(hook, { at: now.at, t: now.t, id: "new", key: "new" });
    if (event) store.dispatch(event);
    expect(store.sessions(now).map((session) => viewSession(session, now))).toMatchObject([
      { activityPhase: "interactable", asks: [] },
    ]);
  });

  test.each([
    ["active", 4 * minuteMs - 1],
    ["idle", 4 * minuteMs],
    ["idle", 8 * hourMs - minuteMs - 1],
    ["stale", 8 * hourMs - minuteMs],
  ])("a session whose turn was over for a minute is %s %d ms after the save", (state, ms) => {
    expect(viewSession(after(done(minuteMs), ms), rebooted(ms)).state).toBe(state as "idle");
  });

  test("no stamp is in the future if the wall clock was set back", () => {
    expect(after(asking(), -hourMs).newest).toBeLessThanOrEqual(minuteMs);
  });
});

describe("a pid", () => {
  const isLocal = (file: SnapshotFile, now: ReturnType<typeof sameBoot>) =>
    decodeState(file, now).sessions.map((session) => session.place?.local);

  test("saved in another pid namespace of the same boot is not local", () => {
    expect(isLocal(save(asking()), sameBoot())).toEqual([true]);
    expect(isLocal(save(asking()), { ...sameBoot(), host: "boot-1/pid:[2]" })).toEqual([false]);
  });
  test("of an earlier boot of this machine is local, so its process is found gone", () => {
    expect(isLocal(save(asking()), rebooted(minuteMs))).toEqual([true]);
  });
});

/** Long lists are checked by a compiled schema. */
describe.each([1, 500])("of %d good sessions and some damaged ones", (count) => {
  const good: Session = JSON.parse(JSON.stringify(asking()));
  const load = (...more: unknown[]) =>
    decodeState(save(...([...Array(count).fill(good), ...more] as Session[])), sameBoot());

  test("the damaged ones are dropped and counted, and everything else is loaded", () => {
    const [ask] = good.asks;
    const damaged = [
      ...[null, 7, [], {}],
      { ...good, sessionId: 7 },
      { ...good, asks: null },
      { ...good, asks: [7] },
      { ...good, asks: [{ ...ask, kind: "unknown" }] },
      { ...good, asks: [{ ...ask, questions: "2" }] },
      { ...good, turn: null },
      { ...good, last: {} },
      { ...good, file: 1 },
      { ...good, place: {} },
      { ...good, place: { ...good.place, env: { TERM: 1 } } },
    ];
    const { sessions, dropped } = load(...damaged);
    expect(sessions).toEqual(Array(count).fill(good));
    expect(dropped).toBe(damaged.length);
  });

  test("a session of a version that did not save all fields is loaded with the values of a new one", () => {
    const { agent, sessionId, last } = good;
    const { sessions, dropped } = load({ agent, sessionId, last, asks: good.asks });
    expect(dropped).toBe(0);
    expect(sessions.at(-1)).toMatchObject({
      newest: last.t,
      asks: good.asks,
      tools: [],
      lastPrompt: null,
      turnCount: 0,
    });
  });

  test("fields that only a later version knows are kept", () => {
    const later = { ...good, colour: "blue", asks: [{ ...good.asks[0], urgency: 3 }] };
    expect(load(later).sessions.at(-1)).toEqual(later as Session);
  });
});

test("a list of sessions that is not a list counts as empty", () => {
  expect(decodeState({ ...save(), sessions: "none" }, sameBoot()).sessions).toEqual([]);
});
