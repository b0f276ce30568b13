/**
 * A client for the part of the X11 protocol that finds a window and brings it to the front: users rarely have wmctrl.
 */

import { readFile } from "node:fs/promises";
import { createConnection, type Socket } from "node:net";
import { homedir, hostname } from "node:os";
import { join } from "node:path";
import { parseLocalDisplay } from "../system/app-environment.ts";
import type { Env } from "../system/folders.ts";

export interface X11Property {
  /** The bits of each value: 8, 16 or 32. */
  readonly format: number;
  readonly data: Buffer;
}

export interface X11 {
  readonly root: number;
  /** null if the window or the property does not exist. */
  readProperty(window: number, name: string): Promise<X11Property | null>;
  /** null if the window does not exist. */
  findParent(window: number): Promise<number | null>;
  /** 0 if the selection has no owner. */
  findSelectionOwner(name: string): Promise<number>;
  /** Milliseconds since the last key or pointer event; null if the server has no screen saver extension. */
  readIdleMs(): Promise<number | null>;
  /** Sends a message about a window to the window manager. */
  sendToManager(window: number, message: string, data: readonly number[]): Promise<void>;
  close(): void;
}

const maxPropertyWords = 64 * 1024;
const setupHeadBytes = 8;
const replyBytes = 32;
const genericEvent = 35;

/** Rejects if there is no X server, or it refuses the connection. */
export async function connectX11(env: Env, timeoutMs: number): Promise<X11> {
  const display = parseLocalDisplay(env.DISPLAY ?? "");
  if (display === null) throw new Error(`DISPLAY is ${env.DISPLAY ?? "not set"}`);
  const socket = createConnection(`/tmp/.X11-unix/X${display}`);
  // The reader gets the error too. Without a listener it would end the program.
  socket.on("error", () => {});
  const timer = setTimeout(() => socket.destroy(new Error("the X server does not answer")), timeoutMs);
  const incoming = createReader(socket);
  let root: number;
  try {
    socket.write(formatSetupRequest(await findCookie(display, env)));
    root = await readSetup(incoming);
  } catch (error) {
    clearTimeout(timer);
    socket.destroy();
    throw error;
  }

  type PendingReply = { readonly sequence: number; readonly settle: (reply: Buffer | null) => void };
  const pending: PendingReply[] = [];
  let sequence = 0;
  void readPackets(incoming, (kind, number, packet) => {
    const index = pending.findIndex((reply) => reply.sequence === number);
    if (index >= 0 && kind <= 1) pending.splice(index, 1)[0]?.settle(kind === 1 ? packet : null);
  }).finally(() => {
    clearTimeout(timer);
    for (const { settle } of pending.splice(0)) settle(null);
  });

  function send(request: Buffer): void {
    sequence = (sequence + 1) & 0xffff;
    request.writeUInt16LE(request.length / 4, 2);
    if (!socket.destroyed) socket.write(request);
  }
  /** null if the reply is an error, or the connection has ended. */
  function requestReply(request: Buffer): Promise<Buffer | null> {
    send(request);
    if (socket.destroyed) return Promise.resolve(null);
    return new Promise((settle) => pending.push({ sequence, settle }));
  }

  const atoms = new Map<string, Promise<number>>();
  function internAtom(name: string): Promise<number> {
    const known = atoms.get(name);
    if (known) return known;
    const request = Buffer.alloc(8 + padded(name.length));
    request[0] = 16; // InternAtom
    request.writeUInt16LE(name.length, 4);
    request.write(name, 8, "latin1");
    const replied = requestReply(request).then((reply) => reply?.readUInt32LE(8) ?? 0);
    atoms.set(name, replied);
    return replied;
  }

  return {
    root,
    async readProperty(window, name) {
      const request = Buffer.alloc(24);
      request[0] = 20; // GetProperty
      request.writeUInt32LE(window, 4);
      request.writeUInt32LE(await internAtom(name), 8);
      request.writeUInt32LE(maxPropertyWords, 20);
      const reply = await requestReply(request);
      const format = reply?.[1] ?? 0;
      if (reply === null || format === 0) return null;
      const bytes = reply.readUInt32LE(16) * (format / 8);
      return { format, data: reply.subarray(replyBytes, replyBytes + bytes) };
    },
    async findParent(window) {
      const request = Buffer.alloc(8);
      request[0] = 15; // QueryTree
      request.writeUInt32LE(window, 4);
      return (await requestReply(request))?.readUInt32LE(12) ?? null;
    },
    async findSelectionOwner(name) {
      const request = Buffer.alloc(8);
      request[0] = 23; // GetSelectionOwner
      request.writeUInt32LE(await internAtom(name), 4);
      return (await requestReply(request))?.readUInt32LE(8) ?? 0;
    },
    async readIdleMs() {
      const name = "MIT-SCREEN-SAVER";
      const query = Buffer.alloc(8 + padded(name.length));
      query[0] = 98; // QueryExtension
      query.writeUInt16LE(name.length, 4);
      query.write(name, 8, "latin1");
      const extension = await requestReply(query);
      if (extension?.[8] !== 1) return null;
      const request = Buffer.alloc(8);
      request[0] = extension[9] ?? 0; // the extension's opcode
      request[1] = 1; // QueryInfo
      request.writeUInt32LE(root, 4);
      return (await requestReply(request))?.readUInt32LE(16) ?? null;
    },
    async sendToManager(window, message, data) {
      const request = Buffer.alloc(44);
      request[0] = 25; // SendEvent
      request.writeUInt32LE(root, 4);
      request.writeUInt32LE(0x180000, 8); // SubstructureNotify, SubstructureRedirect
      request[12] = 33; // ClientMessage
      request[13] = 32;
      request.writeUInt32LE(window, 16);
      request.writeUInt32LE(await internAtom(message), 20);
      data.slice(0, 5).forEach((value, index) => {
        request.writeUInt32LE(value >>> 0, 24 + 4 * index);
      });
      send(request);
      const sync = Buffer.alloc(4);
      sync[0] = 43; // GetInputFocus: its reply comes after the message was handled.
      await requestReply(sync);
    },
    close() {
      clearTimeout(timer);
      socket.destroy();
    },
  };
}

