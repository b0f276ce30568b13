import { describe, expect, test } from "bun:test";
import { claude } from "../../src/agents/claude/index.ts";
import { openEnvelope } from "../../src/agents/envelope.ts";
import type { Ask, Session } from "../../src/core/session/session.ts";
import { decodeState, encodeState, type SavedState } from "../../src/state/saved-state.ts";
import { createStore } from "../../src/state/store.ts";
import type { SnapshotFile } from "../../src/storage/snapshot.ts";
import { takeSnapshot } from "../core/view/snapshot.ts";

const minute = 60_000;
const hour = 60 * minute;
const savedAt = 1_790_000_000_000;
const upFor = 30 * hour;
/** This machine, `ms` after the save. */
const here = (ms = 0) => ({ at: savedAt + ms, t: upFor + ms, boot: "boot-1", host: "boot-1/pid:[1]" });
/** The same, rebooted: up for a minute. */
const rebooted = (ms: number) => ({ at: savedAt + ms, t: minute, boot: "boot-2", host: "boot-2/pid:[1]" });

let count = 0;
function told(
  id: string,
  ...events: [name: string, msBefore: number, fields?: Record<string, unknown>][]
): Session {
  const store = createStore();
  for (const [name, before, fields] of events) {
    const { at, t } = here(-before);
    const body = { session_id: id, hook_event_name: name, cwd: "/home/dev/proj", ...fields };
    const meta = {
      pid: 4_000,
      procStart: "77",
      tty: "/dev/pts/1",
      host: here().host,
      env: { TERM: "xterm" },
    };
    const hook = openEnvelope({ _meta: meta, payload: body }, "claude", here().host);
    const event = hook && claude.translate(hook, { at, t, id: `e-${++count}`, key: `k-${count}` });
    if (event) store.dispatch(event);
  }
  const [session] = store.sessions(here());
  if (!session) throw new Error("nothing was told");
  return session;
}

const bash = { tool_name: "Bash", tool_input: { command: "touch x" } };
const asking = () =>
  told(
    "asks",
    ["UserPromptSubmit", 9_000, { prompt: "go" }],
    ["PreToolUse", 8_000, bash],
    ["PermissionRequest", 7_000, bash],
  );
const done = (ago: number) =>
  told("done", ["UserPromptSubmit", ago + 1_000, { prompt: "go" }], ["Stop", ago]);
const saveAll = (saved: Pick<SavedState, "sessions" | "eventWindows">): SnapshotFile =>
  JSON.parse(
    JSON.stringify(encodeState({ journal: { segment: "1", offset: 5 }, spool: ["a", 3], ...saved }, here())),
  );
const save = (...sessions: Session[]) => saveAll({ sessions, eventWindows: [] });

describe("a start without a reboot", () => {
  test("gives back everything as it was", () => {
    const sessions = [asking(), done(minute)];
    const back = decodeState(save(...sessions), here(hour));
    expect(back).toEqual({
      journal: { segment: "1", offset: 5 },
      spool: ["a", 3],
      sessions,
      eventWindows: [],
      dropped: 0,
    });
  });

  test("gives back the last events too, but only as they were written, by this version and on this machine", () => {
    const tellings = [{ base: asking(), recent: [] }];
    const file = saveAll({ sessions: [], eventWindows: tellings });
    expect(decodeState(file, here(hour)).eventWindows).toEqual(tellings);
    const { text, sum } = file.lately as { text: string; sum: string };
    for (const lately of [
      { text: text.replace("asks", "aske"), sum },
      { text: "[", sum },
      { text, sum: "" },
      null,
      "",
    ]) {
      expect(decodeState({ ...file, lately }, here(hour)).eventWindows).toEqual([]);
    }
    expect(decodeState(file, rebooted(hour)).eventWindows).toEqual([]);
    expect(decodeState(file, { ...here(hour), host: "boot-1/pid:[2]" }).eventWindows).toEqual([]);
  });
});

describe("after a reboot", () => {
  const after = (session: Session, ms: number) => {
    const [back] = decodeState(save(session), rebooted(ms)).sessions;
    if (!back) throw new Error("lost");
    return back;
  };

  test("the stamps are those of an earlier boot: before everything, as far apart as they were", () => {
    const before = asking();
    const back = after(before, 10 * minute);
    expect(back.newest).toBe(minute - 10 * minute - 7_000);
    expect(back.asks[0]?.t).toBe(back.newest);
    expect(back.last.t - back.turn.t).toBe(before.last.t - before.turn.t);
    expect(back.tools.map((call) => back.newest - call.t)).toEqual([1_000]);
    expect(back.last.at).toBe(before.last.at);
  });

  test("what happens now comes after what was, though the clock that orders events began anew", () => {
    const store = createStore();
    store.restore([after(asking(), 10 * minute)]);
    const now = rebooted(10 * minute);
    const hook = openEnvelope({ session_id: "asks", hook_event_name: "Stop" }, "claude", null);
    const event = hook && claude.translate(hook, { at: now.at, t: now.t, id: "new", key: "new" });
    if (event) store.dispatch(event);
    expect(store.sessions(now).map((session) => takeSnapshot(session, now))).toMatchObject([
      { activityPhase: "interactable", asks: [] },
    ]);
  });

  test.each([
    ["active", 4 * minute - 1],
    ["idle", 4 * minute],
    ["idle", 8 * hour - minute - 1],
    ["stale", 8 * hour - minute],
  ])("a turn over for a minute when it was saved is %s %d ms later", (state, ms) => {
    expect(takeSnapshot(after(done(minute), ms), rebooted(ms)).state).toBe(state as "idle");
  });

  test("a wall clock set back meanwhile puts nothing into the future", () => {
    expect(after(asking(), -hour).newest).toBeLessThanOrEqual(minute);
  });
});

describe("a pid", () => {
  const isLocal = (file: SnapshotFile, now: ReturnType<typeof here>) =>
    decodeState(file, now).sessions.map((session) => session.place?.local);

  test("saved in another pid namespace of the same boot is none of ours", () => {
    expect(isLocal(save(asking()), here())).toEqual([true]);
    expect(isLocal(save(asking()), { ...here(), host: "boot-1/pid:[2]" })).toEqual([false]);
  });
  test("of an earlier boot of this machine is: its process is gone, and that shows", () => {
    expect(isLocal(save(asking()), rebooted(minute))).toEqual([true]);
  });
});

/** Long lists are checked by a compiled schema. */
describe.each([1, 500])("of %d good sessions and some damaged ones", (count) => {
  const good: Session = JSON.parse(JSON.stringify(asking()));
  const load = (...more: unknown[]) =>
    decodeState(save(...([...Array(count).fill(good), ...more] as Session[])), here());

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
    const { request, ...olderAsk } = good.asks[0] as Ask;
    const { sessions, dropped } = load({ agent, sessionId, last, asks: [olderAsk] });
    expect(dropped).toBe(0);
    expect(sessions.at(-1)).toMatchObject({
      newest: last.t,
      asks: [{ ...olderAsk, request: null }],
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
  expect(decodeState({ ...save(), sessions: "none" }, here()).sessions).toEqual([]);
});
