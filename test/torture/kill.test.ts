import { expect, test } from "bun:test";
import { appendFileSync } from "node:fs";
import { waitForValue } from "../wait-until.ts";
import { createFixture } from "./fixture.ts";
import { checkKills } from "./kill-run.ts";
import { eventsUntilAsk, findSession, prompted, summarizeSession } from "./scenario.ts";

test(
  "after 25 times kill -9 under load, every accepted event is there once and counted",
  () => checkKills({ times: 25, longRuns: 1 }),
  120_000,
);

test("an event that is sent again after a stop or a kill, in any way, counts once", async () => {
  const fixture = await createFixture();
  try {
    const body = (n: number) => ({
      provider: "claude",
      _meta: { id: `e${n}` },
      payload: prompted("first", String(n)),
    });
    const older = (n: number) => ({ ...prompted("first", String(n)), _meta: { id: `e${n}` } });
    for (const [n, end] of (["stop", "kill", "stop", "kill"] as const).entries()) {
      const app = await fixture.start();
      for (let again = 0; again <= n; again++) {
        expect((await fixture.post(body(again))).status).toBe(200);
        expect((await fixture.post(older(again), "/ingest")).status).toBe(200);
        await fixture.hook(older(again));
      }
      await app[end]();
      for (let again = 0; again <= n; again++)
        appendFileSync(fixture.inHome("spool.jsonl"), `${JSON.stringify(body(again))}\n`);
    }
    await fixture.start();
    expect(fixture.journal().map(({ id }) => id)).toEqual(["e0", "e1", "e2", "e3"]);
    expect(summarizeSession(await fixture.status(), "first")).toMatchObject({ turns: 4, prompt: "3" });
  } finally {
    await fixture.destroy();
  }
}, 20_000);

test("an event that is in the spool when the app is stopped is put in the right order", async () => {
  const fixture = await createFixture();
  try {
    const now = Date.now();
    const body = (n: number) => ({
      provider: "claude",
      _meta: { id: `e${n}`, at: now - 3_000 + n * 1_000 },
      payload: prompted("first", String(n)),
    });
    const app = await fixture.start();
    appendFileSync(fixture.inHome("spool.jsonl"), `${JSON.stringify(body(1))}\n`);
    expect((await fixture.post(body(2))).status).toBe(200);
    expect(await app.stop()).toBe(0);
    await fixture.start();
    expect(summarizeSession(await fixture.status(), "first")).toMatchObject({ turns: 2, prompt: "2" });
  } finally {
    await fixture.destroy();
  }
});

test("what you mute, snooze or dismiss stays so after kill -9, while beckon is stopped and after the next start", async () => {
  const fixture = await createFixture();
  const actions = { first: "mute", second: "snooze", third: "dismiss" };
  try {
    let app = await fixture.start();
    for (const id of Object.keys(actions))
      for (const payload of eventsUntilAsk(id, "make")) await fixture.post(payload);
    await waitForValue(
      () => fixture.read("snapshot.json"),
      (snapshot) => Object.keys(actions).every((id) => snapshot.includes(`"${id}-1"`)),
    );
    for (const [id, action] of Object.entries(actions)) {
      expect((await fixture.post({}, `/api/sessions/${id}/${action}`)).status).toBe(200);
      await app.kill();
      const whileStopped = await fixture.status();
      expect([id, findSession(whileStopped, id)?.group]).toEqual([id, "set_aside"]);
      app = await fixture.start();
      expect([id, findSession(await fixture.status(), id)?.group]).toEqual([id, "set_aside"]);
    }
  } finally {
    await fixture.destroy();
  }
}, 30_000);
