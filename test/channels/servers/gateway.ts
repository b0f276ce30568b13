/** A WebSocket server that can do what a library would not let it: hang, break off, and send nonsense. */
import { createHash } from "node:crypto";
import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import type { JsonRecord } from "../../../src/core/json.ts";

export interface GatewayConnection {
  send(frame: unknown): void;
  /** As it is, also if it is not JSON. */
  sendText(text: string): void;
  close(code: number): void;
  /** Breaks off without a word. */
  reset(): void;
}

export interface GatewayServerOptions {
  readonly onOpen: (connection: GatewayConnection) => void;
  readonly onFrame: (connection: GatewayConnection, frame: JsonRecord) => void;
  readonly onClosed: (connection: GatewayConnection) => void;
  /** False: the handshake is never answered. */
  readonly acceptsHandshake: () => boolean;
}

const textFrame = 1;
const closeFrame = 8;

export function addGateway(server: Server, options: GatewayServerOptions): void {
  server.on("upgrade", (request: IncomingMessage, socket: Socket) => {
    socket.on("error", () => {});
    socket.on("end", () => socket.destroy());
    if (!options.acceptsHandshake()) return;
    const key = `${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash("sha1").update(key).digest("base64");
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    const connection: GatewayConnection = {
      send: (frame) => connection.sendText(JSON.stringify(frame)),
      sendText: (text) => void socket.write(encode(textFrame, Buffer.from(text))),
      close: (code) => void socket.end(encode(closeFrame, Buffer.from([code >> 8, code & 255]))),
      reset: () => void socket.resetAndDestroy(),
    };
    let rest: Buffer = Buffer.alloc(0);
    socket.on("data", (data) => {
      rest = Buffer.concat([rest, Buffer.from(data)]);
      for (let frame = decode(rest); frame; frame = decode(rest)) {
        rest = rest.subarray(frame.length);
        if (frame.opcode === closeFrame) socket.end(encode(closeFrame, frame.payload));
        else if (frame.opcode === textFrame)
          options.onFrame(connection, JSON.parse(frame.payload.toString()));
      }
    });
    socket.on("close", () => options.onClosed(connection));
    options.onOpen(connection);
  });
}

function encode(opcode: number, payload: Buffer): Buffer {
  const size =
    payload.length < 126
      ? Buffer.from([payload.length])
      : Buffer.from([126, payload.length >> 8, payload.length & 255]);
  return Buffer.concat([Buffer.from([0x80 | opcode]), size, payload]);
}

/** null if the frame is not complete. */
function decode(data: Buffer): { opcode: number; payload: Buffer; length: number } | null {
  if (data.length < 2) return null;
  const short = (data[1] ?? 0) & 127;
  const start = short === 126 ? 4 : 2;
  if (data.length < start + 4) return null;
  const size = short === 126 ? data.readUInt16BE(2) : short;
  const length = start + 4 + size;
  if (data.length < length) return null;
  const mask = data.subarray(start, start + 4);
  const payload = Buffer.from(data.subarray(start + 4, length));
  for (const [i, byte] of payload.entries()) payload[i] = byte ^ (mask[i % 4] ?? 0);
  return { opcode: (data[0] ?? 0) & 15, payload, length };
}
