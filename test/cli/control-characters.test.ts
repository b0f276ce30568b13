/** No command prints a character that the terminal would obey, as text or as JSON: text from an agent can contain any. */
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAnswerFixture, createRequest } from "../answers/fixture.ts";
import { createPromptEvent } from "../app-fixture.ts";
import { forEachTest } from "../for-each-test.ts";
import { waitUntil } from "../wait-until.ts";

const fixture = forEachTest(createAnswerFixture);

const evil = "a\u009b2Jb\u009d0;owned\u009cc\u0085d\u007fe\u202ef";
const obeyed = /[^\P{Cc}\n]|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

async function beckon(...args: string[]): Promise<string> {
  const child = fixture.spawn([...fixture.command, ...args], { COLUMNS: "200" });
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return out + err;
}

test("status, log, history, stats, channels, ports and errors", async () => {
  const project = join(fixture.home, `p${evil}`);
  for (const path of [project, fixture.paths.state]) mkdirSync(path, { mode: 0o700 });
  const settings = { workGuard: { mode: "report" }, channels: { [evil]: { kind: evil } } };
  writeFileSync(fixture.paths.config, JSON.stringify(settings));
  await fixture.start();
  await fixture.postHook(createPromptEvent("s-1", { cwd: project, prompt: evil }));
  fixture.startHook(createRequest("s-1", { cwd: project, tool_input: { command: `echo ${evil}` } }));
  await fixture.waitForAsk("s-1");
  await waitUntil(async () => (await beckon("history", "--json")).includes("owned"), 10_000);
  const commands = [
    ["status"],
    ["status", "--json"],
    ["status", "--short"],
    ["log"],
    ["log", "--json"],
    ["history"],
    ["history", "--json"],
    ["history", "--events"],
    ["stats"],
    ["stats", "--json"],
    ["channel", "list"],
    ["channel", "list", "--json"],
    ["port", "list"],
    ["port", "list", "--json"],
    ["answer", evil],
    [evil],
  ];
  const outputs = await Promise.all(commands.map((args) => beckon(...args)));
  const unsafe = commands.filter((_, n) => obeyed.test(outputs[n] ?? ""));
  expect(unsafe).toEqual([]);
  const [status = ""] = (await beckon("status", "--json")).split("\n");
  expect(JSON.parse(status).sessions).toMatchObject([{ sessionId: "s-1", lastPrompt: evil }]);
});
