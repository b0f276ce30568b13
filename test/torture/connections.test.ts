import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { testWith } from "../needs.ts";
import { waitForValue } from "../wait-until.ts";
import { type AppProcess, createFixture, type Fixture } from "./fixture.ts";
import { createRawConnection } from "./raw-connection.ts";
import { eventsUntilAsk, prompted, summarizeSession, waitingSummary } from "./scenario.ts";

let fixture: Fixture;
let app: AppProcess;
const sockets: Socket[] = [];

beforeEach(async () => {
  fixture = await createFixture();
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await fixture.destroy();
});

/** Connects, sends the text, and stays connected. */
function openSocket(text: string): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect(app.port, "127.0.0.1", () => socket.write(text, "latin1", () => resolve(socket)));
    socket.on("error", () => resolve(socket));
    socket.on("data", () => {});
    sockets.push(socket);
  });
}

const openSockets = (count: number, text: string) =>
  Promise.all(Array.from({ length: count }, () => openSocket(text)));

const buildHead = (headers: string) =>
  `POST /api/hook HTTP/1.1\r\nHost: 127.0.0.1:${app.port}\r\nContent-Type: application/json\r\n${fixture.read("auth-header").trim()}\r\n${headers}`;

/** Sends up to 60 MB, or until the app closes the connection. Returns the response. */
async function sendWithoutEnd(opening: string, piece: string): Promise<string> {
  const socket = await openSocket(opening);
  let answer = "";
  socket.on("data", (chunk) => {
    answer += chunk;
  });
  const closed = new Promise<boolean>((resolve) => socket.on("close", () => resolve(true)));
  for (let sent = 0; sent < 60; sent++) {
    const written = new Promise<boolean>((resolve) => socket.write(piece, () => resolve(false)));
    if (await Promise.race([written, closed])) break;
  }
  return answer;
}

async function expectWorking(): Promise<void> {
  const before = performance.now();
  for (const payload of eventsUntilAsk("first", "make")) {
    const { code } = await fixture.hook(payload);
    expect(code).toBe(0);
  }
  expect(summarizeSession(await fixture.status(), "first")).toEqual(waitingSummary("make"));
  expect(fixture.read("hook.log")).toBe("");
  expect(performance.now() - before).toBeLessThan(3_000);
}

describe("clients that never finish", () => {
  beforeEach(async () => {
    app = await fixture.start();
  });

  test("900 of them (idle, with half a head, with half a body) block neither hooks nor a stop", async () => {
    await openSockets(500, "");
    await openSockets(100, "POST /api/h");
    await openSockets(100, buildHead("X-Slow: a"));
    await openSockets(100, `${buildHead("Content-Length: 1000")}\r\n\r\n{"session_id"`);
    await openSockets(100, `${buildHead("Transfer-Encoding: chunked")}\r\n\r\n5\r\n{"ses\r\n`);
    await expectWorking();
    console.log(`connections: ${sockets.length} held, memory ${app.rssMb().toFixed(0)} MB`);
    const before = performance.now();
    expect(await app.stop()).toBe(0);
    expect(performance.now() - before).toBeLessThan(3_000);
    await fixture.start();
    expect(summarizeSession(await fixture.status(), "first")).toEqual(waitingSummary("make"));
  }, 20_000);

  test("incomplete bodies are ignored", async () => {
    const complete = JSON.stringify(prompted("half", "x"));
    const broken = await openSockets(
      50,
      `${buildHead(`Content-Length: ${complete.length + 1}`)}\r\n\r\n${complete}`,
    );
    const reset = await openSockets(
      50,
      `${buildHead("Transfer-Encoding: chunked")}\r\n\r\n${complete.length.toString(16)}\r\n${complete}\r\n`,
    );
    for (const socket of broken) socket.end();
    for (const socket of reset) socket.resetAndDestroy();
    await expectWorking();
    expect((await fixture.status()).map(({ sessionId }) => sessionId)).toEqual(["first"]);
    expect(fixture.log()).not.toContain("could not");
  });

  const piece = "a".repeat(0x100000);
  const endlessBodies: [name: string, status: string, hasToken: boolean, length: string, sent: string][] = [
    ["in chunks", "413", true, "Transfer-Encoding: chunked", `100000\r\n${piece}\r\n`],
    ["of an announced gigabyte", "413", true, "Content-Length: 1000000000", piece],
    ["in chunks and without the token", "401", false, "Transfer-Encoding: chunked", `100000\r\n${piece}\r\n`],
    ["of an announced gigabyte and without the token", "401", false, "Content-Length: 1000000000", piece],
  ];
  test.each(endlessBodies)(
    "an endless body %s gets %s, and memory stays bounded",
    async (name, status, hasToken, length, sent) => {
      const before = app.rssMb();
      const opening = `${buildHead(length)}\r\n\r\n`.replace(hasToken ? "" : /Authorization.*\r\n/, "");
      const answers: string[] = [];
      // A client that sends on after the connection was closed can lose the response, so there are several tries.
      for (let round = 0; round < 5 && answers.length < 4; round++) {
        const some = await Promise.all(Array.from({ length: 4 }, () => sendWithoutEnd(opening, sent)));
        answers.push(...some.filter((answer) => answer !== ""));
      }
      expect(answers.length).toBeGreaterThan(0);
      for (const answer of answers) expect(answer).toStartWith(`HTTP/1.1 ${status}`);
      const after = app.rssMb();
      console.log(
        `endless body ${name}: memory ${before.toFixed(0)} MB before, ${after.toFixed(0)} MB after`,
      );
      expect(after - before).toBeLessThan(100);
      await expectWorking();
    },
    20_000,
  );

  test("endless heads, with one long header or many, are cut off", async () => {
    const closed = (socket: Socket) => new Promise<void>((resolve) => socket.on("close", () => resolve()));
    const one = await openSocket(buildHead("X-Bomb: "));
    const many = await openSocket(buildHead(""));
    const ends = Promise.all([closed(one), closed(many)]);
    for (let n = 0; n < 2_000; n++) {
      if (!one.destroyed) one.write("b".repeat(1_000));
      if (!many.destroyed) many.write(`X-${n}: ${"c".repeat(100)}\r\n`);
    }
    await ends;
    await expectWorking();
  });

  test("10,000 connections that each end at another byte do no harm", async () => {
    const request = `${buildHead("Content-Length: 2")}\r\n\r\n{}`;
    for (let n = 0; n < 10_000; n += 50) {
      const batch = await Promise.all(
        Array.from({ length: 50 }, (_, k) => openSocket(request.slice(0, (n + k) % request.length))),
      );
      for (const socket of batch) socket.destroy();
      sockets.length = 0;
    }
    await expectWorking();
    expect(app.rssMb()).toBeLessThan(300);
  }, 30_000);
});

