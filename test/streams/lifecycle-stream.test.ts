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
import { parseJsonLines } from "../json-lines.ts";
import { waitUntil } from "../wait-until.ts";

let fixture: AppFixture;
let path: string;
beforeEach(() => {
  fixture = createAppFixture();
  path = join(fixture.home, "streams", "lifecycle.jsonl");
});
afterEach(() => fixture.destroy());

const readStream = () => parseJsonLines(fixture.read(path));

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

/** An unattended run of a skill: what its hooks send, and the rows that its transcript has. */
function createRun(start = Date.now()) {
  const at = (ms: number) => start + ms;
  const call = { tool_name: "Skill", tool_use_id: "t1", tool_input: { skill: "snowflake", args: "1" } };
  const row = (ms: number, fields: object) => ({ timestamp: new Date(at(ms)).toISOString(), ...fields });
  const use = { type: "tool_use", name: "Skill", id: "t1", input: call.tool_input };
  const path = fixture.appendTranscript(
    "s1",
    row(0, { type: "queue-operation" }),
    row(100, { type: "user", promptId: "p1", message: { role: "user", content: "go" } }),
    row(200, { type: "assistant", message: { id: "m1", content: [use] } }),
    row(300, {
      type: "user",
      message: { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "ok" }] },
    }),
    row(400, { type: "assistant", message: { id: "m2", content: [{ type: "text", text: "Done." }] } }),
    row(410, { type: "system", subtype: "stop_hook_summary" }),
  );
  const common = { session_id: "s1", transcript_path: path, ...proj };
  const hooks = {
    start: { hook_event_name: "SessionStart", source: "startup" },
    prompt: { hook_event_name: "UserPromptSubmit", prompt: "go", prompt_id: "p1" },
    call: { hook_event_name: "PreToolUse", prompt_id: "p1", ...call },
    result: { hook_event_name: "PostToolUse", prompt_id: "p1", ...call },
    stop: { hook_event_name: "Stop", prompt_id: "p1", last_assistant_message: "Done." },
    end: { hook_event_name: "SessionEnd", reason: "other", prompt_id: "p1" },
  };
  return {
    send: (name: keyof typeof hooks, ms: number) =>
      fixture.postHook({ ...common, ...hooks[name] }, { attended: false, at: at(ms) }),
  };
}

const everyLine = ["started", "turn.start", "in_progress", "completed", "turn.end", "ended"];
const readPhases = () => readStream().map(({ eventType, phase }) => phase ?? eventType);

/** The run is over when the app starts to look, as if each hook had taken its time. */
const secondAgo = () => Date.now() - 1_000;

test("what the hooks of an unattended run could not send comes from its transcript, before its end", async () => {
  const run = createRun(secondAgo());
  await fixture.start({ BECKON_STREAM_PATH: path });
  await run.send("start", 10);
  await run.send("prompt", 150);
  await run.send("end", 700);
  expect(readPhases()).toEqual(everyLine);
  const lines = readStream();
  expect(lines[2]).toMatchObject({ skillName: "snowflake", triggerCommand: "/snowflake 1", turnSeq: 1 });
  expect(new Set(lines.map(({ id }) => id)).size).toBe(everyLine.length);
  const times = lines.map(({ occurredAtIso }) => occurredAtIso);
  expect(times).toEqual(times.toSorted());
  expect(fixture.readJournal()).toContain('"last_assistant_message":"Done."');
  expect(await fixture.fetchSession("s1")).toMatchObject({ state: "completed", lastResponse: "Done." });
});

test("a hook that arrives after the end of its run is not a second line", async () => {
  const run = createRun(secondAgo());
  await fixture.start({ BECKON_STREAM_PATH: path });
  for (const [name, ms] of [
    ["start", 10],
    ["prompt", 150],
    ["call", 250],
    ["end", 700],
    ["result", 350],
    ["stop", 450],
  ] as const)
    expect((await run.send(name, ms)).status).toBe(200);
  expect(readPhases()).toEqual(everyLine);
  expect(fixture.readJournal().match(/"PostToolUse"/g)).toHaveLength(1);
});

test("the lines of an unattended run are in the order in which they happened, however their hooks arrive", async () => {
  const run = createRun(secondAgo());
  await fixture.start({ BECKON_STREAM_PATH: path });
  await run.send("start", 10);
  await run.send("call", 250);
  await run.send("stop", 450);
  // Stamped after the events that follow them: their processes started slowly.
  await run.send("result", 480);
  await run.send("prompt", 260);
  await run.send("end", 700);
  expect(readPhases()).toEqual(everyLine);
  const lines = readStream();
  const times = lines.map(({ occurredAtIso }) => occurredAtIso);
  expect(times).toEqual(times.toSorted());
  expect(lines[2]).toMatchObject({ phase: "in_progress", turnSeq: 1 });
});

test("an unattended run that was under way when beckon started gets no line from before", async () => {
  const run = createRun(Date.now() - 10_000);
  await fixture.start({ BECKON_STREAM_PATH: path });
  await run.send("end", 10_000);
  expect(readPhases()).toEqual(["ended"]);
});

test("the lines of an unattended run that goes on are written after a moment", async () => {
  const run = createRun();
  await fixture.start({ BECKON_STREAM_PATH: path });
  await run.send("start", 0);
  await waitUntil(() => readStream().length === 1, 10_000, "the line");
});

test("the end of a skill waits for its start, and the end of a turn for the end of its skill", async () => {
  await fixture.start({ BECKON_STREAM_PATH: path });
  await fixture.postHook({ ...createPromptEvent("s1"), prompt_id: "p1" });
  const call = { session_id: "s1", prompt_id: "p1", ...skill, tool_input: { skill: "spec" } };
  const at = Date.now();
  await fixture.postHook({ ...call, hook_event_name: "PostToolUse" }, { at });
  expect(readPhases()).toEqual(["turn.start"]);
  await fixture.postHook({ ...call, hook_event_name: "PreToolUse" }, { at: at - 5 });
  expect(readPhases()).toEqual(["turn.start", "in_progress", "completed"]);

  const next = { ...call, tool_use_id: "t2" };
  await fixture.postHook({ ...next, hook_event_name: "PreToolUse" }, { at: at + 1 });
  await fixture.postHook(
    { ...proj, session_id: "s1", hook_event_name: "Stop", prompt_id: "p1" },
    { at: at + 9 },
  );
  await fixture.postHook({ ...next, hook_event_name: "PostToolUse" }, { at: at + 5 });
  expect(readPhases().slice(3)).toEqual(["in_progress", "completed", "turn.end"]);
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
