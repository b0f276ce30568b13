import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createServer, type Server } from "node:net";
import { createFixture, type Fixture } from "./fixture.ts";
import { eventsUntilAsk, prompted, summarizeSession, waitingSummary } from "./scenario.ts";

let fixture: Fixture;
const fixtures: Fixture[] = [];
const taken: Server[] = [];

async function newWorld(): Promise<Fixture> {
  const made = await createFixture();
  fixtures.push(made);
  return made;
}

beforeEach(async () => {
  fixture = await newWorld();
});
afterEach(async () => {
  for (const server of taken.splice(0)) server.close();
  for (const made of fixtures.splice(0)) await made.destroy();
});

/** Somebody else's, who hangs up on whoever calls. */
function take(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    taken.push(server);
    server.on("error", (error: NodeJS.ErrnoException) => {
      // Taken by somebody who really is somebody else.
      if (error.code === "EADDRINUSE") resolve();
      else reject(error);
    });
    server.listen(port, "127.0.0.1", resolve);
  });
}

const endpoint = () => JSON.parse(fixture.read("endpoint.json")) as { url: string; pid: number };

describe("a taken port", () => {
  test("the next free one is used and told, and hooks follow", async () => {
    await take(fixture.port);
    await take(fixture.port + 1);
    const app = await fixture.start();
    expect(app.port).toBeGreaterThan(fixture.port + 1);
    expect(endpoint()).toMatchObject({ url: `http://127.0.0.1:${app.port}`, pid: app.pid });
    for (const payload of eventsUntilAsk("first", "make")) await fixture.hook(payload);
    expect(summarizeSession(await fixture.status(), "first")).toEqual(waitingSummary("make"));
    expect(fixture.read("spool.jsonl")).toBe("");
  });

  test("taken by another after a crash: hooks do not tell a stranger, and what they kept is taken later", async () => {
    const app = await fixture.start();
    await app.kill();
    await take(app.port);
    let heard = false;
    taken[0]?.on("connection", () => {
      heard = true;
    });
    for (const payload of eventsUntilAsk("first", "make")) await fixture.hook(payload);
    expect(heard).toBe(false);
    const next = await fixture.start();
    expect(next.port).not.toBe(app.port);
    expect(summarizeSession(await fixture.status(), "first")).toEqual(waitingSummary("make"));
  });

  test("all of them: says so and what to do, and leaves nothing running", async () => {
    const { app, code, stderr } = await fixture.tryToStart({ BECKON_PORT: "65535" }).then(async (first) => {
      // Free by chance: then it is taken now.
      return first.app
        ? fixture.tryToStart({ BECKON_PORT: "65535", BECKON_HOME: fixture.inHome("second") })
        : first;
    });
    expect({ app, code }).toEqual({ app: null, code: 1 });
    expect(stderr).toContain("Set BECKON_PORT to a free one");
  });

  test("a port that is none is named", async () => {
    for (const port of ["0", "-1", "99999", "http", "1e3", " 80"]) {
      const { code, stderr } = await fixture.tryToStart({ BECKON_PORT: port });
      expect({ port, code }).toEqual({ port, code: 1 });
      expect(stderr).toContain(
        `BECKON_PORT must be a number from 1 to 65535, but is ${JSON.stringify(port)}`,
      );
    }
  });
});

describe("a second beckon", () => {
  test("in the same folder: says who runs, and does not disturb it", async () => {
    const first = await fixture.start();
    for (const payload of eventsUntilAsk("first", "make")) await fixture.post(payload);
    const before = [fixture.read("endpoint.json"), fixture.read("auth-header")];
    const { app, code, stderr } = await fixture.tryToStart();
    expect({ app, code }).toEqual({ app: null, code: 1 });
    expect(stderr).toBe(
      `beckon is already running at http://127.0.0.1:${first.port} (pid ${first.pid}). See your sessions: beckon status\n`,
    );
    expect([fixture.read("endpoint.json"), fixture.read("auth-header")]).toEqual(before);
    expect(first.isRunning()).toBe(true);
    await fixture.hook(prompted("second", "x"));
    const sessions = await fixture.status();
    expect(summarizeSession(sessions, "first")).toEqual(waitingSummary("make"));
    expect(summarizeSession(sessions, "second")).toMatchObject({ turns: 1, prompt: "x" });
  });

  test("ten started at the same moment: exactly one stays", async () => {
    const attempts = await Promise.all(Array.from({ length: 10 }, () => fixture.tryToStart()));
    const running = attempts.filter(({ app }) => app !== null);
    expect(running).toHaveLength(1);
    for (const { app, code, stderr } of attempts) {
      if (!app)
        expect({ code, said: /^beckon is already running/m.test(stderr) }).toEqual({ code: 1, said: true });
    }
    expect(endpoint().pid).toBe(running[0]?.app?.pid ?? 0);
    expect((await fixture.post(prompted("first", "x"))).status).toBe(200);
    expect(await fixture.status()).toHaveLength(1);
  });

  test("after kill -9 of the first, at once", async () => {
    for (let times = 0; times < 5; times++) {
      const app = await fixture.start();
      await fixture.post(prompted("first", String(times)));
      await app.kill();
    }
    const app = await fixture.start();
    expect(app.port).toBe(fixture.port);
    expect(summarizeSession(await fixture.status(), "first")).toMatchObject({ turns: 5, prompt: "4" });
  });

  test("in a folder of its own: both live side by side, each with its sessions and its token", async () => {
    const other = await newWorld();
    const mine = await fixture.start();
    const theirs = await other.start({ BECKON_PORT: String(mine.port) });
    expect(theirs.port).not.toBe(mine.port);
    await fixture.hook(prompted("mine", "x"));
    await other.hook(prompted("theirs", "y"));
    expect((await fixture.status()).map(({ sessionId }) => sessionId)).toEqual(["mine"]);
    expect((await other.status()).map(({ sessionId }) => sessionId)).toEqual(["theirs"]);
    expect(fixture.read("auth-header")).not.toBe(other.read("auth-header"));
    expect(await mine.stop()).toBe(0);
    expect((await other.get("/api/sessions")).status).toBe(200);
  });
});
