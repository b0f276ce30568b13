/** docs/streams.md describes what beckon writes, and its commands work as they stand there. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { normalizedEventTypes } from "../../src/streams/normalized-event.ts";
import { createAppFixture, createAskEvent, createPromptEvent, proj } from "../app-fixture.ts";
import { forEachTest } from "../for-each-test.ts";
import { parseJsonLines } from "../json-lines.ts";
import { testWith } from "../needs.ts";
import { mainSource, repo } from "../repo.ts";
import { waitUntil } from "../wait-until.ts";

const fixture = forEachTest(createAppFixture);
const page = readFileSync(join(repo, "docs/streams.md"), "utf8");

/** The rows of the table below a heading whose first row starts like this, as cells. */
function readTable(firstCell: string): string[][] {
  const lines = page.split("\n");
  const start = lines.findIndex((line) => line.startsWith(`| ${firstCell} |`));
  const end = lines.findIndex((line, n) => n > start && !line.startsWith("|"));
  return lines.slice(start + 2, end).map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const listCode = (cell: string | undefined): string[] =>
  [...(cell ?? "").matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);

/** What a session does in one turn, with everything that has a line. */
async function runSession(): Promise<void> {
  const skill = { tool_name: "Skill", tool_use_id: "t1", tool_input: { skill: "spec", args: "docs/a.md" } };
  const post = (hook_event_name: string, more: object = {}) =>
    fixture.postHook({ session_id: "s1", ...proj, hook_event_name, ...more });
  await post("SessionStart", { source: "startup" });
  await fixture.postHook(createPromptEvent("s1"));
  await post("PreToolUse", skill);
  await post("PostToolUse", skill);
  await fixture.postHook(createAskEvent("s1"));
  await post("Stop", { transcript_path: "/t/s1.jsonl" });
  await post("Notification", { notification_type: "idle_prompt" });
  await post("SessionEnd", { reason: "other" });
}

test("every field of every line of the stream is documented, and no other", async () => {
  const path = join(fixture.home, "lifecycle.jsonl");
  await fixture.start({ BECKON_STREAM_PATH: path });
  await runSession();
  const lines = parseJsonLines<Record<string, unknown>>(fixture.read(path));

  const kinds = readTable("`eventType`").map(([type, phase]) => [...listCode(type), ...listCode(phase)]);
  const written = lines.map(({ eventType, phase }) => [eventType, phase].filter(Boolean));
  expect(new Set(written.map(String))).toEqual(new Set(kinds.map(String)));

  const fields = readTable("field").filter(([, where]) => where !== undefined && where !== "");
  for (const line of lines) {
    const isIn = (where: string) =>
      where === "every line" || listCode(where).includes(String(line.eventType));
    const described = fields.flatMap(([names, where = ""]) => (isIn(where) ? listCode(names) : []));
    const isTurn = String(line.eventType).startsWith("turn.");
    expect(Object.keys(line).sort()).toEqual(
      described.filter((name) => !(isTurn && name === "phase")).sort(),
    );
  }
});

test("every field and type of normalized events is documented", async () => {
  const app = await fixture.start();
  await runSession();
  await waitUntil(async () => {
    const { total } = (await (await fixture.request("/api/history")).json()) as { total: number };
    return total >= 4;
  }, 5_000);
  await app.stop();
  const child = fixture.spawnBeckon(["history", "--export"]);
  const [line = "{}"] = (await child.stdout.text()).split("\n");
  const section = page.slice(page.indexOf("## Normalized events"));
  const rows = [...section.matchAll(/^\| (`.*?`) \| (.*) \|$/gm)];
  const documented = rows.flatMap(([, names]) => listCode(names));
  expect(documented).toEqual(expect.arrayContaining(Object.keys(JSON.parse(line))));
  const types = listCode(rows.find(([, names]) => names === "`event_type`")?.[2]);
  expect(types.sort()).toEqual([...normalizedEventTypes].sort());
});

/** The commands of the section, each in one line. */
const commands = (heading: string): string[] =>
  (page.split(`## ${heading}`)[1] ?? "")
    .split("\n## ")[0]
    ?.replaceAll(/\\\n\s*/g, "")
    .match(/^ {4}(?:curl|echo) .*$/gm)
    ?.map((line) => line.trim()) ?? [];

testWith("curl")("the commands with curl and echo work as they are documented", async () => {
  await fixture.start();
  const replaced = commands("Sending events yourself").map((line) =>
    line
      .replace("http://127.0.0.1:4488", fixture.readUrl())
      .replace("$HOME/.local/state/beckon/auth-header", fixture.paths.authHeader)
      .replace("beckon hook", `'${process.execPath}' '${mainSource}' hook`),
  );
  expect(replaced).toHaveLength(4);
  const outputs: string[] = [];
  for (const line of replaced) {
    const child = fixture.spawn(["sh", "-c", line]);
    outputs.push(await child.stdout.text());
    expect(await child.exited).toBe(0);
  }
  expect(outputs).toEqual(["ok", '{"ok":true}', '{"ok":true}', ""]);
  const session = await fixture.fetchSession("s1");
  expect(session).toMatchObject({ lastPrompt: "go", project: "my-project" });
  expect(session?.children).toMatchObject([{ name: "worker-01", state: "ended" }]);
});
