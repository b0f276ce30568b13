import { afterEach, beforeEach, expect, test } from "bun:test";
import { type AppFixture, createAppFixture } from "../app-fixture.ts";

let fixture: AppFixture;
beforeEach(() => {
  fixture = createAppFixture();
});
afterEach(() => fixture.destroy());

async function run(...args: string[]) {
  const child = fixture.spawnBeckon(["open", ...args]);
  const [stdout, stderr, exitCode] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ]);
  return { stdout, stderr, exitCode };
}

test("--print prints the address and nothing else, and the address opens the page", async () => {
  await fixture.start();
  const { stdout, stderr, exitCode } = await run("--print");
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?code=[\w-]{43}\n$/);
  const response = await fetch(stdout.trim());
  expect(response.status).toBe(200);
  expect(await response.text()).toContain("/page.js");
});

test("without a running beckon it says how to start it", async () => {
  expect(await run()).toEqual({
    stdout: "",
    stderr: "beckon is not running. Start it with: beckon start\n",
    exitCode: 1,
  });
});
