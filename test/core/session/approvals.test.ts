/** Requests that a model decides about, terminals that are found later, and a status that is lost. */
import { expect, test } from "bun:test";
import { type Change, createInternalEvent } from "../../../src/core/session/event.ts";
import { type EventWindow, reduce } from "../../../src/core/session/reduce.ts";
import { viewSession } from "../view/session-view.ts";

function applyAll(...changes: readonly Change[]) {
  let window: EventWindow | undefined;
  for (const [index, change] of changes.entries()) {
    const t = (index + 1) * 5_000;
    window = reduce(
      window,
      createInternalEvent(`e-${index}`, { at: t, t }, { agent: "x", sessionId: "s" }, change),
    );
  }
  if (!window) throw new Error("no event");
  const t = (changes.length + 1) * 5_000;
  return viewSession(window.session, { at: t, t });
}

const prompt = { kind: "prompt", text: "go", byMachine: false } as const;
const ask = {
  kind: "ask",
  ask: "permission",
  tool: "Bash",
  inputKey: "k",
  summary: "ls",
  options: [],
} as const;
const reviewed = { kind: "enriched", with: { approvals: "model" } } as const;
const asked = { kind: "enriched", with: { approvals: "user" } } as const;
const idle = { kind: "status", status: "idle", waitingFor: null, title: null } as const;
const place = { local: true, pid: 7, procStart: "1", tty: "/dev/pts/1", terminalSessionId: null, env: {} };

test("a request that a model decides about is not an ask", () => {
  expect(applyAll(prompt, reviewed, ask)).toMatchObject({ activityPhase: "busy", asks: [] });
});
test("a request is no ask any more once it is known that a model decides about it", () => {
  expect(applyAll(prompt, ask, reviewed)).toMatchObject({ activityPhase: "busy", asks: [] });
});
test("a question is asked of the user in any case", () => {
  expect(applyAll(prompt, reviewed, { ...ask, ask: "question" }).activityPhase).toBe("waiting_question");
});
test("the user is asked again after the reviewer is switched off", () => {
  expect(applyAll(prompt, reviewed, asked, ask).activityPhase).toBe("waiting_permission");
});
test("a terminal that is found replaces the one before, and can be lost again", () => {
  expect(applyAll(prompt, { kind: "located", place }).place).toEqual(place);
  expect(applyAll(prompt, { kind: "located", place }, { kind: "located", place: null }).place).toBeNull();
});
test("after the status is lost, hooks decide", () => {
  expect(applyAll(idle, prompt).activityPhase).toBe("interactable");
  expect(applyAll(idle, { kind: "status-lost" }, prompt).activityPhase).toBe("busy");
});
