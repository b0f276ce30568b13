/** Requests: how a body is sent, now and then in a way that no client should. */

import type { Random } from "./random.ts";
import type { RawMessage } from "./raw-connection.ts";

export interface Target {
  readonly port: number;
  readonly authorization: string;
}

export interface RawRequest extends RawMessage {
  /** null: as it should be. */
  readonly wrongHead: string | null;
  /** What the answer may be; null: the body decides. */
  readonly statuses: readonly number[] | null;
}

type Headers = Record<string, string>;

function write(method: string, path: string, headers: Headers, body: Uint8Array): Uint8Array {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`, "latin1"), body]);
}

function chunked(body: Uint8Array, pieceBytes: number): Uint8Array {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < body.length; at += pieceBytes) {
    const piece = body.subarray(at, at + pieceBytes);
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n"));
  }
  return Buffer.concat([...pieces, Buffer.from("0\r\n\r\n")]);
}

const doors = ["/api/hook", "/api/hook", "/ingest"];

function goodHeaders({ port, authorization }: Target, body: Uint8Array): Headers {
  return {
    Host: `127.0.0.1:${port}`,
    "Content-Type": "application/json",
    Authorization: authorization,
    "Content-Length": String(body.length),
  };
}

export function createRequest(target: Target, body: Uint8Array, random: Random): RawRequest {
  const path = random.pick(doors);
  const headers = goodHeaders(target, body);
  if (random.chance(0.05)) return wrongRequest(path, headers, body, random);
  // A body that tells its length is refused by that alone.
  if (random.chance(body.length > 5_000_000 ? 0.5 : 0.05)) {
    const { "Content-Length": _, ...others } = headers;
    const bytes = chunked(body, random.pick([100, 7_000, 1_000_000]));
    const told = { ...others, "Transfer-Encoding": "chunked" };
    return { bytes: write("POST", path, told, bytes), wrongHead: null, statuses: null };
  }
  return { bytes: write("POST", path, headers, body), wrongHead: null, statuses: null };
}

/** The body is never read: the answer is the head's alone. */
function wrongRequest(path: string, headers: Headers, body: Uint8Array, random: Random): RawRequest {
  const small = body.length < 100_000 ? body : new Uint8Array();
  const sized = { ...headers, "Content-Length": String(small.length) };
  const made = (
    wrongHead: string,
    statuses: number[],
    bytes: Uint8Array,
    more: Partial<RawRequest> = {},
  ): RawRequest => ({
    wrongHead,
    statuses,
    bytes,
    isLast: true,
    ...more,
  });
  const empty = new Uint8Array();
  const bare = { Host: headers.Host ?? "", Authorization: headers.Authorization ?? "" };
  switch (random.between(0, 12)) {
    case 0: {
      const method = random.pick(["GET", "PUT", "DELETE", "PATCH", "OPTIONS"]);
      return made(`${method} at a hook's door`, [405], write(method, path, bare, empty));
    }
    case 1:
      return made("HEAD at a hook's door", [405], write("HEAD", path, bare, empty), { isHead: true });
    case 2:
      return made(
        "wrong content type",
        [415],
        write("POST", path, { ...sized, "Content-Type": "text/plain" }, small),
      );
    case 3:
      return made("no token", [401], write("POST", path, { ...sized, Authorization: "" }, small));
    case 4:
      return made("another Host", [403], write("POST", path, { ...sized, Host: "evil.example" }, small));
    case 5:
      return made(
        "a web page",
        [403],
        write("POST", path, { ...sized, Origin: "https://evil.example" }, small),
      );
    case 6:
      return made("no such door", [404], write("POST", `${path}/../x${random.between(0, 99)}`, sized, small));
    case 7:
      return made(
        "a length of letters",
        [400, 0],
        write("POST", path, { ...sized, "Content-Length": "12x" }, small),
      );
    case 8: {
      const long = { ...sized, "X-Long": "h".repeat(random.pick([9_000, 20_000, 100_000])) };
      return made("a long header", [200, 400, 413, 431, 0], write("POST", path, long, small));
    }
    case 9: {
      const many = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`X-${n}`, "v"]));
      return made("300 headers", [200, 400, 431, 0], write("POST", path, { ...sized, ...many }, small));
    }
    case 10:
      return made("no HTTP", [400, 0], Buffer.from(`${"\u0000\u0001garbage".repeat(20)}\r\n\r\n`, "latin1"));
    default:
      return made(
        "a long address",
        [401, 404, 400, 414, 431, 0],
        write("GET", `/${"p".repeat(9_000)}`, bare, empty),
      );
  }
}
