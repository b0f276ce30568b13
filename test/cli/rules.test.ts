/** `beckon rules` and `beckon trust` against the running app. */
import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createAnswerFixture, createRequest } from "../answers/fixture.ts";
import { forEachTest } from "../for-each-test.ts";
import { waitUntil } from "../wait-until.ts";

const fixture = forEachTest(createAnswerFixture);

async function beckon(...args: string[]): Promise<{ code: number; out: string }> {
  const child = Bun.spawn([...fixture.command, ...args], {
    env: fixture.env,
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, out: out + errors };
}

test("a rule is suggested with the command that adds it, tested, listed and removed", async () => {
  const project = join(fixture.home, "shop");
  mkdirSync(project);
  await fixture.start();
  for (const id of ["s-1", "s-2", "s-3"]) {
    const hook = fixture.startHook(createRequest(id, { cwd: project }), { CLAUDE_PROJECT_DIR: project });
    const { answerId } = await fixture.waitForAsk(id);
    await fixture.answer(id, { ask: answerId, do: "allow", by: "page" });
    await hook.exited;
  }
  await waitUntil(async () => (await beckon("rules", "suggest")).out.includes("Bash(npm test)"), 15_000);
  const { out } = await beckon("rules", "suggest");
  expect(out).toContain("would have answered 3 of 3 asks: 3 as you did, none that you denied");
  expect(out).toContain(`beckon rules add 'Bash(npm test)' --project ~/shop --agent claude`);
  expect(await beckon("rules", "add", "Bash(npm test)", "--project", project)).toMatchObject({
    code: 0,
    out: expect.stringContaining("beckon rules remove npm-test-shop"),
  });
  expect((await beckon("rules")).out).toContain("npm-test-shop  Bash(npm test)");
  expect((await beckon("rules", "test", "npm-test-shop")).out).toContain("would have answered 3 of 3 asks");
  expect((await beckon("rules", "remove", "npm-test-shop")).code).toBe(0);
  expect((await beckon("rules")).out).toContain("There are no rules");
});

test("trust takes one end, and says when it is", async () => {
  await fixture.start();
  fixture.startHook(createRequest("s-1"));
  await fixture.waitForAsk("s-1");
  expect((await beckon("trust", "s-1", "--for", "30m")).out).toMatch(
    /^Trusted until \d\d:\d\d: .*beckon trust s-1 --end/,
  );
  expect((await beckon("rules")).out).toContain("Trusted until");
  expect((await beckon("trust", "s-1", "--end")).out).toBe("It is asked again from now on.\n");
  expect((await beckon("trust", "s-1", "--for", "30m", "--end")).code).toBe(2);
  expect((await beckon("trust", "s-1", "--until", "25:00")).out).toContain("--until takes a time like 15:00");
});
