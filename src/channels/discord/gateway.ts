/**
 * The connection on which Discord reports taps. @discordjs/ws is not used: on Bun, it waits for ever for a connection that
 * stopped answering to close (a laptop that slept), and a message of the wrong shape ends the process.
 */
import { type Static, Type } from "@sinclair/typebox";
import { Check } from "@sinclair/typebox/value";
import type { Schedule } from "../../core/interfaces/index.ts";
import { parseJson } from "../../core/json.ts";
import { type Attempt, ConnectionError, type ConnectionFailure } from "../../system/keep-connected.ts";
import { isSocketAddress } from "../check.ts";
import { createListener, type Listener } from "../listener.ts";

export interface GatewayOptions {
  readonly token: string;
  /** `GET /gateway/bot`: the address, and how often the bot may still identify itself today. */
  readonly findGateway: () => Promise<unknown>;
  /** The API is on this machine, and so may the gateway be, without TLS. */
  readonly isLocal: boolean;
  readonly onDispatch: (type: string, data: unknown) => void;
  readonly onProblem: (text: string) => void;
  readonly schedule: Schedule;
}

const backoff = { firstMs: 1_000, maxMs: 300_000 };
/** For the connection, and for each of Discord's answers in it. */
const answerMs = 15_000;
const maxResumes = 3;
/** A heartbeat that is sent more often would end the connection; one that is sent less often too. */
const heartbeatLimits = { min: 1_000, max: 120_000 };
const defaultHeartbeatMs = 41_250;
/** Buttons are reported without any intent. */
const noIntents = 0;
const maxFrameLength = 1024 * 1024;

const opcodes = {
  dispatch: 0,
  heartbeat: 1,
  identify: 2,
  resume: 6,
  reconnect: 7,
  invalidSession: 9,
  hello: 10,
  heartbeatAck: 11,
} as const;

/** Close codes after which another attempt fails in the same way. */
const finalCodes: Readonly<Record<number, string>> = {
  4004: "the token is not valid. Get it from the developer portal",
  4010: "Discord does not accept this connection (4010)",
  4011: "the bot is in too many servers for beckon (4011)",
  4012: "Discord no longer knows this version of its API (4012)",
  4013: "Discord does not accept this connection (4013)",
  4014: "Discord does not accept this connection (4014)",
};
/** The session is over: 1000 and 1001, a wrong sequence number, a session that timed out. */
const newSessionCodes: ReadonlySet<number> = new Set([1000, 1001, 4007, 4009]);

const frameSchema = Type.Object({
  op: Type.Integer(),
  d: Type.Optional(Type.Unknown()),
  s: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
  t: Type.Optional(Type.Union([Type.String(), Type.Null()])),
});
const helloSchema = Type.Object({ heartbeat_interval: Type.Number({ minimum: 1 }) });
const readySchema = Type.Object({
  session_id: Type.String(),
  resume_gateway_url: Type.Optional(Type.String()),
});
const gatewaySchema = Type.Object({
  url: Type.String(),
  session_start_limit: Type.Optional(
    Type.Object({ remaining: Type.Integer(), reset_after: Type.Number({ minimum: 0 }) }),
  ),
});

type Frame = Static<typeof frameSchema>;

