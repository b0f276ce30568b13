/** A client of Codex's shared server: JSON-RPC over a WebSocket on a Unix socket, which Bun's own WebSocket cannot reach. */
import { createHash, randomBytes } from "node:crypto";
import { createConnection, type Socket } from "node:net";
import { isRecord, type JsonRecord } from "../../../core/json.ts";
import { findOwnSocket } from "../../watch/own-socket.ts";

export interface ServerConnection {
  /** Rejects if the server refuses, does not answer in time, or the connection is closed. */
  call(method: string, params: object): Promise<unknown>;
  /** Answers a request of the server's. False if the connection is closed. */
  respond(id: number | string, result: object): boolean;
  notify(method: string): void;
  isOpen(): boolean;
  close(): void;
}

export interface ConnectionEvents {
  /** A notification or a request of the server's. */
  readonly onMessage: (message: JsonRecord) => void;
  /** Called once, unless `close` was called first. */
  readonly onClosed: () => void;
}

const connectTimeoutMs = 2_000;
const callTimeoutMs = 5_000;
const maxHeadBytes = 16 * 1024;
const maxMessageBytes = 16 * 1024 * 1024;
const opcodes = { text: 1, close: 8, ping: 9, pong: 10 } as const;
const handshakeSecret = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** Rejects if nothing listens there, or the socket is another user's. */
export async function connectServer(path: string, events: ConnectionEvents): Promise<ServerConnection> {
  // The path is a link to a socket in the folder for temporary files (measured).
  const { socket, rest } = await openWebSocket(findOwnSocket(path));
  const waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  let lastId = 0;
  let isOpen = true;

  function end(): boolean {
    if (!isOpen) return false;
    isOpen = false;
    socket.destroy();
    for (const { reject } of waiting.values()) reject(new Error("the connection was closed"));
    waiting.clear();
    return true;
  }

  function sendFrame(opcode: number, data: Buffer): boolean {
    if (!isOpen) return false;
    socket.write(createFrame(opcode, data));
    return true;
  }

  const send = (message: object): boolean => sendFrame(opcodes.text, Buffer.from(JSON.stringify(message)));

  function receive(text: string): void {
    const message: unknown = JSON.parse(text);
    if (!isRecord(message)) return;
    if (typeof message.method === "string") {
      events.onMessage(message);
      return;
    }
    const call = typeof message.id === "number" ? waiting.get(message.id) : undefined;
    if (!call) return;
    waiting.delete(message.id as number);
    if (isRecord(message.error)) call.reject(new Error(String(message.error.message)));
    else call.resolve(message.result);
  }

  const read = createFrameReader((opcode, data) => {
    if (opcode === opcodes.ping) sendFrame(opcodes.pong, data);
    else if (opcode === opcodes.close) close();
    else if (opcode === opcodes.text) receive(data.toString());
  });

  function close(): void {
    if (end()) events.onClosed();
  }

  function readSafely(chunk: Buffer): void {
    try {
      read(chunk);
    } catch {
      // It is not the protocol that beckon knows: hooks go on without the server.
      close();
    }
  }

  socket.on("data", readSafely);
  socket.on("close", close);
  socket.on("error", close);
  if (rest.length > 0) queueMicrotask(() => readSafely(rest));

  return {
    call(method, params) {
      const id = ++lastId;
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const timer = setTimeout(() => {
        waiting.delete(id);
        reject(new Error(`no answer to ${method}`));
      }, callTimeoutMs);
      waiting.set(id, { resolve, reject });
      if (!send({ id, method, params })) {
        waiting.delete(id);
        reject(new Error("the connection is closed"));
      }
      return promise.finally(() => clearTimeout(timer));
    },
    respond: (id, result) => send({ id, result }),
    notify: (method) => void send({ method }),
    isOpen: () => isOpen,
    close: () => void end(),
  };
}

