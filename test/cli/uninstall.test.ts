import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeKept, describeMachines } from "../../src/cli/uninstall.ts";
import { resolvePaths } from "../../src/storage/paths.ts";

let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "beckon-ann's-"));
});
afterEach(() => rmSync(home, { recursive: true }));

test("what stays: only folders that exist are named", () => {
  const places = resolvePaths({ HOME: home }, "linux");
  expect(describeKept(places, false, "linux")).toEqual([]);
  mkdirSync(places.state, { recursive: true });
  const [said = ""] = describeKept(places, false, "linux");
  expect(said).toStartWith(`Kept beckon's data (${places.state}). To remove it too: rm -r '`);
});

test("what stays: the command to remove it is quoted for each system", () => {
  const places = resolvePaths({ HOME: home }, "linux");
  const config = join(home, ".config", "beckon");
  for (const folder of [places.state, config]) mkdirSync(folder, { recursive: true });
  const [said = ""] = describeKept(places, false, "linux");
  const command = said.slice(said.indexOf("rm -r"));
  const listed = Bun.spawnSync(["sh", "-c", command.replace("rm -r", "printf '%s\\n'")]);
  expect(listed.stdout.toString()).toBe(`${places.state}\n${config}\n`);
  expect(describeKept(places, false, "win32")[0]).toEndWith(`rmdir /s /q "${places.state}" "${config}"`);
});

test("what stays: no command for a chosen folder that has other files too", () => {
  const places = resolvePaths({ BECKON_HOME: home }, "linux");
  writeFileSync(places.log, "");
  expect(describeKept(places, true, "linux")[0]).toContain(
    `beckon's data and your settings (${home}). To remove it too: rm -r `,
  );
  writeFileSync(join(home, "thesis.tex"), "");
  const [said = ""] = describeKept(places, true, "linux");
  expect(said).toContain(`among other files in ${home}`);
  expect(said).not.toContain("rm -r");
});

test("what stays: the beckons of linked machines, each with the command that removes it", () => {
  expect(describeMachines({})).toEqual([]);
  expect(describeMachines({ devbox: { ssh: "me@devbox" }, any: { command: ["nc", "host", "7"] } })).toEqual([
    "devbox keeps its own beckon. To remove that too: ssh me@devbox '~/.local/bin/beckon --uninstall'",
    "any keeps its own beckon. To remove that too, run beckon --uninstall there.",
  ]);
});
