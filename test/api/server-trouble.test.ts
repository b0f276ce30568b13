import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { createPageAccess } from "../../src/api/page-access.ts";
import { listen, type ServerOptions } from "../../src/api/server.ts";
import type { IngestResult } from "../../src/core/interfaces/index.ts";
import { limits } from "../../src/core/limits.ts";
import { createEmptyHistory } from "../../src/history/index.ts";
import { navigation } from "../navigation.ts";
import { letTimePass } from "../wait-until.ts";

const answer = async (response: Response) => ({ status: response.status, body: await response.text() });

describe("when something fails inside", () => {
  const token = "t".repeat(limits.minTokenLength);
  const sessions = {
    all: () => [],
    find: () => null,
    findMatches: () => [],
    findChild: () => null,
    more: () => ({}),
  };
  const act = async () => null;
  const never = () => {
    throw new Error("not asked for here");
  };
  const options: ServerOptions = {
    token,
    pageAccess: createPageAccess({ token, startSecret: token, now: Date.now, createSecret: never }),
    pageFacts: never,
    reportPageFocus: never,
    loadPage: never,
    isOwnUser: never,
    stop() {},
    accept: async () => ({ outcome: "accepted" }),
    sessions,
    history: createEmptyHistory(Date.now),
    readTranscript: async () => ({ lines: [], hasEarlier: false, hasLater: false }),
    events: { connect: () => new Response() },
    act,
    setQuiet: () => ({}),
    readStatusLine: () => null,
    checkGuard: () => "off",
    listWorkPorts: () => [],
    sign: (_, text) => text,
    pending: { add() {}, end() {} },
    settings: { read: never, save: never, open: never },
    channels: () => [],
    testChannel: async () => null,
    machines: () => [],
    teams: () => [],
    fleets: { report: () => [], update: async () => {} },
    prompts: { act: () => Promise.reject(), list: () => Promise.reject() },
    rules: { report: () => Promise.reject(), act: () => Promise.reject() },
    retryMachine: () => false,
    link: { connect: never, take: never },
    doctor: async () => ({}),
    onError() {},
  };
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };

  async function through(
    accept: () => Promise<IngestResult>,
    use: (url: string) => Promise<void>,
  ): Promise<string[]> {
    const logged: string[] = [];
    const port = 20_000 + Math.floor(Math.random() * 40_000);
    const receiver = listen(port, { ...options, accept, onError: (text) => void logged.push(text) });
    try {
      await use(`http://127.0.0.1:${port}`);
    } finally {
      await receiver.stop();
    }
    return logged;
  }
  const post = (url: string) => fetch(`${url}/api/hook`, { method: "POST", headers, body: "{}" });

  test("the sender learns that the event was not kept, and why", async () => {
    await through(
      async () => ({ outcome: "not-stored", reason: "not stored: disk full" }),
      async (url) =>
        expect(await answer(await post(url))).toEqual({
          status: 503,
          body: '{"error":"not stored: disk full"}',
        }),
    );
  });

  test("an unexpected error is a 500 without internals, and a line in the log", async () => {
    const fail = async (): Promise<IngestResult> => {
      throw new Error("at /secret/place");
    };
    const logged = await through(fail, async (url) => {
      expect(await answer(await post(url))).toEqual({
        status: 500,
        body: '{"error":"internal error: see beckon\'s log"}',
      });
      expect((await fetch(`${url}/health`)).status).toBe(200);
    });
    expect(logged).toEqual(["a request failed: at /secret/place"]);
  });

  test.each(["code", "ticket"])(
    "a wrong %s for the page is refused without finding out who sent it",
    async (name) => {
      const logged = await through(
        async () => ({ outcome: "accepted" }),
        async (url) =>
          expect((await fetch(`${url}/?${name}=x`, { headers: navigation })).status).toBeWithin(400, 500),
      );
      expect(logged).toEqual([]);
    },
  );

  test("a port that is taken is an error, not a second listener", async () => {
    await through(
      async () => ({ outcome: "accepted" }),
      async (url) => {
        const again = () => listen(Number(new URL(url).port), options);
        expect(again).toThrow(expect.objectContaining({ code: "EADDRINUSE" }));
      },
    );
  });

  test("it stops although one client keeps its connection open and another never finishes", async () => {
    let began = 0;
    await through(
      async () => ({ outcome: "accepted" }),
      async (url) => {
        const port = Number(new URL(url).port);
        const head = `Host: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;
        const idle = connect(port, "127.0.0.1").on("error", () => {});
        idle.write(`GET /health HTTP/1.1\r\n${head}\r\n`);
        await new Promise((resolve) => idle.once("data", resolve));
        const half = connect(port, "127.0.0.1").on("error", () => {});
        await new Promise<void>((resolve) => {
          half.write(`POST /api/hook HTTP/1.1\r\n${head}Content-Length: 100\r\n\r\n{"se`, () => resolve());
        });
        await letTimePass(50, "nothing shows that the server waits for the rest");
        began = performance.now();
      },
    );
    expect(performance.now() - began).toBeLessThan(1_500);
  });
});
