/** One request over a bare socket whose answer may take an hour: its first line that is not blank. */
import { limits } from "../core/limits.ts";
import { addressOf } from "./post.ts";
import type { Target } from "./target.ts";

export interface HeldRequest {
  /** "refused": answered with anything but 200; "broken": ended before it said anything. */
  readonly said: Promise<string>;
  close(): void;
}

interface Place {
  readonly target: Target;
  readonly token: string | null;
}

/** `onByte`: a sign of life. */
export function openLine(
  { target, token }: Place,
  path: string,
  body: string | null,
  onByte: () => void,
): HeldRequest {
  const { url } = target;
  const { promise, resolve } = Promise.withResolvers<string>();
  const bytes = new TextEncoder().encode(body ?? "");
  const about = body === null ? "" : `Content-Type: application/json\r\nContent-Length: ${bytes.length}\r\n`;
  const head = new TextEncoder().encode(
    `${body === null ? "GET" : "POST"} ${path} HTTP/1.1\r\nHost: ${url.host}\r\n${about}` +
      `${token === null ? "" : `${token}\r\n`}Connection: close\r\n\r\n`,
  );
  let rest: Uint8Array = Buffer.concat([head, bytes]);
  let socket: Bun.Socket | null = null;
  const write = (open: Bun.Socket): void => {
    socket = open;
    rest = rest.subarray(Math.max(0, open.write(rest)));
  };
  const read = createReader();
  const broken = () => resolve("broken");
  Bun.connect({
    hostname: addressOf(url.hostname),
    port: Number(url.port || 80),
    socket: {
      open: write,
      drain: write,
      data(_socket, chunk) {
        onByte();
        const said = read(chunk);
        if (said !== null) resolve(said);
      },
      close: broken,
      error: broken,
      connectError: broken,
    },
  }).catch(broken);
  return { said: promise, close: () => socket?.terminate() };
}

/** Gives what was said as soon as it is all there. */
export function createReader(): (chunk: Uint8Array) => string | null {
  // Read byte by byte as latin1, so that lengths count bytes.
  let raw = "";
  let text = "";
  let isChunked: boolean | null = null;
  let left = 0;

  function readHead(): string | null {
    const end = raw.indexOf("\r\n\r\n");
    if (end < 0) return raw.length > limits.maxSmallFileBytes ? "refused" : null;
    const head = raw.slice(0, end).toLowerCase();
    if (!/^http\/1\.[01] 200\b/.test(head)) return "refused";
    isChunked = /\r\ntransfer-encoding:\s*chunked/.test(head);
    raw = raw.slice(end + 4);
    return null;
  }

  function readChunks(): void {
    for (;;) {
      if (left > 0) {
        const part = raw.slice(0, left);
        text += part;
        raw = raw.slice(part.length);
        left -= part.length;
        if (left > 0) return;
      }
      const size = /^(?:\r\n)?([0-9a-f]{1,8})\r\n/i.exec(raw);
      if (!size) return;
      raw = raw.slice(size[0].length);
      left = Number.parseInt(size[1] ?? "", 16);
      if (left === 0) return;
    }
  }

  return (chunk) => {
    raw += Buffer.from(chunk).toString("latin1");
    if (isChunked === null) {
      const refused = readHead();
      if (refused !== null || isChunked === null) return refused;
    }
    if (isChunked) readChunks();
    else {
      text += raw;
      raw = "";
    }
    text = text.replace(/^[\r\n]+/, "");
    if (text.length + raw.length > limits.maxDecisionBytes + 4_096) return "refused";
    const end = text.indexOf("\n");
    return end < 0 ? null : Buffer.from(text.slice(0, end), "latin1").toString("utf8").trim();
  };
}
