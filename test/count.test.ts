import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { count } from "./count.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "beckon-count-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function countOf(body: string) {
  const file = join(folder, "a.test.ts");
  writeFileSync(file, `import { expect, test } from "bun:test";\n${body}`);
  const { AGENT: _, CLAUDECODE: __, ...env } = process.env;
  const run = Bun.spawnSync([process.execPath, "test", file], { cwd: folder, env });
  return count({ exitCode: run.exitCode, lines: `${run.stdout}\n${run.stderr}`.split("\n") });
}

const good = 'test("good", () => {});';

test("passed, failed and skipped tests are counted, the skipped ones by name", () => {
  const bad = 'test("bad", () => expect(1).toBe(2));';
  const skipped = 'test.skip("no root (needs root)", () => {}); test.todo("one day");';
  expect(countOf(good + good + bad + skipped)).toEqual({
    passed: 2,
    failed: 1,
    skipped: ["no root (needs root)", "one day"],
  });
});

test("a file that is all good has no failure", () => {
  expect(countOf(good)).toEqual({ passed: 1, failed: 0, skipped: [] });
});

test.each([
  ["leaves with exit code 0 in the middle", `${good} test("leaves", () => process.exit(0)); ${good}`],
  ["is killed", `${good} test("dies", () => process.kill(process.pid, "SIGKILL"));`],
  ["does not parse", "const = 1;"],
  ["throws before its first test", `throw new Error("no"); ${good}`],
  [
    "throws in the background",
    `test("a", () => { setTimeout(() => { throw new Error("late"); }, 1); }); test("b", () => Bun.sleep(20));`,
  ],
  ["holds no test", ""],
  [
    "prints a summary of its own and leaves",
    'console.log(" 3 pass\\n 0 fail\\nRan 3 tests across 1 file."); process.exit(1);',
  ],
])("a file that %s has failed", (_what, body) => {
  expect(countOf(body).failed).toBe(1);
});
