import { describe, expect, test } from "bun:test";
import { type AgentEvent, type Change, createInternalEvent } from "../../src/core/session/event.ts";
import { phaseOf, stateOf } from "../../src/core/session/phase.ts";
import { dayMs, hourMs, minuteMs } from "../../src/core/timing.ts";
import { createStore } from "../../src/state/store.ts";

const startedAt = 1_790_000_000_000;
const at = (ms: number) => ({ at: startedAt + ms, t: ms });
const retention = { completedMs: dayMs, completedMax: 200 };

let count = 0;
function event(sessionId: string, ms: number, change: Change, fields: Partial<AgentEvent> = {}): AgentEvent {
  return createInternalEvent(`event-${++count}`, at(ms), { agent: "claude", sessionId, ...fields }, change);
}
const prompt: Change = { kind: "prompt", text: "go", byMachine: false };
const stop: Change = { kind: "turn-end", error: null, lastResponse: null, background: null };
const end: Change = { kind: "session-end", reason: "other" };
const noChange: Change = { kind: "no-change" };

function createStoreWith(...ids: string[]) {
  const store = createStore();
  for (const id of ids) store.dispatch(event(id, 0, noChange));
  return store;
}

describe("a session is found", () => {
  const find = (store: ReturnType<typeof createStore>, name: string) =>
    store.find(name, at(0))?.sessionId ?? null;

  test("by its id, even if another id starts with it", () => {
    expect(find(createStoreWith("abc", "abcd"), "abc")).toBe("abc");
  });
  test("by a prefix of its id that no other id has, even if every key starts with it", () => {
    const store = createStoreWith("c1", "d1", "d2");
    expect(find(store, "c")).toBe("c1");
    expect(find(store, "d")).toBeNull();
    expect(find(store, "x")).toBeNull();
  });
  test("by its id in any case, and first by the exact spelling", () => {
    const store = createStoreWith("Ab-1", "ab-1", "CD-2");
    expect(find(store, "ab-1")).toBe("ab-1");
    expect(find(store, "Ab-1")).toBe("Ab-1");
    expect(find(store, "AB-1")).toBeNull();
    expect(find(store, "cd-2")).toBe("CD-2");
    expect(find(store, "c")).toBe("CD-2");
    expect(find(store, "Claude:cd")).toBe("CD-2");
  });
  test("by agent:id or a prefix of it", () => {
    const store = createStoreWith("c1", "d1");
    expect(find(store, "claude:c1")).toBe("c1");
    expect(find(store, "claude:d")).toBe("d1");
    expect(find(store, "claude:")).toBeNull();
    expect(find(store, "codex:c1")).toBeNull();
  });
  test("not by an id that two agents use", () => {
    const store = createStoreWith("same");
    store.dispatch(event("same", 0, noChange, { agent: "codex" }));
    expect(find(store, "same")).toBeNull();
    expect(store.find("codex:same", at(0))?.agent).toBe("codex");
  });
  test("by its project and machine, as status names it or as in a key", () => {
    const store = createStore();
    const cwd = "/home/dev/shop";
    store.dispatch(event("here", 0, noChange, { cwd }));
    const [here] = store.sessions(at(0));
    for (const machine of ["gpu", "devbox"])
      if (here) store.replace({ ...here, machine, sessionId: machine }, event(machine, 0, noChange));
    expect(
      ["shop", "shop on devbox", "gpu/shop", "shop on", "mac/shop"].map((name) => find(store, name)),
    ).toEqual([null, "devbox", "gpu", null, null]);
  });
  test("by its project, unless several live sessions are in it", () => {
    const store = createStore();
    const inProject = (id: string, project: string) => {
      store.dispatch({ ...event(id, 0, noChange), cwd: `/home/dev/${project}` });
    };
    inProject("a1", "shop");
    inProject("b1", "blog");
    expect(find(store, "shop")).toBe("a1");
    expect(find(store, "Shop")).toBeNull();
    inProject("a2", "shop");
    expect(find(store, "shop")).toBeNull();
    expect(store.findMatches("shop", at(0)).map(({ sessionId }) => sessionId)).toEqual(["a1", "a2"]);
    store.dispatch(event("a1", 1, end));
    expect(find(store, "shop")).toBe("a2");
    store.dispatch(event("b1", 1, end));
    expect(find(store, "blog")).toBe("b1");
  });
  test("not by a name that is a project and a prefix of another session's id", () => {
    const store = createStoreWith("shop-1");
    store.dispatch({ ...event("x", 0, noChange), cwd: "/home/dev/shop" });
    expect(find(store, "shop")).toBeNull();
    expect(find(store, "shop-")).toBe("shop-1");
  });
  test("by an id that contains a colon", () => {
    expect(find(createStoreWith("a:b", "c"), "a:b")).toBe("a:b");
  });
});