testWith("linux", "prlimit")(
  "with more connections than file descriptors the app stays alive, and works again once they are closed",
  async () => {
    const { app: limited, stderr } = await fixture.launch({}, ["prlimit", "--nofile=128"]).result;
    if (!limited) throw new Error(stderr);
    app = limited;
    const connection = createRawConnection(app.port);
    const body = JSON.stringify(prompted("kept", "1"));
    const bytes = Buffer.from(`${buildHead(`Content-Length: ${body.length}`)}\r\n\r\n${body}`);
    expect((await connection.send({ bytes })).status).toBe(200);
    await openSockets(300, "");
    expect((await connection.send({ bytes })).status).toBe(200);
    expect(app.isRunning()).toBe(true);
    for (const socket of sockets.splice(0)) socket.destroy();
    await waitForValue(
      () =>
        fixture.get("/health").then(
          ({ status }) => status,
          () => 0,
        ),
      (status) => status === 200,
      5_000,
    );
    await expectWorking();
    connection.close();
  },
  20_000,
);

testWith("linux", "prlimit")(
  "a thread that has to be started while no file descriptor is free does not end the app",
  async () => {
    const { app: limited, stderr } = await fixture.launch({}, ["prlimit", "--nofile=128"]).result;
    if (!limited) throw new Error(stderr);
    app = limited;
    const connection = createRawConnection(app.port);
    const read = (path: string) => {
      const head = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${app.port}\r\n`;
      return connection.send({ bytes: Buffer.from(`${head}${fixture.read("auth-header").trim()}\r\n\r\n`) });
    };
    expect((await read("/health")).status).toBe(200);
    await openSockets(300, "");
    await waitForValue(
      () => readdirSync(`/proc/${app.pid}/fd`).length,
      (count) => count === 128,
      10_000,
    );
    // It would start the history's thread.
    expect((await read("/api/history")).status).toBe(200);
    expect(app.isRunning()).toBe(true);
    connection.close();
  },
  20_000,
);

/** Opens connections, and a new one for each that is closed. */
const createFlood = (port: number, count: number): string => `
  const open = () => Bun.connect({ hostname: "127.0.0.1", port: ${port}, socket: { data() {}, close: openSoon, error() {}, connectError: openSoon } }).catch(() => {});
  const openSoon = () => void setTimeout(open, 50);
  await Promise.all(Array.from({ length: ${count} }, open));
  console.log("open");`;

testWith(
  "root",
  "linux",
  "prlimit",
  "setpriv",
)(
  "more connections of another user than file descriptors keep no hook out, and end no connection of yours",
  async () => {
    const { app: limited, stderr } = await fixture.launch({}, ["prlimit", "--nofile=256"]).result;
    if (!limited) throw new Error(stderr);
    app = limited;
    const stream = await openSocket(
      `GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:${app.port}\r\n${fixture.read("auth-header").trim()}\r\n\r\n`,
    );
    const flood = Bun.spawn(
      ["setpriv", "--reuid=12346", "--clear-groups", process.execPath, "-e", createFlood(app.port, 400)],
      { env: { PATH: process.env.PATH ?? "" }, stdout: "pipe", stderr: "pipe" },
    );
    try {
      await flood.stdout.getReader().read();
      await waitForValue(
        () => readdirSync(`/proc/${app.pid}/fd`).length,
        (count) => count >= 128,
        10_000,
      );
      const ids = Array.from({ length: 8 }, (_, n) => `during-${n}`);
      for (const id of ids) await fixture.hook(prompted(id, "1"));
      // What a hook cannot send in time is kept, so nothing is lost; but most must get through.
      const kept = fixture.read("hook.log").split("\n").filter(Boolean);
      expect(kept.length).toBeLessThan(ids.length / 2);
      expect(app.isRunning()).toBe(true);
      await waitForValue(
        () => fixture.status().then((sessions) => sessions.length),
        (count) => count === ids.length,
        10_000,
      );
      expect(stream.destroyed).toBe(false);
      expect(fixture.log()).toContain("another user of this machine has opened very many connections");
    } finally {
      flood.kill();
      await flood.exited;
    }
  },
  60_000,
);
