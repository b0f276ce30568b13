import { afterAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { removeTemporaryFolders } from "./folder.ts";
import { spoolWorld } from "./spool-fixture.ts";

afterAll(removeTemporaryFolders);

const perWriter = 150;

/** Opens, now and then dawdles, writes one line, closes: as a forwarder on a busy machine. */
const writer = `
  import { closeSync, openSync, writeSync } from "node:fs";
  const [path, name] = process.argv.slice(1);
  for (let n = 0; n < ${perWriter}; n++) {
    const fd = openSync(path, "a", 0o600);
    if (n % 25 === 0) await Bun.sleep(Math.random() * 150);
    writeSync(fd, JSON.stringify({ provider: "claude", payload: { id: name + n, text: "x".repeat(n * 20) } }) + "\\n");
    closeSync(fd);
    if (n % 5 === 0) await Bun.sleep(Math.random() * 30);
  }
`;

test("four writers at once, files put away under them, a consumer that dies and comes back: every event once", async () => {
  const world = spoolWorld();
  const writers = ["a", "b", "c", "d"].map((name) =>
    Bun.spawn([process.execPath, "-e", writer, world.path, name], { stderr: "inherit" }),
  );
  let running = true;
  const done = Promise.all(writers.map(({ exited }) => exited)).then((codes) => {
    running = false;
    return codes;
  });
  let removed = 0;
  let dead = { value: false };
  const start = () => {
    const mine = { value: false };
    dead = mine;
    return world.open({
      quietMs: 400,
      accept: async (text, next) => {
        if (mine.value) return new Promise<"accepted">(() => {});
        world.taken.push(text);
        world.position = next;
        return "accepted";
      },
    });
  };
  let spool = start();
  let wasThere = false;
  for (let round = 1; running || existsSync(world.path) || existsSync(world.putAway); round++) {
    await spool.poll();
    const isThere = existsSync(world.putAway);
    if (wasThere && !isThere) removed++;
    wasThere = isThere;
    await Bun.sleep(20);
    if (round % 40 === 0) {
      dead.value = true;
      spool = start();
    }
  }
  expect(await done).toEqual([0, 0, 0, 0]);
  const ids = world.ids();
  const expected = ["a", "b", "c", "d"].flatMap((name) =>
    Array.from({ length: perWriter }, (_, n) => name + n),
  );
  expect(ids).toHaveLength(expected.length);
  expect([...ids].sort()).toEqual(expected.sort());
  expect(removed).toBeGreaterThanOrEqual(2);
  expect(world.errors).toEqual([]);
}, 15_000);
