/** A session's port, and its edits without one. */
import { expect, test } from "bun:test";
import { type Change, createInternalEvent } from "../../../src/core/session/event.ts";
import { reduce } from "../../../src/core/session/reduce.ts";
import type { Session } from "../../../src/core/session/session.ts";

const port = { id: "login", title: "Log in", project: "/p", since: 1 };
const edit = (path: string, isBlocked = false): Change => ({
  kind: "untracked-edit",
  tool: "Edit",
  path,
  isBlocked,
});
const prompt: Change = { kind: "prompt", text: "go", byMachine: false };

function play(...changes: readonly Change[]): Session {
  let window: ReturnType<typeof reduce> | undefined;
  for (const [n, change] of changes.entries()) {
    const moment = { at: 1_000 * (n + 1), t: 1_000 * (n + 1) };
    window = reduce(
      window,
      createInternalEvent(`e${n}`, moment, { agent: "claude", sessionId: "s" }, change),
    );
  }
  if (!window) throw new Error("no events");
  return window.session;
}

test("the first untracked edit of a turn counts, and a new prompt starts again", () => {
  expect(play(prompt, edit("a"), edit("b")).untracked?.path).toBe("a");
  expect(play(prompt, edit("a"), prompt, edit("b")).untracked?.path).toBe("b");
});

test("an edit that happened counts more than one that was refused", () => {
  expect(play(prompt, edit("a", true), edit("b")).untracked).toMatchObject({ path: "b", isBlocked: false });
  expect(play(prompt, edit("a"), edit("b", true)).untracked).toMatchObject({ path: "a", isBlocked: false });
});

test("a port that starts settles the edits before it", () => {
  expect(play(prompt, edit("a"), { kind: "port", port })).toMatchObject({ port, untracked: null });
  expect(play({ kind: "port", port }, { kind: "port", port: null }).port).toBeNull();
});

test("neither counts as a sign of life of the agent", () => {
  expect(play(prompt, edit("a"), { kind: "port", port }).last.at).toBe(1_000);
});

test("a file of instructions is listed once", () => {
  const load: Change = { kind: "document-loaded", document: { path: "/p/CLAUDE.md", kind: "Project" } };
  expect(play(load, load).documents).toEqual([{ path: "/p/CLAUDE.md", kind: "Project" }]);
});
