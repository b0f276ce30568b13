/** Calls that no hook reports, through the running app: they are what they would be with a hook at each. */
import { expect, test } from "bun:test";
import { appendFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { HistoryPage } from "../../src/core/interfaces/wire.ts";
import { createAppFixture, createPromptEvent } from "../app-fixture.ts";
import { forEachTest } from "../for-each-test.ts";
import { waitUntil } from "../wait-until.ts";

const fixture = forEachTest(createAppFixture);

const findTexts = async () => {
  const page = (await (await fixture.request("/api/history?kind=tool")).json()) as HistoryPage;
  return page.items.map(({ text }) => text);
};

/** As Kimi Code 2.1.0 writes it. */
function appendCall(toolCallId: string, command: string): void {
  const path = join(fixture.home, ".kimi-code/sessions/wd_proj/session_1/agents/main/wire.jsonl");
  mkdirSync(dirname(path), { recursive: true });
  const write = (event: object) => {
    const row = { type: "context.append_loop_event", agentId: "main", event, time: Date.now() };
    appendFileSync(path, `${JSON.stringify(row)}\n`);
  };
  write({ type: "tool.call", toolCallId, name: "Bash", args: { command, description: "Run it" } });
  write({ type: "tool.result", toolCallId, result: { output: "done", durationMs: 5 } });
}

const postKimi = (payload: Record<string, unknown>) =>
  fixture.post({ provider: "kimi", _meta: { id: crypto.randomUUID() }, payload });

test("a call in Kimi Code's wire file is in the history once, masked, also one that was made while beckon did not run", async () => {
  await fixture.start();
  await postKimi(createPromptEvent("session_1"));
  const secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789-ABCDEFGH";
  appendCall("c1", "make needle");
  appendCall("c2", `deploy --key ${secret}`);
  await waitUntil(async () => (await findTexts()).length === 2, 10_000);
  expect(await findTexts()).toContain("Bash: make needle");
  expect(fixture.readJournal()).not.toContain(secret);
  await fixture.stopApps();
  appendCall("c3", "make again");
  await fixture.start();
  await waitUntil(async () => (await findTexts()).length > 2, 10_000);
  const texts = await findTexts();
  expect(texts.filter((text) => text.startsWith("Bash: make")).sort()).toEqual([
    "Bash: make again",
    "Bash: make needle",
  ]);
  expect(texts).toHaveLength(3);
});
