/** Requests of agents whose notification of a dialog identifies neither the request nor the tool call. */
import { describe, expect, test } from "bun:test";
import { type AgentEvent, type Change, createInternalEvent } from "../../../src/core/session/event.ts";
import { type EventWindow, reduce } from "../../../src/core/session/reduce.ts";

let count = 0;
const at = (t: number, change: Change): AgentEvent =>
  createInternalEvent(`e-${++count}`, { at: t, t }, { agent: "example", sessionId: "s" }, change);

function asksAfter(...events: readonly AgentEvent[]) {
  let window: EventWindow | undefined;
  for (const event of events) window = reduce(window, event);
  return (
    window?.session.asks.map(({ id, tool, summary, toolUseId }) => ({ id, tool, summary, toolUseId })) ?? []
  );
}

const ask = (fields: Partial<Change & { kind: "ask" }>): Change => ({
  kind: "ask",
  ask: "permission",
  tool: "Bash",
  inputKey: null,
  summary: "make",
  options: [],
  ...fields,
});
const prompt = at(0, { kind: "prompt", text: "go", byMachine: false });
const startTool = (t: number, toolUseId: string, tool = "Bash") =>
  at(t, {
    kind: "tool-start",
    tool,
    toolUseId,
    inputKey: toolUseId,
    summary: `run ${toolUseId}`,
    skill: null,
  });
const endTool = (t: number, toolUseId: string, tool = "Bash") =>
  at(t, { kind: "tool-end", tool, toolUseId, outcome: "ok", skill: null });

describe("a notification and its request are one ask", () => {
  const notification = (t: number) => at(t, ask({}));
  const request = (t: number) => at(t, ask({ inputKey: "r1", toolUseId: "c1" }));
  const once = [{ id: "s-1", tool: "Bash", summary: "make", toolUseId: "c1" }];

  test("in either order of their times, and of their arrival", () => {
    expect(asksAfter(prompt, notification(100), request(150))).toEqual(once);
    expect(asksAfter(prompt, request(100), notification(150))).toEqual(once);
    expect(asksAfter(prompt, notification(150), request(100))).toEqual(once);
    expect(asksAfter(prompt, request(150), notification(100))).toEqual(once);
  });

  test("but not a notification that comes seconds later, which is about the next one", () => {
    expect(asksAfter(prompt, request(100), notification(5_000))).toHaveLength(2);
  });

  test("and two requests at once stay two", () => {
    const second = at(120, ask({ inputKey: "r2", toolUseId: "c2" }));
    expect(asksAfter(prompt, request(100), second, notification(130), notification(140))).toHaveLength(2);
  });
});

describe("a request without an id belongs to the running call of its tool", () => {
  test("and closes with it, not with another one", () => {
    const events = [prompt, startTool(10, "c1", "Read"), startTool(20, "c2"), at(100, ask({}))];
    expect(asksAfter(...events)).toMatchObject([{ toolUseId: "c2" }]);
    expect(asksAfter(...events, endTool(200, "c1", "Read"))).toHaveLength(1);
    expect(asksAfter(...events, endTool(200, "c2"))).toEqual([]);
  });

  test("which names it if the request does not", () => {
    const events = [prompt, startTool(10, "c1"), at(100, ask({ tool: null, summary: "" }))];
    expect(asksAfter(...events)).toMatchObject([{ tool: "Bash", summary: "run c1", toolUseId: "c1" }]);
  });

  test("and an answer that only the agent's file reports closes it", () => {
    const events = [prompt, startTool(10, "c1"), at(100, ask({}))];
    const ended = at(300, { kind: "ask-ended", inputKey: null, outcome: "allowed" });
    expect(asksAfter(...events, ended)).toEqual([]);
  });
});