const padded = (length: number): number => (length + 3) & ~3;

function formatSetupRequest(cookie: Buffer | null): Buffer {
  const name = cookie === null ? "" : "MIT-MAGIC-COOKIE-1";
  const data = cookie ?? Buffer.alloc(0);
  const request = Buffer.alloc(12 + padded(name.length) + padded(data.length));
  request[0] = 0x6c; // little endian
  request.writeUInt16LE(11, 2);
  request.writeUInt16LE(name.length, 6);
  request.writeUInt16LE(data.length, 8);
  request.write(name, 12, "latin1");
  data.copy(request, 12 + padded(name.length));
  return request;
}

async function readSetup(incoming: Reader): Promise<number> {
  const head = await incoming.take(setupHeadBytes);
  const body = await incoming.take(head.readUInt16LE(6) * 4);
  if (head[0] !== 1)
    throw new Error(`the X server refuses the connection: ${body.toString("latin1").trim()}`);
  const vendorBytes = padded(body.readUInt16LE(16));
  const formats = body[21] ?? 0;
  return body.readUInt32LE(32 + vendorBytes + 8 * formats);
}

async function readPackets(
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
  /** Rejects if the stream ends before. */
  take(bytes: number): Promise<Buffer>;
}

function createReader(socket: Socket): Reader {
  const chunks = socket[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let buffered = Buffer.alloc(0);
  return {
    async take(bytes) {
      while (buffered.length < bytes) {
        const next = await chunks.next();
        if (next.done) throw new Error("the X server closed the connection");
        buffered = Buffer.concat([buffered, next.value]);
      }
      const taken = buffered.subarray(0, bytes);
      buffered = buffered.subarray(bytes);
      return taken;
    },
  };
}

interface AuthEntry {
  readonly family: number;
  readonly address: Buffer;
  readonly display: string;
  readonly name: string;
  readonly data: Buffer;
}

const localFamily = 256;
const anyFamily = 65535;

/** The cookie for the X server, from XAUTHORITY. null if there is none: the server may accept the user without it. */
async function findCookie(display: string, env: Env): Promise<Buffer | null> {
  const path = env.XAUTHORITY || join(env.HOME || homedir(), ".Xauthority");
  const file = await readFile(path).catch(() => null);
  if (file === null) return null;
  const usable = parseXauthority(file).filter(
    (entry) => entry.name === "MIT-MAGIC-COOKIE-1" && (entry.display === "" || entry.display === display),
  );
  const host = Buffer.from(hostname());
  const match =
    usable.find((entry) => entry.family === localFamily && entry.address.equals(host)) ??
    usable.find((entry) => entry.family === anyFamily) ??
    // The host may have been renamed. The display's number still matches.
    usable.find((entry) => entry.family === localFamily);
  return match?.data ?? null;
}

export function parseXauthority(file: Buffer): AuthEntry[] {
  const entries: AuthEntry[] = [];
  let position = 0;
  const readPart = (): Buffer => {
    const length = file.readUInt16BE(position);
    position += 2 + length;
    if (position > file.length) throw new RangeError("cut short");
    return file.subarray(position - length, position);
  };
  try {
    while (position < file.length) {
      const family = file.readUInt16BE(position);
      position += 2;
      const [address, display, name, data] = [
        readPart(),
        readPart().toString(),
        readPart().toString(),
        readPart(),
      ];
      entries.push({ family, address, display, name, data });
    }
  } catch {
    // A file that is being written ends in the middle of an entry: the complete entries count.
  }
  return entries;
}
