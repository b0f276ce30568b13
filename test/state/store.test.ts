import { describe, expect, test } from "bun:test";
import { type AgentEvent, type Change, createInternalEvent } from "../../src/core/session/event.ts";
import { phaseOf, stateOf } from "../../src/core/session/phase.ts";
import { createStore } from "../../src/state/store.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const startedAt = 1_790_000_000_000;
const at = (ms: number) => ({ at: startedAt + ms, t: ms });
const retention = { completedMs: day, completedMax: 200 };

let count = 0;
function event(sessionId: string, ms: number, change: Change, more: Partial<AgentEvent> = {}): AgentEvent {
  return createInternalEvent(`event-${++count}`, at(ms), { agent: "claude", sessionId, ...more }, change);
}
const prompt: Change = { kind: "prompt", text: "go", byMachine: false };
const stop: Change = { kind: "turn-end", error: null, lastResponse: null, background: null };
const end: Change = { kind: "session-end", reason: "other" };
const note: Change = { kind: "no-change" };

function storeOf(...ids: string[]) {
  const store = createStore();
  for (const id of ids) store.dispatch(event(id, 0, note));
  return store;
}

describe("a session is found", () => {
  const found = (store: ReturnType<typeof createStore>, name: string) =>
    store.find(name, at(0))?.sessionId ?? null;

  test("by its id, also where it begins another's", () => {
    expect(found(storeOf("abc", "abcd"), "abc")).toBe("abc");
  });
  test("by a beginning that no other has, even one that every agent:id shares", () => {
    const store = storeOf("c1", "d1", "d2");
    expect(found(store, "c")).toBe("c1");
    expect(found(store, "d")).toBeNull();
    expect(found(store, "x")).toBeNull();
  });
  test("by its id in any case, and first by the very same spelling", () => {
    const store = storeOf("Ab-1", "ab-1", "CD-2");
    expect(found(store, "ab-1")).toBe("ab-1");
    expect(found(store, "Ab-1")).toBe("Ab-1");
    expect(found(store, "AB-1")).toBeNull();
    expect(found(store, "cd-2")).toBe("CD-2");
    expect(found(store, "c")).toBe("CD-2");
    expect(found(store, "Claude:cd")).toBe("CD-2");
  });
  test("by agent:id and its beginning", () => {
    const store = storeOf("c1", "d1");
    expect(found(store, "claude:c1")).toBe("c1");
    expect(found(store, "claude:d")).toBe("d1");
    expect(found(store, "claude:")).toBeNull();
    expect(found(store, "codex:c1")).toBeNull();
  });
  test("by no id that two agents use at once", () => {
    const store = storeOf("same");
    store.dispatch(event("same", 0, note, { agent: "codex" }));
    expect(found(store, "same")).toBeNull();
    expect(store.find("codex:same", at(0))?.agent).toBe("codex");
  });
  test("by its project, unless several live sessions are in it", () => {
    const store = createStore();
    const inProject = (id: string, project: string) => {
      store.dispatch({ ...event(id, 0, note), cwd: `/home/dev/${project}` });
    };
    inProject("a1", "shop");
    inProject("b1", "blog");
    expect(found(store, "shop")).toBe("a1");
    expect(found(store, "Shop")).toBeNull();
    inProject("a2", "shop");
    expect(found(store, "shop")).toBeNull();
    expect(store.findMatches("shop", at(0)).map(({ sessionId }) => sessionId)).toEqual(["a1", "a2"]);
    store.dispatch(event("a1", 1, end));
    expect(found(store, "shop")).toBe("a2");
    store.dispatch(event("b1", 1, end));
    expect(found(store, "blog")).toBe("b1");
  });
  test("by no name that is a project and the start of another session's id", () => {
    const store = storeOf("shop-1");
    store.dispatch({ ...event("x", 0, note), cwd: "/home/dev/shop" });
    expect(found(store, "shop")).toBeNull();
    expect(found(store, "shop-")).toBe("shop-1");
  });
  test("by an id that holds a colon", () => {
    expect(found(storeOf("a:b", "c"), "a:b")).toBe("a:b");
  });
});