describe("as time passes", () => {
  test("a session is idle five minutes after its turn and stale eight hours after its last event", () => {
    const store = createStore();
    store.dispatch(event("s", 0, prompt));
    store.dispatch(event("s", minuteMs, stop));
    const state = (ms: number) => {
      const now = at(minuteMs + ms);
      return store.sessions(now).map((session) => [stateOf(session, now), phaseOf(session, now)]);
    };
    expect(state(5 * minuteMs - 1)).toEqual([["active", "interactable"]]);
    expect(state(5 * minuteMs)).toEqual([["idle", null]]);
    expect(state(8 * hourMs - 1)).toEqual([["idle", null]]);
    expect(state(8 * hourMs)).toEqual([["stale", null]]);
  });
});

describe("sessions are dropped", () => {
  const pruneAndList = (store: ReturnType<typeof createStore>, ms: number) => {
    store.prune(at(ms), retention);
    return store.sessions(at(ms)).map((session) => session.sessionId);
  };

  test("a day after their end", () => {
    const store = createStoreWith("runs");
    store.dispatch(event("ended", 0, end));
    store.dispatch(event("runs", dayMs, noChange));
    expect(pruneAndList(store, dayMs)).toEqual(["runs", "ended"]);
    expect(pruneAndList(store, dayMs + 1)).toEqual(["runs"]);
  });

  test("when 200 newer ones have ended too", () => {
    const store = createStoreWith("runs");
    for (let n = 0; n < 203; n++) store.dispatch(event(`s${n}`, n, end));
    const names = pruneAndList(store, hourMs);
    expect(names).toHaveLength(201);
    expect(names).toContain("runs");
    expect(names.filter((name) => ["s0", "s1", "s2"].includes(name))).toEqual([]);
  });

  test("a day after their last event, if their end could not be seen", () => {
    const place = { local: false, pid: 7, procStart: null, tty: null, terminalSessionId: null, env: {} };
    const store = createStore();
    store.dispatch(event("far", 0, noChange, { place }));
    store.dispatch(event("here", 0, noChange, { place: { ...place, local: true } }));
    expect(pruneAndList(store, dayMs)).toEqual(["far", "here"]);
    // The local process is watched, so it is still running.
    expect(pruneAndList(store, dayMs + 1)).toEqual(["here"]);
  });

  test("not while they wait for an answer, until a week has passed", () => {
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
    expect(pruneAndList(store, 3 * dayMs)).toEqual(["asks"]);
    // Its process cannot be watched, so it could be gone.
    expect(pruneAndList(store, 8 * dayMs)).toEqual([]);
  });
});

describe("listeners", () => {
  test("get the session before and after an event", () => {
    const store = createStore();
    const calls: unknown[] = [];
    store.subscribe((after, { name }, before) =>
      calls.push([name, before?.turn.running, after.turn.running]),
    );
    store.dispatch(event("s", 0, prompt));
    store.dispatch(event("s", 1_000, stop));
    expect(calls).toEqual([
      ["prompt", undefined, true],
      ["turn-end", true, false],
    ]);
  });

  test("are not called for an event that is known already", () => {
    const store = createStore();
    let calls = 0;
    store.subscribe(() => calls++);
    const same = event("s", 0, prompt);
    store.dispatch(same);
    store.dispatch(same);
    expect(calls).toBe(1);
  });

  test("that throw are logged, and the event and the other listeners are not affected", () => {
    const errors: string[] = [];
    const store = createStore((text) => errors.push(text));
    let calls = 0;
    store.subscribe(() => {
      throw new Error("no bell");
    });
    store.subscribe(() => calls++);
    store.dispatch(event("s", 0, prompt));
    expect(store.sessions(at(0))).toMatchObject([{ turn: { running: true } }]);
    expect(calls).toBe(1);
    expect(errors).toEqual(["prompt of s was applied, but a listener failed: Error: no bell"]);
  });
});
