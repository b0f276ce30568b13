import { afterAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { letTimePass } from "../wait-until.ts";
import { removeTemporaryFolders } from "./folder.ts";
import { createSpoolFixture } from "./spool-fixture.ts";

afterAll(removeTemporaryFolders);

const eventsPerWriter = 150;

/** Opens the file, sometimes waits, writes one line and closes it, as a forwarder on a busy machine does. */
const writer = `
  import { letTimePass } from "${join(import.meta.dir, "../wait-until.ts")}";
  import { closeSync, openSync, writeSync } from "node:fs";
  const [path, name] = process.argv.slice(1);
  for (let n = 0; n < ${eventsPerWriter}; n++) {
    const fd = openSync(path, "a", 0o600);
    if (n % 25 === 0) await letTimePass(Math.random() * 150, "a busy machine");
    writeSync(fd, JSON.stringify({ provider: "claude", payload: { id: name + n, text: "x".repeat(n * 20) } }) + "\\n");
    closeSync(fd);
    if (n % 5 === 0) await letTimePass(Math.random() * 30, "a busy machine");
  }
`;

test("four writers and an app that is killed and restarted: every event is accepted once", async () => {
  const fixture = createSpoolFixture();
  const names = ["a", "b", "c", "d"];
  const writers = names.map((name) =>
    Bun.spawn([process.execPath, "-e", writer, fixture.path, name], { stderr: "inherit" }),
  );
  let isWriting = true;
  const exitCodes = Promise.all(writers.map(({ exited }) => exited)).then((codes) => {
    isWriting = false;
    return codes;
  });
  let kill = () => {};
  const startApp = () => {
    let isKilled = false;
    kill = () => {
      isKilled = true;
    };
    return fixture.open({
      quietMs: 400,
      now: () => performance.now(),
      // Never settles, as in a process that is gone.
      accept: (text, next) => (isKilled ? new Promise(() => {}) : fixture.accept(text, next)),
    });
  };
  let spool = startApp();
  let removedFiles = 0;
  let hadRotated = false;
  for (let round = 1; isWriting || existsSync(fixture.path) || existsSync(fixture.rotated); round++) {
    await spool.poll();
    const hasRotated = existsSync(fixture.rotated);
    if (hadRotated && !hasRotated) removedFiles++;
    hadRotated = hasRotated;
    await letTimePass(20, "the app looks for new lines now and then");
    if (round % 40 === 0) {
      kill();
      spool = startApp();
    }
  }
  expect(await exitCodes).toEqual([0, 0, 0, 0]);
  const expected = names.flatMap((name) => Array.from({ length: eventsPerWriter }, (_, n) => name + n));
  expect(fixture.ids().sort()).toEqual(expected.sort());
  expect(removedFiles).toBeGreaterThanOrEqual(2);
  expect(fixture.errors).toEqual([]);
}, 15_000);