describe("time", () => {
  test("five minutes after its turn a session is idle, eight hours after its last event stale", () => {
    const store = createStore();
    store.dispatch(event("s", 0, prompt));
    store.dispatch(event("s", minute, stop));
    const state = (ms: number) => {
      const now = at(minute + ms);
      return store.sessions(now).map((session) => [stateOf(session, now), phaseOf(session, now)]);
    };
    expect(state(5 * minute - 1)).toEqual([["active", "interactable"]]);
    expect(state(5 * minute)).toEqual([["idle", null]]);
    expect(state(8 * hour - 1)).toEqual([["idle", null]]);
    expect(state(8 * hour)).toEqual([["stale", null]]);
  });
});

describe("sessions leave the list", () => {
  const left = (store: ReturnType<typeof createStore>, ms: number) => {
    store.prune(at(ms), retention);
    return store.sessions(at(ms)).map((session) => session.sessionId);
  };

  test("a day after their end", () => {
    const store = storeOf("runs");
    store.dispatch(event("ended", 0, end));
    store.dispatch(event("runs", day, note));
    expect(left(store, day)).toEqual(["runs", "ended"]);
    expect(left(store, day + 1)).toEqual(["runs"]);
  });

  test("when 200 newer ones have ended too", () => {
    const store = storeOf("runs");
    for (let n = 0; n < 203; n++) store.dispatch(event(`s${n}`, n, end));
    const names = left(store, hour);
    expect(names).toHaveLength(201);
    expect(names).toContain("runs");
    expect(names.filter((name) => ["s0", "s1", "s2"].includes(name))).toEqual([]);
  });

  test("a day after the last word of one whose end nobody could see", () => {
    const place = { local: false, pid: 7, procStart: null, tty: null, terminalSessionId: null, env: {} };
    const store = createStore();
    store.dispatch(event("far", 0, note, { place }));
    store.dispatch(event("here", 0, note, { place: { ...place, local: true } }));
    expect(left(store, day)).toEqual(["far", "here"]);
    // Its process lives, or it would have been told to be gone.
    expect(left(store, day + 1)).toEqual(["here"]);
  });

  test("never while they ask or work", () => {
    const store = createStore();
    store.dispatch(
      event("asks", 0, {
        kind: "ask",
        ask: "permission",
        tool: "Bash",
        inputKey: "k",
        summary: "x",
        options: [],
      }),
    );
    expect(left(store, 3 * day)).toEqual(["asks"]);
    // Nobody can see whether there is still a process: a week without a word is enough.
    expect(left(store, 8 * day)).toEqual([]);
  });
});

describe("listeners", () => {
  test("hear what was and what is", () => {
    const store = createStore();
    const heard: unknown[] = [];
    store.subscribe((after, { name }, before) =>
      heard.push([name, before?.turn.running, after.turn.running]),
    );
    store.dispatch(event("s", 0, prompt));
    store.dispatch(event("s", 1_000, stop));
    expect(heard).toEqual([
      ["prompt", undefined, true],
      ["turn-end", true, false],
    ]);
  });

  test("hear nothing of an event that came before", () => {
    const store = createStore();
    let heard = 0;
    store.subscribe(() => heard++);
    const same = event("s", 0, prompt);
    store.dispatch(same);
    store.dispatch(same);
    expect(heard).toBe(1);
  });

  test("one that throws is a line in the log: the event counts, and the others hear of it", () => {
    const logged: string[] = [];
    const store = createStore((text) => logged.push(text));
    let heard = 0;
    store.subscribe(() => {
      throw new Error("no bell");
    });
    store.subscribe(() => heard++);
    store.dispatch(event("s", 0, prompt));
    expect(store.sessions(at(0))).toMatchObject([{ turn: { running: true } }]);
    expect(heard).toBe(1);
    expect(logged).toEqual(["prompt of s was applied, but a listener failed: Error: no bell"]);
  });
});
