/** Paths with spaces and foreign letters on Windows, as in the folder of a user who is called Jörg Müller. */
import { afterAll, beforeAll, expect } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readHookCommand } from "../../src/user-files/hook-command.ts";
import { testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";
import { compileForWindows, createWine, hasWine, type Wine, wineNeeds } from "./wine.ts";

const test = testWith(...wineNeeds);
const program = "paths.exe";
let wine: Wine;
let folder = "";

beforeAll(async () => {
  if (!hasWine) return;
  wine = await createWine();
  await compileForWindows(join(import.meta.dir, "../fixtures/wine/paths.ts"), join(wine.folder, program));
  folder = join(wine.folder, "Jörg Müller (home)");
  mkdirSync(folder);
}, 120_000);
afterAll(() => wine?.destroy(), 30_000);

/** A program that writes down its arguments. */
function writeProgram(name: string): { path: string; read: () => string } {
  const output = join(wine.folder, `${name}.txt`);
  writeFileSync(join(folder, `${name}.cmd`), `@echo %*> "${wine.windowsPath(output)}"\r\n`);
  return {
    path: wine.windowsPath(join(folder, `${name}.cmd`)),
    read: () => (existsSync(output) ? readFileSync(output, "utf8").trim() : ""),
  };
}

test("a hook calls a program in such a folder by one word, which needs no quotes in any shell", async () => {
  const { path, read } = writeProgram("beckon");
  const { stdout: command } = await wine.run(program, ["command", path]);
  expect(command).toMatch(/^Z:\/[\w.:/@+~-]+ hook claude ; exit 0$/);
  expect(command).toContain("~");
  // As Codex runs it.
  await wine.run("cmd.exe", ["/c", command.replaceAll("/", "\\")]);
  expect(read()).toStartWith("hook claude");
}, 40_000);

test("a hook by its 8.3 name is known to be beckon's", () => {
  const command = "C:/Users/JRGMLL~1/AppData/Local/Programs/beckon/beckon.exe hook claude ; exit 0";
  expect(readHookCommand(command)).toMatchObject({ agent: "claude" });
  const called = '& "C:/Users/Jörg Müller/beckon.exe" hook copilot ; exit 0';
  expect(readHookCommand(called)).toMatchObject({
    binary: "C:/Users/Jörg Müller/beckon.exe",
    agent: "copilot",
  });
  return Promise.resolve();
});

test("the list of sessions opens with a program in such a folder", async () => {
  const { path, read } = writeProgram("list");
  const { stdout } = await wine.run(program, ["list", path, wine.windowsPath(folder)]);
  expect(stdout).toBe("null");
  await waitUntil(() => read() !== "", 20_000);
  expect(read()).toBe("status --watch");
}, 40_000);
