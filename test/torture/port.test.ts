import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createServer, type Server } from "node:net";
import { createFixture, type Fixture } from "./fixture.ts";
import { eventsUntilAsk, prompted, summarizeSession, waitingSummary } from "./scenario.ts";

let fixture: Fixture;
const fixtures: Fixture[] = [];
const servers: Server[] = [];

async function addFixture(): Promise<Fixture> {
  const added = await createFixture();
  fixtures.push(added);
  return added;
}

beforeEach(async () => {
  fixture = await addFixture();
});
afterEach(async () => {
  for (const server of servers.splice(0)) server.close();
  for (const added of fixtures.splice(0)) await added.destroy();
});

/** Another program that closes every connection. */
function occupy(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    servers.push(server);
    server.on("error", (error: NodeJS.ErrnoException) => {
      // The port is in use by a real other program.
      if (error.code === "EADDRINUSE") resolve();
      else reject(error);
    });
    server.listen(port, "127.0.0.1", resolve);
  });
}

const readEndpoint = () => JSON.parse(fixture.read("endpoint.json")) as { url: string; pid: number };

describe("if the port is in use", () => {
  test("the next free one is used, and hooks find it", async () => {
    await occupy(fixture.port);
    await occupy(fixture.port + 1);
    const app = await fixture.start();
    expect(app.port).toBeGreaterThan(fixture.port + 1);
    expect(readEndpoint()).toMatchObject({ url: `http://127.0.0.1:${app.port}`, pid: app.pid });
    for (const payload of eventsUntilAsk("first", "make")) await fixture.hook(payload);
    expect(summarizeSession(await fixture.status(), "first")).toEqual(waitingSummary("make"));
    expect(fixture.read("spool.jsonl")).toBe("");
  });

  test("by another program after a crash, hooks do not connect to it, and their events are accepted later", async () => {
    const app = await fixture.start();
    await app.kill();
    await occupy(app.port);
    let hasConnection = false;
    servers[0]?.on("connection", () => {
      hasConnection = true;
    });
    for (const payload of eventsUntilAsk("first", "make")) await fixture.hook(payload);
    expect(hasConnection).toBe(false);
    const next = await fixture.start();
    expect(next.port).not.toBe(app.port);
    expect(summarizeSession(await fixture.status(), "first")).toEqual(waitingSummary("make"));
  });

  test("and no other is free, the error says what to do", async () => {
    const { app, code, stderr } = await fixture.tryToStart({ BECKON_PORT: "65535" }).then(async (first) => {
      // If it was free, it is in use now.
      return first.app
        ? fixture.tryToStart({ BECKON_PORT: "65535", BECKON_HOME: fixture.inHome("second") })
        : first;
    });
    expect({ app, code }).toEqual({ app: null, code: 1 });
    expect(stderr).toContain("Set BECKON_PORT to a free one");
  });

  test("an invalid port is an error that names it", async () => {
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
  test("in the same folder says which one runs, and does not disturb it", async () => {
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

  test("exactly one of ten that start at the same time stays", async () => {
    const attempts = await Promise.all(Array.from({ length: 10 }, () => fixture.tryToStart()));
    const running = attempts.filter(({ app }) => app !== null);
    expect(running).toHaveLength(1);
    for (const { app, code, stderr } of attempts) {
      if (!app)
        expect({ code, isExplained: /^beckon is already running/m.test(stderr) }).toEqual({
          code: 1,
          isExplained: true,
        });
    }
    expect(readEndpoint().pid).toBe(running[0]?.app?.pid ?? 0);
    expect((await fixture.post(prompted("first", "x"))).status).toBe(200);
    expect(await fixture.status()).toHaveLength(1);
  });

  test("can start at once after kill -9 of the first", async () => {
    for (let times = 0; times < 5; times++) {
      const app = await fixture.start();
      await fixture.post(prompted("first", String(times)));
      await app.kill();
    }
    const app = await fixture.start();
    expect(app.port).toBe(fixture.port);
    expect(summarizeSession(await fixture.status(), "first")).toMatchObject({ turns: 5, prompt: "4" });
  });

  test("in another folder runs beside the first, with its own sessions and token", async () => {
    const other = await addFixture();
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
