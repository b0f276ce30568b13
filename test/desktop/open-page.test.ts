import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPage } from "../../src/desktop/open-page.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "beckon-open-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const url = "http://127.0.0.1:4488/?code=secret";

function createProgram(script: string): string {
  const path = join(folder, "osascript");
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o700 });
  return path;
}

test("on macOS the address is in no command line", async () => {
  const osascript = createProgram(`echo "$@" > ${folder}/arguments; cat > ${folder}/stdin`);
  expect(await openPage(url, { platform: "darwin", osascript })).toBeNull();
  expect(readFileSync(join(folder, "arguments"), "utf8")).toBe("-\n");
  expect(readFileSync(join(folder, "stdin"), "utf8")).toBe(`open location "${url}"\n`);
});

test("a browser that could not be opened is reported", async () => {
  const failing = createProgram("exit 1");
  expect(await openPage(url, { platform: "darwin", osascript: failing })).toContain("ended with 1");
  expect(await openPage(url, { platform: "darwin", osascript: "/nowhere/osascript" })).toBe(
    "osascript is not installed",
  );
});
