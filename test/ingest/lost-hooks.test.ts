/** What is made of a transcript when an unattended run ends. */
import { expect, test } from "bun:test";
import { claude } from "../../src/agents/claude/index.ts";
import { openEnvelope } from "../../src/agents/envelope.ts";
import { createLostHooks, type LostHooks } from "../../src/ingest/lost-hooks.ts";
import { createAppFixture, proj } from "../app-fixture.ts";
import { forEachTest } from "../for-each-test.ts";

const fixture = forEachTest(createAppFixture);
const start = Date.UTC(2026, 10, 17, 9, 30);
const seconds = (n: number): number => start + n * 1_000;

/** A turn that says something: its prompt, its response and its end, in three seconds. */
function appendTurn(promptId: string, second: number): string {
  const row = (n: number, fields: object) => ({ timestamp: new Date(seconds(n)).toISOString(), ...fields });
  return fixture.appendTranscript(
    "s1",
    row(second, { type: "user", promptId, message: { role: "user", content: `Do ${promptId}` } }),
    row(second + 1, {
      type: "assistant",
      message: { id: promptId, content: [{ type: "text", text: "Done" }] },
    }),
    row(second + 2, { type: "system", subtype: "stop_hook_summary" }),
  );
}

const create = (startedAt: number): LostHooks =>
  createLostHooks({ agents: new Map([["claude", claude]]), env: fixture.env, startedAt });

function createMessage(hook_event_name: string, more: object = {}) {
  const payload = { session_id: "s1", hook_event_name, ...proj, ...more };
  const message = openEnvelope({ provider: "claude", _meta: { attended: false }, payload }, "claude", null);
  if (!message) throw new Error("not a message");
  return message;
}

async function endRun(
  lost: LostHooks,
  transcript_path: string,
  second: number,
  more: object = {},
): Promise<string[]> {
  const end = createMessage("SessionEnd", { transcript_path, prompt_id: "last", ...more });
  lost.note(end, seconds(second));
  const requests = (await lost.find(end, seconds(second))) ?? [];
  return requests.map((text) => {
    const { hook_event_name, prompt_id } = JSON.parse(text).payload;
    return `${hook_event_name} ${prompt_id ?? ""}`.trim();
  });
}

test("the turns of an attended session that is continued unattended are not told again", async () => {
  const lost = create(start);
  appendTurn("attended", 10);
  const path = appendTurn("unattended", 60);
  lost.note(createMessage("SessionStart", { source: "resume" }), seconds(59));
  expect(await endRun(lost, path, 65)).toEqual(["UserPromptSubmit unattended", "Stop unattended"]);
});

test("a run that is continued tells only what is new, once", async () => {
  const lost = create(start);
  const path = appendTurn("one", 10);
  lost.note(createMessage("SessionStart", { source: "startup" }), seconds(9));
  expect(await endRun(lost, path, 15)).toEqual(["UserPromptSubmit one", "Stop one"]);
  appendTurn("two", 16);
  lost.note(createMessage("SessionStart", { source: "resume" }), seconds(15.5));
  expect(await endRun(lost, path, 20)).toEqual(["UserPromptSubmit two", "Stop two"]);
  expect(lost.isReplaced(createMessage("Stop", { prompt_id: "two" }))).toBe(true);
  expect(lost.isReplaced(createMessage("SessionStart", { source: "resume" }))).toBe(false);
});

test("a run of which no hook but the last arrived is told from its start", async () => {
  const lost = create(start);
  const path = appendTurn("one", 10);
  expect(await endRun(lost, path, 13)).toEqual(["SessionStart", "UserPromptSubmit one", "Stop one"]);
});

test("where hooks do not name their turns, none is told twice", async () => {
  const lost = create(start);
  const path = appendTurn("one", 10);
  lost.note(createMessage("SessionStart", { source: "startup" }), seconds(9));
  lost.note(createMessage("UserPromptSubmit", { prompt: "Do one" }), seconds(10));
  expect(await endRun(lost, path, 13, { prompt_id: undefined })).toEqual([]);
});

test("a transcript outside of the agent's folder is not read", async () => {
  const lost = create(start);
  appendTurn("one", 10);
  expect(await endRun(lost, `${fixture.home}/elsewhere.jsonl`, 13)).toEqual([]);
});
