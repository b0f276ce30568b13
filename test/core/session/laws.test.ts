/** Laws that hold for any sequence of any events, in any order of arrival. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { AgentEvent, Change } from "../../../src/core/session/event.ts";
import { type EventWindow, reduce } from "../../../src/core/session/reduce.ts";
import type { SessionView } from "../../../src/core/view/session-view.ts";
import { viewSession } from "../view/session-view.ts";

const startedAt = 1_790_000_000_000;
const agentIds = [null, null, "a1", "a2"];
const toolUseIds = [null, "t1", "t2", "t3"];
const tools = ["Bash", "Write", "mcp__fake__ask"];
const oneOf = <T>(values: readonly T[]) => fc.constantFrom(...values);

const spec = { name: "spec", args: "a.md", triggerCommand: "/spec a.md", targetDocPath: "a.md" };

const changes: fc.Arbitrary<Change> = fc.oneof(
  fc.record({
    kind: fc.constant("session-start" as const),
    source: oneOf(["startup", "resume", "compact", "odd"]),
    model: oneOf([null, "m"]),
  }),
  fc.record({ kind: fc.constant("session-end" as const), reason: oneOf([null, "other"]) }),
  fc.record({
    kind: fc.constant("prompt" as const),
    text: fc.string({ maxLength: 5 }),
    byMachine: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("tool-start" as const),
    tool: oneOf(tools),
    toolUseId: oneOf(toolUseIds),
    inputKey: oneOf(["k1", "k2"]),
    summary: fc.constant("do it"),
    skill: oneOf([null, spec]),
  }),
  fc.record({
    kind: fc.constant("tool-end" as const),
    tool: oneOf(tools),
    toolUseId: oneOf(toolUseIds),
    outcome: oneOf(["ok", "failed", "denied"] as const),
    skill: oneOf([null, spec]),
  }),
  fc.record({
    kind: fc.constant("task" as const),
    task: fc.record({
      id: oneOf([null, "1", "2"]),
      status: oneOf(["pending", "in_progress", "completed", "deleted"] as const),
    }),
  }),
  fc.constant({ kind: "tool-batch-end" } as const),
  fc.record({
    kind: fc.constant("ask" as const),
    ask: oneOf(["permission", "question", "plan", "elicitation"] as const),
    tool: oneOf([...tools, null]),
    inputKey: oneOf(["k1", "k2", "fake", null]),
    summary: fc.constant("may I"),
    options: fc.constant([]),
  }),
  fc.record({ kind: fc.constant("ask-answered" as const), request: oneOf(["e1", "e2", "e3"]) }),
  fc.constant({ kind: "turn-start" } as const),
  fc.record({
    kind: fc.constant("ask-ended" as const),
    inputKey: oneOf(["k1", "k2", null]),
    outcome: oneOf(["allowed", "denied", "replied", null] as const),
  }),
  fc.record({ kind: fc.constant("elicitation-end" as const), server: oneOf([null, "fake"]) }),
  fc.record({
    kind: fc.constant("reminder" as const),
    ask: oneOf(["permission", "elicitation", "idle"] as const),
    text: fc.constant("hey"),
  }),
  fc.record({
    kind: fc.constant("turn-end" as const),
    error: oneOf([null, "rate_limit"]),
    lastResponse: oneOf([null, "done"]),
    background: fc.option(
      fc.array(
        fc.record({
          id: oneOf(["a1", "a2", "b1"]),
          type: oneOf(["subagent", "shell"]),
          running: fc.boolean(),
          description: oneOf([null, "x"]),
        }),
        { maxLength: 3 },
      ),
    ),
  }),
  fc.record({ kind: fc.constant("child-start" as const), type: fc.constant("Explore") }),
  fc.constant({ kind: "child-end", transcriptPath: null } as const),
  fc.constant({ kind: "compact-start" } as const),
  fc.constant({ kind: "compact-end" } as const),
  fc.constant({ kind: "setup" } as const),
  fc.constant({ kind: "interrupted" } as const),
  fc.record({
    kind: fc.constant("status" as const),
    status: oneOf(["idle", "busy", "waiting", "shell"] as const),
    waitingFor: oneOf([null, "permission", "question", "dialog"] as const),
    title: oneOf([null, "T"]),
  }),
  fc.record({ kind: fc.constant("gone" as const), why: oneOf(["process", "file"] as const) }),
  fc.record({ kind: fc.constant("enriched" as const), with: fc.constant({ turnCount: 3 }) }),
  fc.record({
    kind: fc.constant("enriched" as const),
    with: fc.record({ approvals: oneOf(["user", "model"] as const) }),
  }),
  fc.constant({ kind: "located", place: null } as const),
  fc.constant({ kind: "status-lost" } as const),
  fc.constant({ kind: "no-change" } as const),
);

const events: fc.Arbitrary<AgentEvent[]> = fc
  .array(
    fc.record({
      change: changes,
      agentId: oneOf(agentIds),
      after: fc.integer({ min: 1, max: 2_000 }),
      promptId: oneOf([null, "p1", "p2"]),
    }),
    { maxLength: 50 },
  )
  .map((list) => {
    let t = 0;
    return list.map(({ change, agentId, after, promptId }, index) => {
      t += after;
      return {
        id: `e${index}`,
        at: startedAt + t,
        t,
        agent: "claude",
        sessionId: "s",
        agentId,
        agentType: agentId && "Explore",
        agentName: null,
        name: change.kind,
        promptId,
        cwd: "/p",
        project: null,
        transcriptPath: null,
        place: null,
        attended: null,
        permissionMode: null,
        payloadKey: `k${index}`,
        change,
      };
    });
  });

interface Arrival {
  readonly event: AgentEvent;
  readonly arrives: number;
}

function replay(arrivals: readonly Arrival[], check?: (view: SessionView) => void): SessionView | null {
  let window: EventWindow | undefined;
  for (const { event, arrives } of arrivals) {
    window = reduce(window, event);
    check?.(viewSession(window.session, { at: startedAt + arrives, t: arrives }));
  }
  const end = 10_000_000;
  return window ? viewSession(window.session, { at: startedAt + end, t: end }) : null;
}

const onTime = (list: readonly AgentEvent[]): Arrival[] => list.map((event) => ({ event, arrives: event.t }));

function checkInvariants(view: SessionView): void {
  const running = new Set(
    view.children.filter((child) => child.state === "running").map((child) => child.agentId),
  );
  if (view.state !== "active") expect(view.activityPhase).toBeNull();
  if (view.state === "active") expect(view.activityPhase).not.toBeNull();
  if (view.state === "completed") {
    expect(view.asks).toEqual([]);
    expect(running.size).toBe(0);
  }
  for (const ask of view.asks) if (ask.agentId !== null) expect(running).toContain(ask.agentId);
  expect(new Set(view.asks.map((ask) => ask.id)).size).toBe(view.asks.length);
  const blocking = view.asks.some((ask) => ask.kind !== "idle");
  if (blocking) expect(view.status.kind).toBe("attention");
  expect(view.status.kind === "attention").toBe(blocking);
}

const runs = { numRuns: 3_000 };

describe("for any sequence of any events", () => {
  test("reduce never throws, and phase, state, status and asks never contradict each other", () => {
    fc.assert(
      fc.property(events, (list) => void replay(onTime(list), checkInvariants)),
      runs,
    );
  });

  test("late, duplicate and reordered events end in the same state", () => {
    const delays = fc.array(
      fc.record({ delay: fc.integer({ min: 0, max: 3_000 }), again: fc.integer({ min: 0, max: 3_000 }) }),
      { minLength: 50, maxLength: 50 },
    );
    fc.assert(
      fc.property(events, delays, (list, delayed) => {
        const arrivals = list.flatMap((event, index) => {
          const { delay = 0, again = 0 } = delayed[index] ?? {};
          return [
            { event, arrives: event.t + delay },
            ...(again % 3 === 0 ? [{ event, arrives: event.t + again }] : []),
          ];
        });
        arrivals.sort((a, b) => a.arrives - b.arrives);
        expect(replay(arrivals)).toEqual(replay(onTime(list)));
      }),
      runs,
    );
  });

  test("the same payload under another id within a second counts once", () => {
    fc.assert(
      fc.property(events, (list) => {
        const hooks = list.filter(
          (event) =>
            !["status", "gone", "enriched", "interrupted", "ask-answered"].includes(event.change.kind),
        );
        const doubled = hooks.flatMap((event) => [
          event,
          { ...event, id: `${event.id}-again`, t: event.t + 0.5, at: event.at },
        ]);
        expect(replay(onTime(doubled))?.asks.length).toBe(replay(onTime(hooks))?.asks.length);
        expect(replay(onTime(doubled))?.turnCount).toBe(replay(onTime(hooks))?.turnCount);
      }),
      runs,
    );
  });
});
