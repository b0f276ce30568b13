/** As much of the X11 protocol as it takes to find a window and bring it to the front: people rarely have wmctrl. */
import { createConnection, type Socket } from "node:net";
import { cookieFor } from "./xauthority.ts";

export interface Property {
  /** Bits of each value: 8, 16 or 32. */
  readonly format: number;
  readonly data: Buffer;
}

export interface X11 {
  readonly root: number;
  atom(name: string): Promise<number>;
  /** null: the window has no such property, or there is no such window. */
  property(window: number, name: string): Promise<Property | null>;
  /** null: there is no such window. */
  parentOf(window: number): Promise<number | null>;
  /** 0: nobody has it. */
  selectionOwner(name: string): Promise<number>;
  /** To the window manager, about one of its windows. */
  tellManager(window: number, message: string, data: readonly number[]): Promise<void>;
  close(): void;
}

type Env = Readonly<Record<string, string | undefined>>;

/** `:0`, `:0.0`, `unix:0`. Another machine's display is none of ours. */
export function displayNumber(display: string | undefined): number | null {
  const number = /^(?:unix)?:(\d{1,5})(?:\.\d{1,3})?$/.exec(display ?? "")?.[1];
  return number === undefined ? null : Number(number);
}

const maxPropertyWords = 64 * 1024;
const setupHeadBytes = 8;
const replyBytes = 32;
const genericEvent = 35;

/** Rejects where nobody listens, or they do not let us in. */
export async function connectX11(env: Env, timeoutMs: number): Promise<X11> {
  const display = displayNumber(env.DISPLAY);
  if (display === null) throw new Error(`DISPLAY is ${env.DISPLAY ?? "not set"}`);
  const socket = createConnection(`/tmp/.X11-unix/X${display}`);
  // Readers hear of it too; an error that nobody listens to would end the program.
  socket.on("error", () => {});
  const give = setTimeout(() => socket.destroy(new Error("the X server does not answer")), timeoutMs);
  const incoming = readerOf(socket);
  let root: number;
  try {
    socket.write(greeting(await cookieFor(display, env)));
    root = await readSetup(incoming);
  } catch (error) {
    clearTimeout(give);
    socket.destroy();
    throw error;
  }

  type Waiting = { readonly sequence: number; readonly settle: (reply: Buffer | null) => void };
  const waiting: Waiting[] = [];
  const settleAll = () => {
    for (const { settle } of waiting.splice(0)) settle(null);
  };
  let sequence = 0;
  void listen(incoming, (kind, number, packet) => {
    const at = waiting.findIndex((one) => one.sequence === number);
    if (at >= 0 && kind <= 1) waiting.splice(at, 1)[0]?.settle(kind === 1 ? packet : null);
  }).finally(() => {
    clearTimeout(give);
    settleAll();
  });

  function send(request: Buffer): void {
    sequence = (sequence + 1) & 0xffff;
    request.writeUInt16LE(request.length / 4, 2);
    if (!socket.destroyed) socket.write(request);
  }
  function ask(request: Buffer): Promise<Buffer | null> {
    send(request);
    if (socket.destroyed) return Promise.resolve(null);
    return new Promise((settle) => waiting.push({ sequence, settle }));
  }

  const atoms = new Map<string, Promise<number>>();
  function atom(name: string): Promise<number> {
    const known = atoms.get(name);
    if (known) return known;
    const request = Buffer.alloc(8 + padded(name.length));
    request[0] = 16; // InternAtom
    request.writeUInt16LE(name.length, 4);
    request.write(name, 8, "latin1");
    const asked = ask(request).then((reply) => reply?.readUInt32LE(8) ?? 0);
    atoms.set(name, asked);
    return asked;
  }

  return {
    root,
    atom,
    async property(window, name) {
      const request = Buffer.alloc(24);
      request[0] = 20; // GetProperty
      request.writeUInt32LE(window, 4);
      request.writeUInt32LE(await atom(name), 8);
      request.writeUInt32LE(maxPropertyWords, 20);
      const reply = await ask(request);
      const format = reply?.[1] ?? 0;
      if (reply === null || format === 0) return null;
      const bytes = reply.readUInt32LE(16) * (format / 8);
      return { format, data: reply.subarray(replyBytes, replyBytes + bytes) };
    },
    async parentOf(window) {
      const request = Buffer.alloc(8);
      request[0] = 15; // QueryTree
      request.writeUInt32LE(window, 4);
      return (await ask(request))?.readUInt32LE(12) ?? null;
    },
    async selectionOwner(name) {
      const request = Buffer.alloc(8);
      request[0] = 23; // GetSelectionOwner
      request.writeUInt32LE(await atom(name), 4);
      return (await ask(request))?.readUInt32LE(8) ?? 0;
    },
    async tellManager(window, message, data) {
      const request = Buffer.alloc(44);
      request[0] = 25; // SendEvent
      request.writeUInt32LE(root, 4);
      request.writeUInt32LE(0x180000, 8); // SubstructureNotify, SubstructureRedirect
      request[12] = 33; // ClientMessage
      request[13] = 32;
      request.writeUInt32LE(window, 16);
      request.writeUInt32LE(await atom(message), 20);
      data.slice(0, 5).forEach((value, index) => {
        request.writeUInt32LE(value >>> 0, 24 + 4 * index);
      });
      send(request);
      const sync = Buffer.alloc(4);
      sync[0] = 43; // GetInputFocus: its answer comes after the message was taken.
      await ask(sync);
    },
    close() {
      clearTimeout(give);
      socket.destroy();
    },
  };
}

