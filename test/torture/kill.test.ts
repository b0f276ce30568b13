import { expect, test } from "bun:test";
import { appendFileSync } from "node:fs";
import { survivesKills } from "./kill-test.ts";
import { briefOf, prompted } from "./story.ts";
import { createWorld } from "./world.ts";

test(
  "50 times kill -9 at random moments under load: what was taken is there, once, and counted",
  () => survivesKills({ times: 50, longLives: 1 }),
  120_000,
);

test("an event that comes again after a stop or a kill, by any door or the spool, counts once", async () => {
  const world = await createWorld();
  try {
    const body = (n: number) => ({
      provider: "claude",
      _meta: { id: `e${n}` },
      payload: prompted("first", String(n)),
    });
    const older = (n: number) => ({ ...prompted("first", String(n)), _meta: { id: `e${n}` } });
    for (const [n, end] of (["stop", "kill", "stop", "kill"] as const).entries()) {
      const app = await world.start();
      for (let again = 0; again <= n; again++) {
        expect((await world.post(body(again))).status).toBe(200);
        expect((await world.post(older(again), "/ingest")).status).toBe(200);
        await world.hook(older(again));
      }
      await app[end]();
      for (let again = 0; again <= n; again++)
        appendFileSync(world.inHome("spool.jsonl"), `${JSON.stringify(body(again))}\n`);
    }
    await world.start();
    expect(world.journal().map(({ id }) => id)).toEqual(["e0", "e1", "e2", "e3"]);
    expect(briefOf(await world.status(), "first")).toMatchObject({ turns: 4, prompt: "3" });
  } finally {
    await world.destroy();
  }
}, 20_000);

test("an event that is still in the spool when the app is stopped is put in its place", async () => {
  const world = await createWorld();
  try {
    const now = Date.now();
    const body = (n: number) => ({
      provider: "claude",
      _meta: { id: `e${n}`, at: now - 3_000 + n * 1_000 },
      payload: prompted("first", String(n)),
    });
    const app = await world.start();
    appendFileSync(world.inHome("spool.jsonl"), `${JSON.stringify(body(1))}\n`);
    expect((await world.post(body(2))).status).toBe(200);
    expect(await app.stop()).toBe(0);
    await world.start();
    expect(briefOf(await world.status(), "first")).toMatchObject({ turns: 2, prompt: "2" });
  } finally {
    await world.destroy();
  }
});
