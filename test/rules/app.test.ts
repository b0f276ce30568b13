/** Rules through the running app, with real forwarders: made from answers, tried on the history, used, logged. */
import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { HistoryPage, RulesReport } from "../../src/core/interfaces/wire.ts";
import { readSavedRule } from "../../src/rules/rule.ts";
import { createRuleFile } from "../../src/rules/rule-file.ts";
import { createAnswerFixture, createRequest } from "../answers/fixture.ts";
import { forEachTest } from "../for-each-test.ts";
import { waitUntil } from "../wait-until.ts";

const fixture = forEachTest(createAnswerFixture);

const get = async <T>(path: string): Promise<T> => (await fixture.request(path)).json() as Promise<T>;
const post = async (path: string, body: object) => {
  const response = await fixture.post(body, path);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};
const report = () => get<RulesReport>("/api/rules");

function createProject(name = "shop"): string {
  const folder = join(fixture.home, name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

function ask(id: string, cwd: string, command: string, more: object = {}) {
  return fixture.startHook(createRequest(id, { cwd, tool_input: { command }, ...more }), {
    CLAUDE_PROJECT_DIR: cwd,
  });
}

async function answerAsk(id: string, cwd: string, command: string, answer: object): Promise<void> {
  const hook = ask(id, cwd, command);
  const { answerId } = await fixture.waitForAsk(id);
  expect((await fixture.answer(id, { ask: answerId, by: "command line", ...answer })).status).toBe(200);
  await hook.exited;
}

const isAllowed = (printed: string): boolean => printed.includes('"behavior":"allow"');

/** It waits for the user: no rule has answered it. */
async function expectAsked(id: string, cwd: string, command: string, more: object = {}): Promise<void> {
  const hook = ask(id, cwd, command, more);
  await fixture.waitForAsk(id);
  expect(hook.isRunning()).toBe(true);
}

test("three like answers suggest a rule, which then answers, is named in log and history, and can be removed", async () => {
  const project = createProject();
  await fixture.start();
  for (const n of [1, 2, 3]) await answerAsk(`s-${n}`, project, "npm test", { do: "allow" });
  await waitUntil(async () => (await report()).suggestions.length > 0, 8_000);
  const { suggestions } = await report();
  expect(suggestions).toMatchObject([
    {
      text: "Bash(npm test)",
      project,
      agent: "claude",
      test: { answered: 3, allowedByYou: 3, deniedByYou: 0 },
    },
  ]);
  const added = await post("/api/rules/add", { ...suggestions[0], from: "suggestion" });
  expect(added).toMatchObject({ status: 200, body: { rule: { name: "npm-test-shop" } } });
  expect(statSync(fixture.paths.rules).mode & 0o777).toBe(0o600);

  const hook = ask("s-4", project, "npm test");
  expect(isAllowed(await hook.printed)).toBe(true);
  await waitUntil(async () => (await report()).rules[0]?.use?.count === 1, 8_000);
  const items = await get<HistoryPage>("/api/history?kind=permission");
  expect(items.items[0]).toMatchObject({ how: "rule", detail: "npm-test-shop" });
  expect(readFileSync(fixture.paths.answerLog, "utf8")).toContain("rule npm-test-shop");

  await expectAsked("s-5", project, "npm test --script-shell=./evil");
  await expectAsked("s-6", createProject("other"), "npm test");
  await expectAsked("s-7", project, "cd ../other && npm test");
  await expectAsked("s-8", project, "npm test", { permission_mode: "plan" });

  expect((await post("/api/rules/remove", { name: "npm-test-shop" })).status).toBe(200);
  await expectAsked("s-9", project, "npm test");
});

test("a rule follows no link out of the project, and knows a project by its real folder", async () => {
  const project = createProject();
  const link = join(fixture.home, "linked");
  symlinkSync(project, link);
  symlinkSync(createProject("other"), join(project, "out"));
  await fixture.start();
  const rule = { text: "Bash(npm test *)", project: link };
  expect(await post("/api/rules/add", rule)).toMatchObject({ body: { rule: { project } } });
  expect(isAllowed(await ask("s-1", project, "npm test src").printed)).toBe(true);
  expect(isAllowed(await ask("s-2", link, "npm test src").printed)).toBe(true);
  await expectAsked("s-3", project, "npm test out");
  // The same folder, in a path that is longer than any that a user writes.
  await expectAsked("s-4", project, `npm test out/${"./".repeat(600)}x`);
});

test("a request shows what was answered before", async () => {
  const project = createProject();
  await fixture.start();
  for (const n of [1, 2, 3]) await answerAsk(`s-${n}`, project, "npm test", { do: "allow" });
  await answerAsk("s-4", project, "make check", { do: "deny", message: "not now" });
  ask("s-5", project, "npm test");
  expect((await fixture.waitForAsk("s-5")).asked.precedent).toMatchObject({
    label: "npm test",
    allowed: 3,
    denied: 0,
    lastProject: "shop",
    rule: { text: "Bash(npm test)", project, agent: "claude" },
  });
  ask("s-6", project, "make check");
  const { precedent } = (await fixture.waitForAsk("s-6")).asked;
  expect(precedent).toMatchObject({ allowed: 0, denied: 1, lastDenial: { message: "not now" } });
  expect(precedent?.rule).toBeUndefined();
});

test("a trusted session is not asked, until something is marked, its mode changes or it ends", async () => {
  const project = createProject();
  await fixture.start();
  await expectAsked("s-1", project, "make check");
  const trust = (id: string) => post(`/api/sessions/${id}/trust`, { until: Date.now() + 60_000 });
  const listTrusted = async () => (await report()).trusts.map(({ session }) => session);

  expect(await trust("s-1")).toMatchObject({ status: 200 });
  expect(isAllowed(await ask("s-1", project, "make all | tee out.txt").printed)).toBe(true);
  expect(readFileSync(fixture.paths.answerLog, "utf8")).toMatch(/rule trust until \d\d:\d\d/);
  await expectAsked("s-2", project, "make all");
  ask("s-1", project, "rm -rf src");
  await waitUntil(async () => (await listTrusted()).length === 0, 5_000);
  ask("s-1", project, "make other");
  await fixture.waitForAsk("s-1", 3);

  expect((await trust("s-2")).status).toBe(200);
  await expectAsked("s-3", project, "make all");
  ask("s-2", project, "make two", { permission_mode: "acceptEdits" });
  await waitUntil(async () => (await listTrusted()).length === 0, 5_000);

  expect((await trust("s-3")).status).toBe(200);
  await fixture.startHook({ session_id: "s-3", hook_event_name: "SessionEnd", cwd: project, reason: "exit" })
    .exited;
  await waitUntil(async () => (await listTrusted()).length === 0, 5_000);
  expect((await trust("s-3")).status).toBe(409);
});

test("trust also ends with a marked request that is too long to be shown, and a session cannot trust itself", async () => {
  const project = createProject();
  await fixture.start();
  const trusted = async (id: string, command: string): Promise<void> => {
    await expectAsked(id, project, "make check");
    const { status } = await post(`/api/sessions/${id}/trust`, { until: Date.now() + 60_000 });
    expect([status, (await report()).trusts.length]).toEqual([200, 1]);
    ask(id, project, command);
    await waitUntil(async () => (await report()).trusts.length === 0, 5_000);
  };
  await trusted("s-1", `rm -rf src\n${"make check\n".repeat(5_000)}`);
  await trusted("s-2", "beckon trust s-2 --for 12h");
});

test("an entry of rules.json that is not a rule allows nothing, is reported, and stays in the file", async () => {
  const project = createProject();
  mkdirSync(fixture.paths.state, { recursive: true, mode: 0o700 });
  const wrong = { name: "any", agent: "claude", project, text: "Bash(*)", madeAt: 1 };
  writeFileSync(fixture.paths.rules, JSON.stringify({ version: 1, rules: [wrong, "x"] }), { mode: 0o600 });
  await fixture.start();
  await expectAsked("s-1", project, "npm test");
  const { rules, problems } = await report();
  expect(rules).toEqual([]);
  expect(problems.join("\n")).toContain('"Bash(*)"');
  await post("/api/rules/add", { text: "Bash(make check)", project });
  expect(JSON.parse(readFileSync(fixture.paths.rules, "utf8")).rules).toContainEqual(wrong);
});

test("the first rule of a user without any settings is kept", async () => {
  await fixture.start();
  const path = join(fixture.home, "no-settings-yet", "rules.json");
  const rule = readSavedRule({
    name: "a",
    agent: "claude",
    project: "/p",
    text: "Bash(make check)",
    madeAt: 1,
  });
  if (typeof rule === "string") throw new Error(rule);
  createRuleFile(path, () => {}).save([rule]);
  expect(createRuleFile(path, () => {}).rules()).toMatchObject([{ text: "Bash(make check)" }]);
});

test("a rule that cannot be read as one is refused with the reason", async () => {
  await fixture.start();
  const unknown = await post("/api/rules/test", { name: "npm test", project: createProject() });
  expect(unknown).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining("Bash(npm test *)") },
  });
  const refused = await post("/api/rules/add", { text: "Bash(docker run *)", project: createProject() });
  expect(refused).toMatchObject({ status: 400, body: { error: expect.stringContaining("another program") } });
});