export function createGateway(options: GatewayOptions): Listener {
  const { token, schedule } = options;
  /** What a resumed connection continues; null if the next one identifies itself. */
  let session: { readonly id: string; readonly url: string } | null = null;
  let sequence: number | null = null;

  async function connect(attempt: Attempt): Promise<void> {
    // A resume that keeps failing is given up.
    if (attempt.failures > maxResumes) session = null;
    const url = session?.url ?? (await findUrl());
    if (!attempt.signal.aborted) await follow(url, attempt);
  }

  async function findUrl(): Promise<string> {
    const found = await options.findGateway();
    if (!Check(gatewaySchema, found) || !isSocketAddress(found.url, options.isLocal))
      throw new ConnectionError("Discord did not name its gateway");
    const limit = found.session_start_limit;
    // Discord resets the token of a bot that identifies itself too often.
    if (limit && limit.remaining < 1)
      throw new ConnectionError("the bot has connected too often today", { retryAfterMs: limit.reset_after });
    return found.url;
  }

  /** Resolves when Discord asks for another connection. Rejects when this one is lost. */
  function follow(url: string, { signal, failures, setDeadline, onConnected }: Attempt): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const lose = (reason: string, failure?: ConnectionFailure) =>
      reject(new ConnectionError(reason, failure));
    // A compressed message of some KB can be a GB.
    const socket = new WebSocket(`${url.replace(/\/+$/, "")}/?v=10&encoding=json`, {
      perMessageDeflate: false,
    });
    let cancelHeartbeat = () => {};
    let isAcknowledged = true;

    function receive(data: unknown): void {
      const frame = parseFrame(data);
      if (!frame) return;
      if (typeof frame.s === "number") sequence = frame.s;
      switch (frame.op) {
        case opcodes.hello:
          startHeartbeats(frame.d);
          if (session) send(opcodes.resume, { token, session_id: session.id, seq: sequence });
          else send(opcodes.identify, { token, intents: noIntents, properties: identity });
          expectAnswer();
          break;
        case opcodes.heartbeat:
          send(opcodes.heartbeat, sequence);
          break;
        case opcodes.heartbeatAck:
          isAcknowledged = true;
          break;
        case opcodes.reconnect:
          resolve();
          break;
        case opcodes.invalidSession:
          if (frame.d !== true) session = null;
          // Discord asks for a pause of 1 to 5 seconds.
          lose("Discord does not accept the session", {
            retryAfterMs: failures === 0 ? backoff.firstMs * (1 + Math.random() * 4) : null,
            isRoutine: true,
          });
          break;
        case opcodes.dispatch:
          onDispatch(frame);
      }
    }

    function onDispatch({ t, d }: Frame): void {
      if (t === "READY" && Check(readySchema, d)) {
        const resumeUrl = d.resume_gateway_url;
        session =
          resumeUrl !== undefined && isSocketAddress(resumeUrl, options.isLocal)
            ? { id: d.session_id, url: resumeUrl }
            : null;
      }
      if (t === "READY" || t === "RESUMED") {
        setDeadline(null);
        onConnected();
      } else if (typeof t === "string") options.onDispatch(t, d);
    }

    function startHeartbeats(hello: unknown): void {
      const asked = Check(helloSchema, hello) ? hello.heartbeat_interval : defaultHeartbeatMs;
      const intervalMs = Math.min(Math.max(asked, heartbeatLimits.min), heartbeatLimits.max);
      isAcknowledged = true;
      const beatAfter = (ms: number): void => {
        cancelHeartbeat();
        cancelHeartbeat = schedule(() => {
          if (!isAcknowledged) return lose("Discord's gateway stopped answering", { isRoutine: false });
          isAcknowledged = false;
          send(opcodes.heartbeat, sequence);
          beatAfter(intervalMs);
        }, ms);
      };
      beatAfter(intervalMs * Math.random());
    }

    function send(op: number, d: unknown): void {
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ op, d }));
    }

    function expectAnswer(): void {
      setDeadline({ ms: answerMs, error: new ConnectionError("Discord's gateway does not answer") });
    }

    /** Without waiting for the other side, which may be gone. */
    function drop(): void {
      cancelHeartbeat();
      socket.onmessage = null;
      socket.onclose = null;
      // Any code but 1000 and 1001 lets the session be resumed.
      if (socket.readyState <= WebSocket.OPEN) socket.terminate();
    }

    expectAnswer();
    socket.onmessage = ({ data }) => receive(data);
    socket.onclose = ({ code }) => {
      const reason = finalCodes[code];
      if (reason !== undefined || newSessionCodes.has(code)) session = null;
      // Connections end all day long. Only one that cannot be opened again is a problem.
      lose(reason ?? `the connection to Discord's gateway failed (${code})`, {
        isPermanent: reason !== undefined,
        isRoutine: true,
      });
    };
    socket.onerror = () => {};
    signal.addEventListener("abort", () => resolve());
    return promise.finally(drop);
  }

  return createListener({ connect, backoff, onProblem: options.onProblem, schedule });
}

const identity = { os: process.platform, browser: "beckon", device: "beckon" };

function parseFrame(data: unknown): Frame | null {
  if (typeof data !== "string" || data.length > maxFrameLength) return null;
  const frame = parseJson(data);
  return Check(frameSchema, frame) ? frame : null;
}
