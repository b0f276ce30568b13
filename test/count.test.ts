import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { countTests } from "./count.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "beckon-count-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function countIn(body: string) {
  const file = join(folder, "a.test.ts");
  writeFileSync(file, `import { expect, test } from "bun:test";\n${body}`);
  const { AGENT: _, CLAUDECODE: __, ...env } = process.env;
  const child = Bun.spawnSync([process.execPath, "test", file], { cwd: folder, env });
  return countTests({ exitCode: child.exitCode, lines: `${child.stdout}\n${child.stderr}`.split("\n") });
}

const good = 'test("good", () => {});';

test("passed, failed and skipped tests are counted, the skipped ones by name", () => {
  const bad = 'test("bad", () => expect(1).toBe(2));';
  const skipped = 'test.skip("no root (needs root)", () => {}); test.todo("one day");';
  expect(countIn(good + good + bad + skipped)).toEqual({
    passed: 2,
    failed: 1,
    skipped: ["no root (needs root)", "one day"],
  });
});

test("a file whose tests all pass has no failure", () => {
  expect(countIn(good)).toEqual({ passed: 1, failed: 0, skipped: [] });
});

test.each([
  ["exits with code 0 in the middle", `${good} test("exits", () => process.exit(0)); ${good}`],
  ["is killed", `${good} test("dies", () => process.kill(process.pid, "SIGKILL"));`],
  ["does not parse", "const = 1;"],
  ["throws before its first test", `throw new Error("no"); ${good}`],
  [
    "throws in the background",
    `const late = Promise.withResolvers(); test("a", () => { setTimeout(() => { late.resolve(); throw new Error("late"); }, 1); }); test("b", () => late.promise);`,
  ],
  ["contains no test", ""],
  [
    "prints its own summary and exits",
    'console.log(" 3 pass\\n 0 fail\\nRan 3 tests across 1 file."); process.exit(1);',
  ],
])("a file that %s counts as failed", (_what, body) => {
  expect(countIn(body).failed).toBe(1);
});
