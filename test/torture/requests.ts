/** Builds raw HTTP requests, some of them in a way that no client should send. */

import type { Random } from "../random.ts";
import type { RawMessage } from "./raw-connection.ts";

export interface RequestTarget {
  readonly port: number;
  readonly authorization: string;
}

export interface RawRequest extends RawMessage {
  /** What is wrong with the head. null if nothing is. */
  readonly wrongHead: string | null;
  /** The allowed statuses. null if the body decides. */
  readonly statuses: readonly number[] | null;
}

type Headers = Record<string, string>;

function buildRequest(method: string, path: string, headers: Headers, body: Uint8Array): Uint8Array {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`, "latin1"), body]);
}

function encodeChunked(body: Uint8Array, pieceBytes: number): Uint8Array {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < body.length; at += pieceBytes) {
    const piece = body.subarray(at, at + pieceBytes);
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n"));
  }
  return Buffer.concat([...pieces, Buffer.from("0\r\n\r\n")]);
}

const paths = ["/api/hook", "/api/hook", "/ingest"];

function createHeaders({ port, authorization }: RequestTarget, body: Uint8Array): Headers {
  return {
    Host: `127.0.0.1:${port}`,
    "Content-Type": "application/json",
    Authorization: authorization,
    "Content-Length": String(body.length),
  };
}

export function createRequest(target: RequestTarget, body: Uint8Array, random: Random): RawRequest {
  const path = random.pick(paths);
  const headers = createHeaders(target, body);
  if (random.chance(0.05)) return createWrongRequest(path, headers, body, random);
  // With a length in the head, a body that is too long is rejected by that alone.
  if (random.chance(body.length > 5_000_000 ? 0.5 : 0.05)) {
    const { "Content-Length": _, ...others } = headers;
    const bytes = encodeChunked(body, random.pick([100, 7_000, 1_000_000]));
    const chunkedHeaders = { ...others, "Transfer-Encoding": "chunked" };
    return { bytes: buildRequest("POST", path, chunkedHeaders, bytes), wrongHead: null, statuses: null };
  }
  return { bytes: buildRequest("POST", path, headers, body), wrongHead: null, statuses: null };
}

/** The head alone decides the response: the body is never read. */
function createWrongRequest(path: string, headers: Headers, body: Uint8Array, random: Random): RawRequest {
  const small = body.length < 100_000 ? body : new Uint8Array();
  const sized = { ...headers, "Content-Length": String(small.length) };
  const build = (
    wrongHead: string,
    statuses: number[],
    bytes: Uint8Array,
    fields: Partial<RawRequest> = {},
  ): RawRequest => ({
    wrongHead,
    statuses,
    bytes,
    isLast: true,
    ...fields,
  });
  const empty = new Uint8Array();
  const bare = { Host: headers.Host ?? "", Authorization: headers.Authorization ?? "" };
  switch (random.between(0, 12)) {
    case 0: {
      const method = random.pick(["GET", "PUT", "DELETE", "PATCH", "OPTIONS"]);
      return build(`${method} instead of POST`, [405], buildRequest(method, path, bare, empty));
    }
    case 1:
      return build("HEAD instead of POST", [405], buildRequest("HEAD", path, bare, empty), { isHead: true });
    case 2:
      return build(
        "wrong content type",
        [415],
        buildRequest("POST", path, { ...sized, "Content-Type": "text/plain" }, small),
      );
    case 3:
      return build("no token", [401], buildRequest("POST", path, { ...sized, Authorization: "" }, small));
    case 4:
      return build(
        "another Host",
        [403],
        buildRequest("POST", path, { ...sized, Host: "evil.example" }, small),
      );
    case 5:
      return build(
        "a web page",
        [403],
        buildRequest("POST", path, { ...sized, Origin: "https://evil.example" }, small),
      );
    case 6:
      return build(
        "unknown path",
        [404],
        buildRequest("POST", `${path}/../x${random.between(0, 99)}`, sized, small),
      );
    case 7:
      return build(
        "a length that is not a number",
        [400, 0],
        buildRequest("POST", path, { ...sized, "Content-Length": "12x" }, small),
      );
    case 8: {
      const long = { ...sized, "X-Long": "h".repeat(random.pick([9_000, 20_000, 100_000])) };
      return build("a long header", [200, 400, 413, 431, 0], buildRequest("POST", path, long, small));
    }
    case 9: {
      const many = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`X-${n}`, "v"]));
      return build(
        "300 headers",
        [200, 400, 431, 0],
        buildRequest("POST", path, { ...sized, ...many }, small),
      );
    }
    case 10:
      return build(
        "not HTTP",
        [400, 0],
        Buffer.from(`${"\u0000\u0001garbage".repeat(20)}\r\n\r\n`, "latin1"),
      );
    default:
      return build(
        "a long path",
        [401, 404, 400, 414, 431, 0],
        buildRequest("GET", `/${"p".repeat(9_000)}`, bare, empty),
      );
  }
}
