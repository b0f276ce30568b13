import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAppFixture } from "../app-fixture.ts";
import { forEachTest } from "../for-each-test.ts";
import { navigation } from "../navigation.ts";

const fixture = forEachTest(createAppFixture);

const run = (...args: string[]) => runIn({}, ...args);

const runIn = (env: Record<string, string>, ...args: string[]) => fixture.runBeckon(["open", ...args], env);

test("--print prints the address and nothing else, and the address opens the page", async () => {
  await fixture.start();
  const { out, err, code } = await run("--print");
  expect({ err, code }).toEqual({ err: "", code: 0 });
  expect(out).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?code=[\w-]{43}\n$/);
  const response = await fetch(out.trim(), { headers: navigation });
  expect(response.status).toBe(200);
  expect(await response.text()).toContain("/page.js");
});

test("without a running beckon it says how to start it", async () => {
  expect(await run()).toEqual({
    out: "",
    err: "beckon is not running. Start it with: beckon start\n",
    code: 1,
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
    out: "Opened the dashboard in your browser. If it did not open: beckon open --print\n",
    err: "",
    code: 0,
  });
  const { err, code } = await runIn(opener("exit 4"));
  expect(code).toBe(1);
  expect(err).toMatch(
    /^beckon: no browser could be opened: xdg-open ended with \d: is there a program for such files\? To get the address, run: beckon open --print\n$/,
  );
});