function openWebSocket(path: string): Promise<{ readonly socket: Socket; readonly rest: Buffer }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ socket: Socket; rest: Buffer }>();
  const key = randomBytes(16).toString("base64");
  const accepted = createHash("sha1")
    .update(key + handshakeSecret)
    .digest("base64");
  const socket = createConnection({ path });
  let head: Buffer = Buffer.alloc(0);
  const fail = (error: Error) => {
    socket.destroy();
    reject(error);
  };
  const timer = setTimeout(() => fail(new Error("no answer from the server")), connectTimeoutMs);
  socket.once("error", fail);
  socket.once("close", () => fail(new Error("the server closed the connection")));
  socket.once("connect", () => {
    socket.write(
      [
        "GET / HTTP/1.1",
        "Host: localhost",
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        `Sec-WebSocket-Key: ${key}`,
        "",
        "",
      ].join("\r\n"),
    );
  });
  socket.on("data", function readHead(chunk: Buffer) {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf("\r\n\r\n");
    if (end < 0 && head.length <= maxHeadBytes) return;
    const text = head.toString("latin1", 0, Math.max(0, end));
    if (!/^HTTP\/1\.1 101 /.test(text) || !text.includes(accepted))
      return fail(new Error("not a WebSocket server"));
    clearTimeout(timer);
    socket.removeAllListeners();
    resolve({ socket, rest: head.subarray(end + 4) });
  });
  return promise.finally(() => clearTimeout(timer));
}

/** A client's frames are masked. */
function createFrame(opcode: number, data: Buffer): Buffer {
  const length =
    data.length < 126
      ? Buffer.from([0x80 | data.length])
      : data.length < 65_536
        ? Buffer.from([0x80 | 126, data.length >> 8, data.length & 255])
        : Buffer.concat([Buffer.from([0x80 | 127]), createLongLength(data.length)]);
  const mask = randomBytes(4);
  const masked = Buffer.from(data);
  for (let i = 0; i < masked.length; i++) masked[i] = (masked[i] ?? 0) ^ (mask[i % 4] ?? 0);
  return Buffer.concat([Buffer.from([0x80 | opcode]), length, mask, masked]);
}

function createLongLength(length: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(length));
  return bytes;
}

/** Returns a function that takes what arrives. Throws if a message is too long. */
function createFrameReader(onFrame: (opcode: number, data: Buffer) => void): (chunk: Buffer) => void {
  let buffer: Buffer = Buffer.alloc(0);
  let message: { readonly opcode: number; readonly parts: Buffer[]; bytes: number } | null = null;
  return (chunk) => {
    buffer = buffer.length === 0 ? chunk : Buffer.concat([buffer, chunk]);
    for (let frame = readFrame(buffer); frame !== null; frame = readFrame(buffer)) {
      buffer = buffer.subarray(frame.end);
      if (frame.opcode >= opcodes.close) {
        onFrame(frame.opcode, frame.data);
        continue;
      }
      message = frame.opcode === 0 && message ? message : { opcode: frame.opcode, parts: [], bytes: 0 };
      message.parts.push(frame.data);
      message.bytes += frame.end;
      if (message.bytes > maxMessageBytes) throw new Error("the message is too long");
      if (!frame.isLast) continue;
      const { opcode, parts } = message;
      message = null;
      onFrame(opcode, Buffer.concat(parts));
    }
  };
}

interface Frame {
  readonly opcode: number;
  readonly isLast: boolean;
  readonly data: Buffer;
  readonly end: number;
}

/** null if the frame is not complete yet. */
function readFrame(buffer: Buffer): Frame | null {
  if (buffer.length < 2) return null;
  const [first = 0, second = 0] = buffer;
  const short = second & 127;
  const start = short === 126 ? 4 : short === 127 ? 10 : 2;
  if (buffer.length < start) return null;
  const length =
    short === 126 ? buffer.readUInt16BE(2) : short === 127 ? Number(buffer.readBigUInt64BE(2)) : short;
  if (length > maxMessageBytes) throw new Error("the frame is too long");
  const end = start + length;
  if (buffer.length < end) return null;
  return { opcode: first & 15, isLast: (first & 128) !== 0, data: buffer.subarray(start, end), end };
}
