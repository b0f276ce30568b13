/**
 * The forwarder's HTTP client: one request per connection. On this machine it uses a bare socket: in the compiled binary
 * fetch takes 0.2 ms more, node:net 4 and node:http 9, and proxies, DNS and keep-alive are not wanted there.
 */
import { limits } from "../core/limits.ts";
import type { Target } from "./target.ts";

/** The status of the response, or why there is none: nothing listens there, or the connection broke. */
export type ResponseStatus = number | "refused" | "broken";

export interface Exchange {
  readonly status: Promise<ResponseStatus>;
  /**
   * The first line of the body that is not blank, as soon as it is complete. "" if the response is not a 200, is too long or
   * has no such line; null if the connection, or a stream, ended before a line.
   */
  readLine(): Promise<string | null>;
  /** When the last byte arrived, or the request was opened (performance.now). */
  lastByteAt(): number;
  close(): void;
}

/** Without a body it is a GET. */
export function openRequest(target: Target, path: string, body: string | null): Exchange {
  return target.isLoopback ? openSocket(target, path, body) : openFetch(target, path, body);
}

/** To the app's own socket: only this user can connect to it, so it takes no token. */
export const openSocketRequest = (socket: string, path: string, body: string): Exchange =>
  exchange(
    (handlers) => Bun.connect({ unix: socket, socket: handlers }),
    encodeRequest("localhost", null, path, body),
  );

function openSocket({ url, token }: Target, path: string, body: string | null): Exchange {
  const hostname = addressOf(url.hostname);
  const port = Number(url.port || 80);
  return exchange(
    (handlers) => Bun.connect({ hostname, port, socket: handlers }),
    encodeRequest(url.host, token, path, body),
  );
}

function exchange(
  connect: (handlers: Bun.SocketHandler<undefined>) => Promise<unknown>,
  request: Uint8Array,
): Exchange {
  const status = Promise.withResolvers<ResponseStatus>();
  const line = Promise.withResolvers<string | null>();
  const unread: Uint8Array[] = [];
  let readChunk: ((chunk: Uint8Array) => string | null) | null = null;
  let head = "";
  let isEnded = false;
  let lastByteAt = performance.now();
  let socket: Bun.Socket | null = null;
  let unsent = request;

  const send = (opened: Bun.Socket): void => {
    socket = opened;
    unsent = unsent.subarray(Math.max(0, opened.write(unsent)));
  };
  const end = (reason: "refused" | "broken"): void => {
    isEnded = true;
    status.resolve(reason);
    if (readChunk !== null) line.resolve(null);
  };
  const feed = (chunk: Uint8Array): void => {
    const text = readChunk?.(chunk) ?? null;
    if (text !== null) line.resolve(text);
  };
  connect({
    open: send,
    drain: send,
    data(_socket, chunk) {
      lastByteAt = performance.now();
      // "HTTP/1.1 200" is all that most requests wait for.
      if (head.length < 12) {
        head += new TextDecoder().decode(chunk);
        if (head.length >= 12)
          status.resolve((head.startsWith("HTTP/1.") && Number(head.slice(9, 12))) || "broken");
      }
      if (readChunk === null) unread.push(chunk);
      else feed(chunk);
    },
    close: () => end("broken"),
    error: () => end("broken"),
    connectError: () => end("refused"),
  }).catch(() => end("refused"));

  return {
    status: status.promise,
    readLine() {
      if (readChunk === null) {
        readChunk = createLineReader();
        for (const chunk of unread.splice(0)) feed(chunk);
        if (isEnded) line.resolve(null);
      }
      return line.promise;
    },
    lastByteAt: () => lastByteAt,
    close: () => socket?.terminate(),
  };
}

function encodeRequest(host: string, token: string | null, path: string, body: string | null): Uint8Array {
  const encoder = new TextEncoder();
  const bytes = encoder.encode(body ?? "");
  const content =
    body === null ? "" : `Content-Type: application/json\r\nContent-Length: ${bytes.length}\r\n`;
  const head =
    `${body === null ? "GET" : "POST"} ${path} HTTP/1.1\r\nHost: ${host}\r\n${content}` +
    `${token === null ? "" : `${token}\r\n`}Connection: close\r\n\r\n`;
  const request = new Uint8Array(head.length + bytes.length);
  encoder.encodeInto(head, request);
  request.set(bytes, head.length);
  return request;
}

function addressOf(hostname: string): string {
  if (hostname === "localhost") return "127.0.0.1";
  return hostname === "[::1]" ? "::1" : hostname;
}

/** Used only where the user's own config allows it: with their proxy and certificates, and never redirected. */
function openFetch({ url, token }: Target, path: string, body: string | null): Exchange {
  const headers = new Headers({ "content-type": "application/json" });
  if (token !== null) headers.set("authorization", token.slice("Authorization:".length).trim());
  const openedAt = performance.now();
  const request = { method: body === null ? "GET" : "POST", headers, body, redirect: "manual" } as const;
  const status = fetch(new URL(path, url), request).then(
    (response): ResponseStatus => response.status,
    (): ResponseStatus => "broken",
  );
  return { status, readLine: async () => "", lastByteAt: () => openedAt, close: () => {} };
}

/** Takes the bytes of a response as they arrive; returns what readLine resolves with, or null while it is incomplete. */
export function createLineReader(): (chunk: Uint8Array) => string | null {
  // Kept as latin1, one character per byte, so that lengths count bytes.
  let raw = "";
  let body = "";
  let isHeadRead = false;
  let isChunked = false;
  /** Null if the response does not state it. */
  let contentLength: number | null = null;
  let received = 0;
  let chunkLeft = 0;

  /** False if the response cannot hold a line for us. */
  function readHead(): boolean {
    const end = raw.indexOf("\r\n\r\n");
    if (end < 0) return raw.length <= limits.maxSmallFileBytes;
    const head = raw.slice(0, end).toLowerCase();
    isHeadRead = true;
    isChunked = /\r\ntransfer-encoding:\s*chunked/.test(head);
    const length = /\r\ncontent-length:\s*(\d{1,9})/.exec(head);
    contentLength = length ? Number(length[1]) : null;
    raw = raw.slice(end + 4);
    return /^http\/1\.[01] 200\b/.test(head);
  }

  function readChunks(): void {
    for (;;) {
      const part = raw.slice(0, chunkLeft);
      body += part;
      raw = raw.slice(part.length);
      chunkLeft -= part.length;
      if (chunkLeft > 0) return;
      const size = /^(?:\r\n)?([0-9a-f]{1,8})\r\n/i.exec(raw);
      if (!size) return;
      raw = raw.slice(size[0].length);
      chunkLeft = Number.parseInt(size[1] ?? "", 16);
      // The end of the stream. beckon ends one without a line when it stops: the connection counts as broken then.
      if (chunkLeft === 0) return;
    }
  }

  return (chunk) => {
    raw += Buffer.from(chunk).toString("latin1");
    if (!isHeadRead && !readHead()) return "";
    if (!isHeadRead) return null;
    if (isChunked) {
      readChunks();
    } else {
      received += raw.length;
      body += raw;
      raw = "";
    }
    body = body.replace(/^[\r\n]+/, "");
    if (body.length + raw.length > limits.maxDecisionBytes + 4_096) return "";
    const end = body.indexOf("\n");
    if (end < 0 && (contentLength === null || received < contentLength)) return null;
    return Buffer.from(end < 0 ? body : body.slice(0, end), "latin1")
      .toString("utf8")
      .trim();
  };
}
