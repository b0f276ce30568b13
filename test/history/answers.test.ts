/** How and where asks were answered, through the running app and real hooks. */
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { HistoryItem, HistoryPage, Stats } from "../../src/core/interfaces/wire.ts";
import { createAnswerFixture, createRequest } from "../answers/fixture.ts";
import { forEachTest } from "../for-each-test.ts";
import { waitUntil } from "../wait-until.ts";

const fixture = forEachTest(createAnswerFixture);

const get = async <T>(path: string): Promise<T> => (await fixture.request(path)).json() as Promise<T>;

/** Resolves with the newest permission once it has ended. */
async function waitForEnd(): Promise<HistoryItem> {
  let item: HistoryItem | undefined;
  await waitUntil(async () => {
    item = (await get<HistoryPage>("/api/history?kind=permission")).items[0];
    return item?.how;
  }, 8_000);
  return item as HistoryItem;
}

test.each<[object, string, object]>([
  [{ do: "allow", by: "command line" }, "allowed", { where: "command line" }],
  [{ do: "always", choice: 0, by: "page" }, "always", { where: "page" }],
  [{ do: "deny", by: "tray" }, "denied", { where: "menu" }],
  [{ do: "deny", message: "no", by: "notification" }, "denied", { where: "notification" }],
])("the answer %j is recorded as %s", async (answer, how, more) => {
  await fixture.start();
  const hook = fixture.startHook(createRequest("s-1"));
  const { answerId } = await fixture.waitForAsk("s-1");
  expect((await fixture.answer("s-1", { ask: answerId, ...answer })).status).toBe(200);
  await hook.exited;
  expect(await waitForEnd()).toMatchObject({ how, ...more, text: "Bash: npm test", project: "shop-api" });
});

test("what a rule allows counts for the rule, and not as an ask", async () => {
  const project = join(fixture.home, "shop");
  mkdirSync(project);
  mkdirSync(fixture.paths.state, { recursive: true, mode: 0o700 });
  writeFileSync(
    fixture.paths.config,
    JSON.stringify({ answering: { autoAllow: { [project]: ["Bash(ls *)"] } } }),
  );
  await fixture.start();
  const hook = fixture.startHook(createRequest("s-1", { cwd: project, tool_input: { command: "ls src" } }));
  await hook.exited;
  expect(await waitForEnd()).toMatchObject({ how: "rule", where: "rule" });
  expect((await get<Stats>("/api/stats")).today).toMatchObject({ byRules: 1, asks: 0, medianMs: null });
});
