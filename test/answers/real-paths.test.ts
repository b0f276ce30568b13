/** A rule for a project allows nothing outside of it, even through a link. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { areInside } from "../../src/answers/real-paths.ts";
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
symlinkSync("loop", join(project, "loop"));
symlinkSync(project, join(root, "other-name"));

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
  ])("%s", async (_, path, expected) => {
    expect(await areInside(project, [join(project, "src"), join(project, path)])).toBe(expected);
    // The project itself can have two paths.
    expect(await areInside(join(root, "other-name"), [join(project, path)])).toBe(expected);
  });
});

test("a rule that allows cat does not allow a link out of the folder: that waits for the user", async () => {
  const fixture = createAnswerFixture();
  try {
    mkdirSync(join(fixture.home, "state"), { mode: 0o700 });
    writeFileSync(
      join(fixture.home, "state/config.json"),
      JSON.stringify({ answering: { autoAllow: { [project]: ["Bash(cat *)"] } } }),
    );
    await fixture.start();
    const cat = (id: string, file: string) =>
      fixture.startHook(createRequest(id, { cwd: project, tool_input: { command: `cat ${file}` } }));
    const linked = cat("s-1", "notes");
    await fixture.waitForAsk("s-1");
    // This request came later and is allowed before it.
    expect(await cat("s-2", "lib/a.ts").printed).toContain('"allow"');
    expect(linked.isRunning()).toBe(true);
  } finally {
    await fixture.destroy();
  }
});
