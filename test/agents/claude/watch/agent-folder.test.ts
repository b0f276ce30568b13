import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findInsideFolders } from "../../../../src/agents/watch/index.ts";

let home: string;
const at = (path: string) => join(home, path);

beforeAll(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "beckon-agent-folder-")));
  for (const folder of [
    "projects/p/s1/subagents",
    "projects/p/folder.jsonl",
    "projects-evil",
    "real",
    "elsewhere",
  ]) {
    mkdirSync(at(folder), { recursive: true });
  }
  for (const file of [
    "projects/p/s1.jsonl",
    "projects/p/s1/subagents/agent-a.jsonl",
    "projects/p/secret.json",
    "projects-evil/s1.jsonl",
    "elsewhere/s1.jsonl",
    "real/s1.jsonl",
    "s1.jsonl",
  ]) {
    writeFileSync(at(file), "{}\n");
  }
  symlinkSync(at("projects/p/s1.jsonl"), at("projects/p/inside.jsonl"));
  symlinkSync(at("elsewhere/s1.jsonl"), at("projects/p/escape.jsonl"));
  symlinkSync(at("elsewhere"), at("projects/escape"));
  symlinkSync(at("projects/p/secret.json"), at("projects/p/renamed.jsonl"));
  symlinkSync("/dev/zero", at("projects/p/zero.jsonl"));
  symlinkSync("loop.jsonl", at("projects/p/loop.jsonl"));
  symlinkSync(at("real"), at("linked-projects"));
  Bun.spawnSync(["mkfifo", at("projects/p/pipe.jsonl")]);
});
afterAll(() => rmSync(home, { recursive: true }));

const roots = () => [at("no-such-folder"), at("projects"), at("linked-projects")];

test.each([
  ["a transcript", "projects/p/s1.jsonl", "projects/p/s1.jsonl"],
  [
    "a subagent's transcript",
    "projects/p/s1/subagents/agent-a.jsonl",
    "projects/p/s1/subagents/agent-a.jsonl",
  ],
  ["a link that stays inside", "projects/p/inside.jsonl", "projects/p/s1.jsonl"],
  ["a folder that is itself a link", "linked-projects/s1.jsonl", "real/s1.jsonl"],
])("%s is read", async (_, path, real) => {
  expect(await findInsideFolders(at(path), roots())).toBe(at(real));
});

test.each([
  ["a file beside the folder", "s1.jsonl"],
  ["a folder whose name begins the same", "projects-evil/s1.jsonl"],
  ["a link to a file elsewhere", "projects/p/escape.jsonl"],
  ["a link to a folder elsewhere", "projects/escape/s1.jsonl"],
  ["another kind of file", "projects/p/secret.json"],
  ["another kind of file by a link's name", "projects/p/renamed.jsonl"],
  ["a device", "projects/p/zero.jsonl"],
  ["a pipe", "projects/p/pipe.jsonl"],
  ["a folder", "projects/p/folder.jsonl"],
  ["the folder itself", "projects"],
  ["a link to itself", "projects/p/loop.jsonl"],
  ["no file", "projects/p/none.jsonl"],
])("%s is not read", async (_, path) => {
  expect(await findInsideFolders(at(path), roots())).toBeNull();
});

test("a path with .. or other tricks is not read", async () => {
  const crooked = [
    `${at("projects")}/../s1.jsonl`,
    `${at("projects")}/p/../p/s1.jsonl`,
    "projects/p/s1.jsonl",
    "./s1.jsonl",
    "",
    "\0",
    `${at("projects/p/s1.jsonl")}\0.jsonl`,
    `${at("projects")}/${"n".repeat(300)}.jsonl`,
    `${at("projects")}/${"n/".repeat(5_000)}s1.jsonl`,
    "file:///etc/passwd.jsonl",
    "~/.claude/projects/p/s1.jsonl",
  ];
  for (const path of crooked) expect(await findInsideFolders(path, roots())).toBeNull();
});

test("without the agent's folder nothing is read", async () => {
  expect(await findInsideFolders(at("projects/p/s1.jsonl"), [])).toBeNull();
});
