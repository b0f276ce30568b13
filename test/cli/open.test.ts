import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAppFixture } from "../app-fixture.ts";
import { forEachTest } from "../for-each-test.ts";
import { navigation } from "../navigation.ts";

const fixture = forEachTest(createAppFixture);

const run = (...args: string[]) => runIn({}, ...args);

async function runIn(env: Record<string, string>, ...args: string[]) {
  const child = fixture.spawnBeckon(["open", ...args], env);
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
  const response = await fetch(stdout.trim(), { headers: navigation });
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

test.skipIf(process.platform !== "linux")("says that the page was opened, or why not", async () => {
  await fixture.start();
  // The source runs an opener of its own, which calls $BROWSER; the binary runs the one in the PATH.
  const opener = (script: string) => {
    const browser = join(fixture.home, "browser");
    for (const path of [browser, join(fixture.home, "xdg-open")])
      writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return { PATH: `${fixture.home}:${process.env.PATH}`, BROWSER: browser };
  };
  expect(await runIn(opener("exit 0"))).toEqual({
    stdout: "Opened the dashboard in your browser. If it did not open: beckon open --print\n",
    stderr: "",
    exitCode: 0,
  });
  const { stderr, exitCode } = await runIn(opener("exit 4"));
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(
    /^beckon: no browser could be opened: xdg-open ended with \d: is there a program for such files\? To get the address, run: beckon open --print\n$/,
  );
});
