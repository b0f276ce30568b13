/** Secrets in events, and what is on the disk afterwards: journal, snapshot, history, logs and spool. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { createAppFixture, createPromptEvent, proj } from "../app-fixture.ts";
import { forEachTest } from "../for-each-test.ts";
import { beckonHook, environment, run } from "../hook/harness.ts";
import { waitUntil } from "../wait-until.ts";
import { corpora } from "./corpora.ts";

const fixture = forEachTest(createAppFixture);

const secrets = corpora.flatMap((corpus) => corpus.secrets);
/** The same share as in the corpora. */
const maxLeaked = secrets.length * 0.05;

function readStateFolder(): Map<string, Buffer> {
  const files = readdirSync(fixture.paths.state, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  // A temporary file can be gone by now.
  const contents = files.flatMap(({ parentPath, name }): [string, Buffer][] => {
    const path = join(parentPath, name);
    return existsSync(path) ? [[name, readFileSync(path)]] : [];
  });
  return new Map(contents);
}

/** The kinds of secrets that are in a file, as they are or as JSON writes them. */
function findLeaks(files: ReadonlyMap<string, Buffer>): string[] {
  const leaked = secrets.flatMap(({ kind, secret }) => {
    const forms = [secret, JSON.stringify(secret).slice(1, -1)];
    return [...files].filter(([, bytes]) => forms.some((form) => bytes.includes(form))).map(() => kind);
  });
  return [...new Set(leaked)];
}

function createEvents(session_id: string, text: string): Record<string, unknown>[] {
  const tool = {
    tool_name: "Bash",
    tool_input: { command: text, description: text },
    tool_use_id: `toolu_${session_id}`,
  };
  return [
    createPromptEvent(session_id, { prompt: text }),
    { session_id, hook_event_name: "PreToolUse", ...tool, ...proj },
    { session_id, hook_event_name: "PermissionRequest", ...tool, ...proj },
    { session_id, hook_event_name: "PostToolUse", ...tool, tool_response: { stdout: text }, ...proj },
    { session_id, hook_event_name: "Notification", message: text, notification_type: "idle_prompt", ...proj },
    { session_id, hook_event_name: "Stop", last_assistant_message: text, ...proj },
  ];
}

/** Reads the decision and leaves the connection open. */
async function readDecision(response: Response): Promise<void> {
  const reader = response.body?.getReader();
  for (let text = ""; !/\S[^\n]*\n/.test(text); ) {
    const chunk = await reader?.read();
    if (!chunk || chunk.done) return;
    text += new TextDecoder().decode(chunk.value);
  }
}

test("secrets in events reach no file in the state folder", async () => {
  const app = await fixture.start();
  for (const [n, { text }] of secrets.entries()) {
    const responses = await Promise.all(createEvents(`s${n}`, text).map((event) => fixture.postHook(event)));
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
  }
  await app.stop();
  const files = readStateFolder();
  expect([...files.keys()]).toContain("snapshot.json");
  // The texts around the secrets are there.
  expect([...files.values()].some((bytes) => bytes.includes("sshpass -p •••"))).toBe(true);
  expect(findLeaks(files).length, findLeaks(files).join(", ")).toBeLessThanOrEqual(maxLeaked);
}, 60_000);

test("secrets in requests and in their answers do not reach the answer log", async () => {
  const app = await fixture.start();
  const chosen = secrets.filter((_, n) => n % 20 === 0);
  for (const [n, { text }] of chosen.entries()) {
    const session_id = `s${n}`;
    const event = {
      session_id,
      hook_event_name: "PermissionRequest",
      tool_name: "Bash",
      tool_input: { command: text },
      ...proj,
    };
    const id = crypto.randomUUID();
    const body = { provider: "claude", _meta: { id, attended: true }, payload: event };
    const held = fixture.post(body, "/api/hook?hold");
    const readAsk = async () =>
      (await fixture.fetchSession(session_id))?.asks.find(({ answerable }) => answerable);
    await waitUntil(async () => (await readAsk()) !== undefined, 3_000);
    const ask = (await readAsk())?.answerId;
    const answer = fixture.post({ ask, do: "deny", message: text }, `/api/sessions/${session_id}/answer`);
    await readDecision(await held);
    await fixture.post({ id, how: "printed" }, "/api/hold/end");
    expect((await answer).status).toBe(200);
  }
  await app.stop();
  const files = readStateFolder();
  expect(String(files.get(basename(fixture.paths.answerLog)))).toContain("•••");
  expect(findLeaks(files).length, findLeaks(files).join(", ")).toBeLessThanOrEqual(chosen.length * 0.05 + 1);
}, 60_000);

test("secrets in events that come while beckon is down do not reach the spool", async () => {
  const event = {
    session_id: "s",
    hook_event_name: "PreToolUse",
    tool_name: "Bash",
    tool_use_id: "t",
    ...proj,
  };
  const tool_input = { commands: secrets.map(({ text }) => text) };
  const { state } = fixture.paths;
  const result = await run(
    [...beckonHook, "claude"],
    environment(state),
    JSON.stringify({ ...event, tool_input }),
  );
  expect([result.code, result.stdout]).toEqual([0, ""]);
  const files = readStateFolder();
  expect(files.get("spool.jsonl")?.includes("sshpass -p •••")).toBe(true);
  expect(findLeaks(files).length, findLeaks(files).join(", ")).toBeLessThanOrEqual(maxLeaked);
});
