import { afterAll, afterEach, beforeAll, beforeEach, expect } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasAll, testWith } from "../needs.ts";

const test = testWith("linux");
const module = JSON.stringify(join(import.meta.dir, "../../src/desktop/open-file.ts"));
const program = `import { openFile } from ${module};
const since = performance.now();
const answer = await openFile(process.argv[2]);
console.log(JSON.stringify({ answer, tookMs: performance.now() - since }));
process.exit(0);`;

let built: string;
let folder: string;
let path: string;

// Compiled, as people have it: from source the package `open` brings an xdg-open of its own.
beforeAll(async () => {
  built = mkdtempSync(join(tmpdir(), "beckon-open-file-"));
  if (!hasAll(["linux"])) return;
  writeFileSync(join(built, "program.ts"), program);
  const compile = { outfile: join(built, "program") };
  await Bun.build({ entrypoints: [join(built, "program.ts")], target: "bun", compile });
});
afterAll(() => rmSync(built, { recursive: true, force: true }));

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "beckon-open-file-"));
  path = join(folder, "notes.txt");
  writeFileSync(path, "hello\n");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function openedWith(opener: string | null): Promise<{ answer: unknown; tookMs: number }> {
  if (opener !== null) writeFileSync(join(folder, "xdg-open"), `#!/bin/sh\n${opener}\n`, { mode: 0o755 });
  const env = { PATH: folder, HOME: folder };
  const child = Bun.spawn([join(built, "program"), path], { env, stdout: "pipe" });
  return JSON.parse(await child.stdout.text());
}

test("a file is opened by the person's own program", async () => {
  expect((await openedWith('echo "$1" > "$0.asked"')).answer).toBeNull();
  expect(readFileSync(join(folder, "xdg-open.asked"), "utf8")).toBe(`${path}\n`);
});

test("without an opener it says what is missing", async () => {
  expect((await openedWith(null)).answer).toBe("xdg-open is not installed");
});

test("an opener that fails is not taken for one that did it", async () => {
  const why = "xdg-open ended with 4: is there a program for such files?";
  expect((await openedWith("exit 4")).answer).toBe(why);
});

test("an opener that runs on is the program itself: nobody waits for its end", async () => {
  const { answer, tookMs } = await openedWith('while [ -e "$0" ]; do /bin/sleep 0.1; done');
  expect(answer).toBeNull();
  expect(tookMs).toBeWithin(1_900, 10_000);
}, 15_000);
