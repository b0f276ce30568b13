/** A rule for a project allows nothing outside of it, even through a link. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { followLinks, staysInside } from "../../src/answers/real-paths.ts";
import { createAnswerFixture, createRequest } from "./fixture.ts";

const root = mkdtempSync(join(tmpdir(), "beckon-links-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const project = join(root, "project");
mkdirSync(join(project, "src"), { recursive: true });
mkdirSync(join(root, "elsewhere"));
writeFileSync(join(root, "elsewhere/notes"), "not yours");
writeFileSync(join(project, "src/a.ts"), "");
symlinkSync("../elsewhere/notes", join(project, "notes"));
symlinkSync("../elsewhere", join(project, "docs"));
symlinkSync("src", join(project, "lib"));
for (const folder of ["linked", "leaving", "deep/er"]) mkdirSync(join(project, folder), { recursive: true });
symlinkSync("../src/a.ts", join(project, "linked/a.ts"));
symlinkSync("../../elsewhere/notes", join(project, "leaving/a.ts"));
symlinkSync("../../../elsewhere/notes", join(project, "deep/er/a.ts"));
symlinkSync("loop", join(project, "loop"));
symlinkSync("../elsewhere/later", join(project, "later"));
symlinkSync("later", join(project, "chain"));
symlinkSync(project, join(root, "other-name"));

describe("a path leads", () => {
  const real = realpathSync(root);
  test.each<[string, string, string | null]>([
    ["to itself", "src/a.ts", "project/src/a.ts"],
    ["to what does not exist", "src/new/file", "project/src/new/file"],
    ["where its link leads", "notes", "elsewhere/notes"],
    ["where a chain of links ends, although nothing is there", "chain", "elsewhere/later"],
    ["through a link to a folder", "docs/new", "elsewhere/new"],
    ["to the parent of a link's target", "docs/../x", "x"],
    ["nowhere, if it is a circle", "loop/a", null],
  ])("%s", (_, path, expected) => {
    expect(followLinks(join(project, "/") + path)).toBe(expected === null ? null : join(real, expected));
  });

  test("nowhere known, if each process has its own", () => {
    expect(followLinks("/proc/self/cwd/a")).toBe(null);
    for (const link of ["cwd", "root", "exe", "task/1/cwd", "fd/0"])
      expect(followLinks(`/proc/${process.pid}/${link.replace("1", String(process.pid))}/a`)).toBe(null);
    expect(followLinks(`/proc/${process.pid}/status`)).toBe(`/proc/${process.pid}/status`);
  });
});

describe("paths", () => {
  test.each<[string, string, boolean]>([
    ["a file", "src/a.ts", true],
    ["the folder itself", ".", true],
    ["a link that stays inside", "lib/a.ts", true],
    ["what is not there", "src/nothing/here", true],
    ["a word that is not a path", "HEAD~1", true],
    ["a link to a file outside", "notes", false],
    ["a file behind a link to a folder outside", "docs/notes", false],
    ["what is not there, behind such a link", "docs/new", false],
    ["a link to itself", "loop", false],
    ["a link to a file outside that is not there yet", "later", false],
  ])("%s", async (_, path, expected) => {
    const paths = [join(project, "src"), join(project, path)];
    expect(await staysInside({ folder: project, paths, readThroughLinks: [] })).toBe(expected);
    // The project itself can have two paths.
    const folder = join(root, "other-name");
    expect(await staysInside({ folder, paths, readThroughLinks: [] })).toBe(expected);
  });
  test.each<[string, string, boolean]>([
    ["a folder without links", "src", true],
    ["a file", "src/a.ts", true],
    ["what is not there", "nothing", true],
    ["a folder with a link that stays inside", "linked", true],
    ["a folder with a link to a file outside", "leaving", false],
    ["a folder with such a link in a subfolder", "deep", false],
  ])("%s, read through its links", async (_, path, expected) => {
    const readThroughLinks = [join(project, path)];
    expect(await staysInside({ folder: project, paths: [], readThroughLinks })).toBe(expected);
  });
  test("a folder with too many files is left to the user", async () => {
    const folder = join(root, "large");
    mkdirSync(folder);
    for (let i = 0; i < 10_001; i++) writeFileSync(join(folder, String(i)), "");
    expect(await staysInside({ folder, paths: [folder], readThroughLinks: [] })).toBe(true);
    expect(await staysInside({ folder, paths: [], readThroughLinks: [folder] })).toBe(false);
  });
});

test.each([
  ["cat notes", "cat lib/a.ts"],
  ["diff leaving linked", "diff src linked"],
  ["diff src/a.ts leaving", "diff src/a.ts linked"],
  ["grep -r x leaving", "grep -r x linked"],
])(
  "%s reads through a link out of the folder and waits for the user, %s does not",
  async (leaving, staying) => {
    const fixture = createAnswerFixture();
    try {
      mkdirSync(join(fixture.home, "state"), { mode: 0o700 });
      writeFileSync(
        join(fixture.home, "state/config.json"),
        JSON.stringify({
          answering: { autoAllow: { [project]: ["Bash(cat *)", "Bash(diff *)", "Bash(grep *)"] } },
        }),
      );
      await fixture.start();
      const run = (id: string, command: string) =>
        fixture.startHook(createRequest(id, { cwd: project, tool_input: { command } }));
      const linked = run("s-1", leaving);
      await fixture.waitForAsk("s-1");
      // This request came later and is allowed before it.
      expect(await run("s-2", staying).printed).toContain('"allow"');
      expect(linked.isRunning()).toBe(true);
    } finally {
      await fixture.destroy();
    }
  },
);

describe("a link that changes after it was shown", () => {
  test("is not allowed from here any more, and shown as it is now", async () => {
    const fixture = createAnswerFixture();
    await fixture.start();
    const link = join(project, "readme.md");
    symlinkSync("src/a.ts", link);
    const hook = fixture.startHook(
      createRequest("s-1", {
        cwd: project,
        tool_name: "Write",
        tool_input: { file_path: link, content: "alias ls=rm\n" },
      }),
      { CLAUDE_PROJECT_DIR: project },
    );
    const shown = await fixture.waitForAsk("s-1");
    expect([shown.asked.lines, shown.asked.dangers]).toEqual([["⟨a link to⟩ src/a.ts", "+ alias ls=rm"], []]);
    const allow = { ask: shown.answerId, do: "allow", confirmed: true };
    rmSync(link);
    symlinkSync("../elsewhere/notes", link);
    expect(await fixture.answer("s-1", allow)).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining("a link was changed after this was shown") },
    });
    const again = await fixture.waitForAsk("s-1");
    expect(again.asked.isWhole).toBe(false);
    expect(again.asked.lines[0]).toContain("elsewhere/notes");
    expect(again.asked.dangers[0]).toBe("a link was changed after this was first shown");
    // A notification may still show the first link, even if it is back.
    rmSync(link);
    symlinkSync("src/a.ts", link);
    expect((await fixture.answer("s-1", allow)).status).toBe(409);
    expect(hook.isRunning()).toBe(true);
    expect((await fixture.answer("s-1", { ask: shown.answerId, do: "deny" })).status).toBe(200);
    await fixture.destroy();
  });
});
