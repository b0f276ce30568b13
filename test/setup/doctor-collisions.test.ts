/** Doctor says which agents cannot ask before an edit of a file that another session has changed. */
import { expect, test } from "bun:test";
import { agents } from "../../src/agents/index.ts";
import { checkCollisions } from "../../src/setup/doctor/index.ts";

const connected = (...ids: string[]) =>
  agents.filter(({ id }) => ids.includes(id)).map(({ name, forwarding: { guard } }) => ({ name, guard }));
const all = connected(...agents.map(({ id }) => id));
const textsFor = (collisions: "show" | "warn" | "ask" | "refuse", those = all) =>
  checkCollisions({ workGuard: { collisions, projects: {} }, agents: those }).map(({ text }) => text);

test("agents that can only be told, and those that only show it, are named once the setting wants to ask", () => {
  expect(textsFor("ask")).toEqual([
    'workGuard.collisions is "ask", but Codex, opencode, Kilo and Qwen Code cannot ask you before an edit: the model is told, and goes on',
    'workGuard.collisions is "ask", but Copilot CLI, Grok Build and Kimi Code can neither ask nor be told: the rows of both sessions show it',
  ]);
  expect(textsFor("ask", connected("claude", "gemini"))).toEqual([]);
  for (const other of ["show", "warn", "refuse"] as const) expect(textsFor(other)).toEqual([]);
});

test("also if only one project wants it", () => {
  const projects = { "/home/dev/shop": { collisions: "ask" as const } };
  const found = checkCollisions({ workGuard: { collisions: "show", projects }, agents: connected("codex") });
  expect(found.map(({ state }) => state)).toEqual(["info"]);
});
