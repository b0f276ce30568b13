import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeKept } from "../../src/cli/uninstall-text.ts";
import { resolvePaths } from "../../src/storage/paths.ts";

let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "beckon-ann's-"));
});
afterEach(() => rmSync(home, { recursive: true }));

test("what is not there is not spoken of", () => {
  const places = resolvePaths({ HOME: home }, "linux");
  expect(describeKept(places, false, "linux")).toEqual([]);
  mkdirSync(places.state, { recursive: true });
  const [said = ""] = describeKept(places, false, "linux");
  expect(said).toStartWith(`Kept: what beckon knew (${places.state}). To remove it too: rm -r '`);
});

test("the command takes a quote in a path, in the words of each system", () => {
  const places = resolvePaths({ HOME: home }, "linux");
  const config = join(home, ".config", "beckon");
  for (const folder of [places.state, config]) mkdirSync(folder, { recursive: true });
  const [said = ""] = describeKept(places, false, "linux");
  const command = said.slice(said.indexOf("rm -r"));
  const listed = Bun.spawnSync(["sh", "-c", command.replace("rm -r", "printf '%s\\n'")]);
  expect(listed.stdout.toString()).toBe(`${places.state}\n${config}\n`);
  expect(describeKept(places, false, "win32")[0]).toEndWith(`rmdir /s /q "${places.state}" "${config}"`);
});

test("nobody is told to remove a folder of their own choice that holds more than beckon's files", () => {
  const places = resolvePaths({ BECKON_HOME: home }, "linux");
  writeFileSync(places.log, "");
  expect(describeKept(places, true, "linux")[0]).toContain(
    `what beckon knew and your settings (${home}). To remove it too: rm -r `,
  );
  writeFileSync(join(home, "thesis.tex"), "");
  const [said = ""] = describeKept(places, true, "linux");
  expect(said).toContain(`among other files in ${home}`);
  expect(said).not.toContain("rm -r");
});