const padded = (length: number): number => (length + 3) & ~3;

function greeting(cookie: Buffer | null): Buffer {
  const name = cookie === null ? "" : "MIT-MAGIC-COOKIE-1";
  const data = cookie ?? Buffer.alloc(0);
  const hello = Buffer.alloc(12 + padded(name.length) + padded(data.length));
  hello[0] = 0x6c; // little endian
  hello.writeUInt16LE(11, 2);
  hello.writeUInt16LE(name.length, 6);
  hello.writeUInt16LE(data.length, 8);
  hello.write(name, 12, "latin1");
  data.copy(hello, 12 + padded(name.length));
  return hello;
}

async function readSetup(incoming: Reader): Promise<number> {
  const head = await incoming.take(setupHeadBytes);
  const body = await incoming.take(head.readUInt16LE(6) * 4);
  if (head[0] !== 1) throw new Error(`the X server refuses us: ${body.toString("latin1").trim()}`);
  const vendorBytes = padded(body.readUInt16LE(16));
  const formats = body[21] ?? 0;
  return body.readUInt32LE(32 + vendorBytes + 8 * formats);
}

async function listen(
  incoming: Reader,
  onPacket: (kind: number, sequence: number, packet: Buffer) => void,
): Promise<void> {
  try {
    while (true) {
      const head = await incoming.take(replyBytes);
      const kind = (head[0] ?? 0) & 0x7f;
      const more = kind === 1 || kind === genericEvent ? head.readUInt32LE(4) * 4 : 0;
      const packet = more === 0 ? head : Buffer.concat([head, await incoming.take(more)]);
      onPacket(kind, head.readUInt16LE(2), packet);
    }
  } catch {
    // The connection has ended.
  }
}

interface Reader {
  /** Rejects when the stream ends before. */
  take(bytes: number): Promise<Buffer>;
}

function readerOf(socket: Socket): Reader {
  const chunks = socket[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let held = Buffer.alloc(0);
  return {
    async take(bytes) {
      while (held.length < bytes) {
        const next = await chunks.next();
        if (next.done) throw new Error("the X server has closed the connection");
        held = Buffer.concat([held, next.value]);
      }
      const taken = held.subarray(0, bytes);
      held = held.subarray(bytes);
      return taken;
    },
  };
}
