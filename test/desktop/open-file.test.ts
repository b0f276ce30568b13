import { afterAll, afterEach, beforeAll, beforeEach, expect } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasAll, testWith } from "../needs.ts";

const test = testWith("linux");
const program = join(import.meta.dir, "../fixtures/open-file-program.ts");

let buildFolder: string;
let folder: string;
let path: string;

// Compiled, because from source the package `open` uses an xdg-open of its own.
beforeAll(async () => {
  buildFolder = mkdtempSync(join(tmpdir(), "beckon-open-file-"));
  if (!hasAll(["linux"])) return;
  const compile = { outfile: join(buildFolder, "program") };
  await Bun.build({ entrypoints: [program], target: "bun", compile });
});
afterAll(() => rmSync(buildFolder, { recursive: true, force: true }));

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "beckon-open-file-"));
  path = join(folder, "notes.txt");
  writeFileSync(path, "hello\n");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function openWith(opener: string | null): Promise<{ failure: unknown; tookMs: number }> {
  if (opener !== null) writeFileSync(join(folder, "xdg-open"), `#!/bin/sh\n${opener}\n`, { mode: 0o755 });
  const env = { PATH: folder, HOME: folder };
  const child = Bun.spawn([join(buildFolder, "program"), path], { env, stdout: "pipe" });
  return JSON.parse(await child.stdout.text());
}

test("a file is opened with the user's program", async () => {
  expect((await openWith('echo "$1" > "$0.asked"')).failure).toBeNull();
  expect(readFileSync(join(folder, "xdg-open.asked"), "utf8")).toBe(`${path}\n`);
});

test("without an opener the error names it", async () => {
  expect((await openWith(null)).failure).toBe("xdg-open is not installed");
});

test("an opener that fails is an error", async () => {
  const failure = "xdg-open ended with 4: is there a program for such files?";
  expect((await openWith("exit 4")).failure).toBe(failure);
});

test("an opener that keeps running counts as success, and is not waited for", async () => {
  const { failure, tookMs } = await openWith('while [ -e "$0" ]; do /bin/sleep 0.1; done');
  expect(failure).toBeNull();
  expect(tookMs).toBeWithin(1_900, 10_000);
}, 15_000);
