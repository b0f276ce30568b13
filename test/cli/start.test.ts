/** `beckon start`: it runs on by itself. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { readEndpoint } from "../../src/system/endpoint.ts";
import { isAlive } from "../../src/system/processes.ts";
import { createWorld, until, type World } from "../world.ts";

let world: World;
let pid: number | null = null;
beforeEach(() => {
  world = createWorld();
});
afterEach(async () => {
  const left = pid;
  pid = null;
  if (left !== null && isAlive(left, null)) {
    process.kill(left, "SIGKILL");
    await until(() => !isAlive(left, null), 5_000);
  }
  await world.destroy();
});

async function beckon(args: string[], env: Record<string, string> = {}) {
  const child = world.beckon(args, env);
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { out, err, code: await child.exited };
}
const left = () => readdirSync(tmpdir()).filter((name) => name.startsWith("beckon-start-"));

test("starts it, says where it runs, and finds it running the next time", async () => {
  const before = left();
  const first = await beckon(["start"]);
  const found = readEndpoint(world.places);
  pid = found?.pid ?? null;
  const at = `at ${found?.url} (pid ${pid})`;
  expect(first).toEqual({ out: `beckon is running ${at}. Stop it with: beckon stop\n`, err: "", code: 0 });
  expect(await beckon(["start"])).toEqual({ out: `beckon already runs ${at}.\n`, err: "", code: 0 });
  expect(left()).toEqual(before);
  expect((await beckon(["stop"])).out).toStartWith("beckon is stopped.");
});

test("says why it could not be started, and where its log is", async () => {
  const { out, err, code } = await beckon(["start"], { BECKON_PORT: "abc" });
  expect({ out, code }).toEqual({ out: "", code: 1 });
  expect(err).toBe(
    `beckon could not be started: BECKON_PORT is "abc", which is no port. Use a number from 1 to 65535. Its log: ~/state/beckon.log\n`,
  );
});
