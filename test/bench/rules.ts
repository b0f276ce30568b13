/** A rule tried on 10,000 recorded asks: reading them from the history, one back-test, and all suggestions. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { claude } from "../../src/agents/claude/index.ts";
import { openDatabase } from "../../src/history/database.ts";
import { readPastAsks } from "../../src/history/queries/past-asks.ts";
import { toSeq } from "../../src/history/seq.ts";
import { studyAsks } from "../../src/rules/study.ts";
import everyday from "../fixtures/everyday-commands.json";
import { meets } from "./rounds.ts";

const asks = 10_000;
const folder = mkdtempSync(join(tmpdir(), "beckon-bench-rules-"));
const db = openDatabase(join(folder, "history.db"));
const start = Date.now() - 30 * 24 * 60 * 60_000;
const projects = ["shop-web", "shop-api", "docs"];
db.run("BEGIN");
for (const project of projects)
  db.run(
    "INSERT INTO sessions (key, provider, session_id, project, cwd, started_at, last_at) VALUES (?, 'claude', ?, ?, ?, ?, ?)",
    [`claude:${project}`, project, project, `/home/me/${project}`, start, start],
  );
for (let n = 0; n < asks; n++) {
  const project = projects[n % projects.length] ?? "";
  const command =
    n % 3 === 0 ? `npm test src/file-${n % 40}.test.ts` : (everyday[n % everyday.length]?.command ?? "");
  const at = start + n * 250_000;
  const payload = {
    hook_event_name: "PermissionRequest",
    tool_name: "Bash",
    tool_input: { command },
    cwd: `/home/me/${project}`,
  };
  db.run(
    "INSERT INTO asks (id, key, request, kind, tool, summary, project, opened_at, closed_at, waited_ms, how) VALUES (?, ?, ?, 'permission', 'Bash', ?, ?, ?, ?, 30000, ?)",
    [
      `a-${n}`,
      `claude:${project}`,
      `r-${n}`,
      command,
      project,
      at,
      at + 30_000,
      n % 50 === 49 ? "denied" : "allowed",
    ],
  );
  db.run(
    "INSERT INTO normalized_events VALUES (?, ?, ?, 'notification', 'hook', 'w', 't', NULL, NULL, 'a', NULL, NULL, 'info', '{}', NULL, ?)",
    [toSeq(at), `r-${n}`, at, JSON.stringify(payload)],
  );
}
db.run("COMMIT");

function time<T>(name: string, work: () => T): { readonly value: T; readonly ms: number } {
  // Time of the processor: it runs in a thread of its own, and a busy machine says nothing about it.
  const from = process.cpuUsage();
  const value = work();
  const { user, system } = process.cpuUsage(from);
  const ms = (user + system) / 1_000;
  console.log(`${name.padEnd(28)} ${ms.toFixed(0)} ms`);
  return { value, ms };
}

const read = time("read 10,000 asks", () => readPastAsks(db, new Map([["claude", claude]])));
const rule = {
  name: "r",
  agent: "claude",
  project: "/home/me/shop-web",
  text: "Bash(npm test *)",
  madeAt: 0,
  madeFrom: "text",
} as const;
const tested = time("back-test of one rule", () =>
  studyAsks(read.value, { do: "test", rule, rules: [] }, [], Date.now()),
);
const suggested = time("all suggestions", () =>
  studyAsks(read.value, { do: "suggest", rules: [] }, [], Date.now()),
);
time("precedent of all", () => studyAsks(read.value, { do: "tally", before: Date.now() }, [], Date.now()));
console.log(
  `${read.value.length} asks, ${tested.value.answered} answered, ${suggested.value.suggestions.length} suggestions`,
);
db.close();
rmSync(folder, { recursive: true });
if (!meets("read and back-test, in ms", read.ms + tested.ms, "at most", 1_000)) process.exitCode = 1;
