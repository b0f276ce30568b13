/** The shared stream of a running app. */
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAppEnvironment } from "../../src/system/app-environment.ts";
import {
  type AppFixture,
  createAppFixture,
  createAskEvent,
  createPromptEvent,
  proj,
} from "../app-fixture.ts";
import { colourQuestion } from "../colour-question.ts";
import { waitUntil } from "../wait-until.ts";

let fixture: AppFixture;
let path: string;
beforeEach(() => {
  fixture = createAppFixture();
  path = join(fixture.home, "streams", "lifecycle.jsonl");
});
afterEach(() => fixture.destroy());

const readStream = () =>
  fixture
    .read(path)
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));

const skill = { tool_name: "Skill", tool_use_id: "t1", ...proj };

test("an unattended run gives four lines", async () => {
  await fixture.start({ BECKON_STREAM_PATH: path });
  const run = { session_id: "s1", transcript_path: "/t/s1.jsonl", ...proj };
  for (const [name, more] of [
    ["SessionStart", { source: "startup" }],
    ["UserPromptSubmit", { prompt: "go" }],
    ["Stop", {}],
    ["SessionEnd", { reason: "other" }],
  ] as const)
    await fixture.postHook({ ...run, hook_event_name: name, ...more }, { attended: false });
  const lines = readStream();
  expect(lines.map(({ eventType, phase }) => [eventType, phase])).toEqual([
    ["session.lifecycle", "started"],
    ["turn.start", undefined],
    ["turn.end", undefined],
    ["session.lifecycle", "ended"],
  ]);
  for (const line of lines)
    expect(line).toMatchObject({ sessionId: "s1", provider: "claude", projectPath: proj.cwd, cwd: proj.cwd });
  expect(lines[1]?.prompt).toBe("go");
  expect(lines[2]?.transcriptPath).toBe("/t/s1.jsonl");
  expect(new Set(lines.map(({ id }) => id)).size).toBe(4);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a skill has its command, turn and document, in both forms of its input", async () => {
  await fixture.start({ BECKON_STREAM_PATH: path });
  await fixture.postHook(createPromptEvent("s1"));
  const call = { session_id: "s1", ...skill };
  await fixture.postHook({
    ...call,
    hook_event_name: "PreToolUse",
    tool_input: { skill: "/spec", args: "docs/a.md now" },
  });
  await fixture.postHook({
    ...call,
    hook_event_name: "PostToolUse",
    tool_input: { skill: "/spec", args: "docs/a.md now" },
  });
  const old = { ...call, tool_use_id: "t2", tool_input: { skill_name: "/deploy", skill_args: "prod" } };
  await fixture.postHook({ ...old, hook_event_name: "PreToolUse" });
  await fixture.postHook({ ...old, hook_event_name: "PostToolUseFailure", error: "x" });
  const skills = readStream().filter(({ eventType }) => eventType === "skill.lifecycle");
  expect(skills).toMatchObject([
    {
      phase: "in_progress",
      skillName: "spec",
      triggerCommand: "/spec docs/a.md now",
      turnSeq: 1,
      targetDocPath: "docs/a.md",
    },
    { phase: "completed", skillName: "spec" },
    { phase: "in_progress", skillName: "deploy", triggerCommand: "/deploy prod", targetDocPath: null },
    { phase: "completed", skillName: "deploy" },
  ]);
  expect(skills[0]).not.toHaveProperty("cwd");
});

test("an ask is a phase of its session", async () => {
  await fixture.start({ BECKON_STREAM_PATH: path });
  await fixture.postHook(createPromptEvent("s1"));
  await fixture.postHook(createAskEvent("s1"));
  expect(readStream().at(-1)).toMatchObject({ eventType: "session.lifecycle", phase: "waiting_permission" });
});

test("a reminder that the session is idle is a question", async () => {
  await fixture.start({ BECKON_STREAM_PATH: path });
  await fixture.postHook(createPromptEvent("s1"));
  const idle = { hook_event_name: "Notification", notification_type: "idle_prompt", message: "waiting" };
  await fixture.postHook({ session_id: "s1", ...proj, hook_event_name: "Stop" });
  await fixture.postHook({ session_id: "s1", ...proj, ...idle });
  expect(readStream().at(-1)).toMatchObject({
    eventType: "session.lifecycle",
    phase: "waiting_question",
    cwd: proj.cwd,
  });
  expect(readPhases()).toEqual(["turn.start", "turn.end", "waiting_question"]);
  await waitUntil(() => {
    const rows = existsSync(fixture.paths.history) ? readPhaseRows() : [];
    return rows.includes("waiting_question");
  }, 5_000);
});

function readPhaseRows(): readonly string[] {
  const db = new Database(fixture.paths.history, { readonly: true });
  try {
    const rows = db.query<{ phase: string }, []>("SELECT phase FROM session_lifecycle_events").all();
    return rows.map(({ phase }) => phase);
  } catch {
    // The history is being created.
    return [];
  } finally {
    db.close();
  }
}

test("a question that only a notification reports is a question, with its text", async () => {
  await fixture.start({ BECKON_STREAM_PATH: path });
  await fixture.postHook(createPromptEvent("s1"));
  const ask = {
    tool_name: "AskUserQuestion",
    tool_use_id: "q1",
    tool_input: { questions: [colourQuestion] },
  };
  await fixture.postHook({ session_id: "s1", ...proj, hook_event_name: "PreToolUse", ...ask });
  await fixture.postHook({
    session_id: "s1",
    ...proj,
    hook_event_name: "Notification",
    notification_type: "permission_prompt",
  });
  expect(readStream().at(-1)).toMatchObject({ phase: "waiting_question" });
  const session = await fixture.fetchSession("s1");
  expect(session?.activityPhase).toBe("waiting_question");
  expect(session?.asks).toMatchObject([{ kind: "question", summary: colourQuestion.question }]);
});

test("the path can be in the settings, and without one nothing is written", async () => {
  mkdirSync(fixture.paths.state, { recursive: true, mode: 0o700 });
  writeFileSync(fixture.paths.config, JSON.stringify({ stream: { path } }));
  await fixture.start();
  await fixture.postHook(createPromptEvent("s1"));
  expect(readStream()).toHaveLength(1);
});

test("a link in place of the file is not followed, and reported", async () => {
  const target = join(fixture.home, "theirs");
  writeFileSync(target, "");
  mkdirSync(join(fixture.home, "streams"));
  symlinkSync(target, path);
  await fixture.start({ BECKON_STREAM_PATH: path });
  expect((await fixture.postHook(createPromptEvent("s1"))).status).toBe(200);
  expect(readFileSync(target, "utf8")).toBe("");
  expect(fixture.read(fixture.paths.log)).toContain("cannot be written");
});

test("a project cannot set the path for an app that one of its hooks starts", () => {
  const env = { HOME: "/home/me", BECKON_STREAM_PATH: "/home/me/.profile" };
  expect(createAppEnvironment(env, { session: [], settings: [], markers: [] })).toEqual({ HOME: "/home/me" });
});
