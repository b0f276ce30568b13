import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { createRequestCheck, readFacts } from "../../src/api/request-check.ts";
import { limits } from "../../src/core/limits.ts";
import { createPageCheck, token } from "./attacks.ts";

/** What the request check gets from a real server for bytes that no ordinary client sends. */
let port = 0;
let server: ReturnType<typeof Bun.serve>;

beforeAll(() => {
  let admit: ReturnType<typeof createRequestCheck>;
  server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    development: false,
    fetch(request) {
      const start = request.url.indexOf("/", "http://".length);
      const end = request.url.indexOf("?", start);
      const path = request.url.slice(start, end === -1 ? undefined : end);
      const verdict = admit(readFacts(request.method, path, request.headers));
      return verdict.ok ? new Response("in") : new Response(verdict.error, { status: verdict.status });
    },
  });
  port = server.port ?? 0;
  admit = createRequestCheck({ port, token, page: createPageCheck(port) });
});
afterAll(() => server.stop(true));

function statusOf(...lines: string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(`${lines.join("\r\n").replaceAll("PORT", String(port))}\r\n\r\n`);
    });
    let answer = "";
    socket.on("data", (chunk) => {
      answer += chunk;
      if (!answer.includes("\r\n\r\n")) return;
      socket.destroy();
      expect(answer.toLowerCase()).not.toContain("access-control-");
      resolve(Number(answer.split(" ")[1]));
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(0));
  });
}

const secret = `Authorization: Bearer ${token}`;
const host = "Host: 127.0.0.1:PORT";
const hook = ["POST /api/hook HTTP/1.1", host, secret, "Content-Type: application/json"];

describe("over a real socket", () => {
  test("the forwarder's request and a user's curl are allowed", async () => {
    expect(await statusOf(...hook, "Content-Length: 0")).toBe(200);
    expect(await statusOf("GET /api/sessions HTTP/1.1", host, secret)).toBe(200);
    expect(await statusOf("GET /health HTTP/1.1", "Host: localhost:PORT")).toBe(200);
  });

  const refused: [attack: string, status: number, ...request: string[]][] = [
    ["two Host headers, the good one first", 403, "GET /health HTTP/1.1", host, "Host: evil.example"],
    ["two Host headers, the good one last", 403, "GET /health HTTP/1.1", "Host: evil.example", host],
    ["an empty Host", 403, "GET /health HTTP/1.1", "Host:"],
    ["no Host at all, in old HTTP", 403, "GET /health HTTP/1.0"],
    ["a whole address as the target", 403, "GET http://127.0.0.1:PORT/health HTTP/1.1", "Host: evil.example"],
    ["a rebound name", 403, "GET /api/sessions HTTP/1.1", "Host: evil.example:PORT", secret],
    ["two Authorization headers", 401, "GET /api/sessions HTTP/1.1", host, "Authorization: Bearer x", secret],
    ["a preflight", 405, "OPTIONS /api/hook HTTP/1.1", host, "Origin: https://evil.example"],
    ["a form on a web page", 403, ...hook, "Origin: https://evil.example", "Content-Length: 0"],
    ["only Sec-Fetch-Dest", 403, ...hook, "Sec-Fetch-Dest: image", "Content-Length: 0"],
    ["an empty Origin", 403, ...hook, "Origin:", "Content-Length: 0"],
    ["two content types", 415, ...hook, "Content-Type: text/plain", "Content-Length: 0"],
    ["a dot segment that ends at a route", 401, "GET /health/../api/sessions HTTP/1.1", host],
    ["a token in the address", 401, `GET /api/sessions?token=${token} HTTP/1.1`, host],
  ];
  test.each(refused)("%s: %d", async (_attack, status, ...request) => {
    expect(await statusOf(...request)).toBe(status);
  });

  test("a body that is announced too large is refused before any of it is sent", async () => {
    expect(await statusOf(...hook, `Content-Length: ${limits.maxBodyBytes + 1}`)).toBe(413);
  });
});
