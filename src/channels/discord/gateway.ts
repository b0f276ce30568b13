/**
 * The connection on which Discord reports taps. @discordjs/ws is not used: on Bun, it waits for ever for a connection that
 * stopped answering to close (a laptop that slept), and a message of the wrong shape ends the process.
 */
import { type Static, Type } from "@sinclair/typebox";
import { Check } from "@sinclair/typebox/value";
import { readErrorMessage } from "../../core/error-message.ts";
import { parseJson } from "../../core/json.ts";
import type { Schedule } from "../../core/ports.ts";
import { isLoopback } from "../check.ts";

export interface GatewayOptions {
  readonly token: string;
  /** `GET /gateway/bot`: the address, and how often the bot may still identify itself today. */
  readonly findGateway: () => Promise<unknown>;
  /** The API is on this machine, and so may the gateway be, without TLS. */
  readonly isLocal: boolean;
  readonly onDispatch: (type: string, data: unknown) => void;
  readonly onProblem: (text: string) => void;
  readonly schedule: Schedule;
  /** For tests. */
  readonly times?: Partial<GatewayTimes> | undefined;
}

export interface GatewayTimes {
  /** For the connection, and for each of Discord's answers in it. */
  readonly answerMs: number;
  readonly firstRetryMs: number;
  readonly maxRetryMs: number;
}

export interface Gateway {
  start(): void;
  stop(): void;
  problem(): string | null;
}

const defaultTimes: GatewayTimes = { answerMs: 15_000, firstRetryMs: 1_000, maxRetryMs: 300_000 };
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

export function createGateway(options: GatewayOptions): Gateway {
  const { token, schedule } = options;
  const times = { ...defaultTimes, ...options.times };
  /** What a resumed connection continues; null if the next one identifies itself. */
  let session: { readonly id: string; readonly url: string } | null = null;
  let sequence: number | null = null;
  let socket: WebSocket | null = null;
  let cancelHeartbeat = () => {};
  let cancelDeadline = () => {};
  let cancelRetry = () => {};
  let isAcknowledged = true;
  let failures = 0;
  let problem: string | null = null;
  let isRunning = false;

  function setProblem(text: string | null): void {
    if (text !== null && text !== problem) options.onProblem(text);
    problem = text;
  }

  async function connect(): Promise<void> {
    if (session) return open(session.url);
    try {
      const found = await options.findGateway();
      if (!isRunning) return;
      if (!Check(gatewaySchema, found) || !isGatewayUrl(found.url, options.isLocal))
        return retry("Discord did not name its gateway");
      const limit = found.session_start_limit;
      // Discord resets the token of a bot that identifies itself too often.
      if (limit && limit.remaining < 1) retry("the bot has connected too often today", limit.reset_after);
      else open(found.url);
    } catch (error) {
      retry(readErrorMessage(error));
    }
  }

  function open(url: string): void {
    // A compressed message of some KB can be a GB.
    const opened = new WebSocket(`${url.replace(/\/+$/, "")}/?v=10&encoding=json`, {
      perMessageDeflate: false,
    });
    socket = opened;
    expectAnswer("Discord's gateway does not answer");
    opened.onmessage = ({ data }) => {
      if (socket === opened) receive(data);
    };
    opened.onclose = ({ code }) => {
      if (socket === opened) onClosed(code);
    };
    opened.onerror = () => {};
  }

  function receive(data: unknown): void {
    const frame = parseFrame(data);
    if (!frame) return;
    if (typeof frame.s === "number") sequence = frame.s;
    switch (frame.op) {
      case opcodes.hello:
        startHeartbeats(frame.d);
        if (session) send(opcodes.resume, { token, session_id: session.id, seq: sequence });
        else send(opcodes.identify, { token, intents: noIntents, properties: identity });
        expectAnswer("Discord's gateway does not answer");
        break;
      case opcodes.heartbeat:
        send(opcodes.heartbeat, sequence);
        break;
      case opcodes.heartbeatAck:
        isAcknowledged = true;
        break;
      case opcodes.reconnect:
        drop();
        planRetry(times.firstRetryMs);
        break;
      case opcodes.invalidSession:
        if (frame.d !== true) session = null;
        drop();
        failures++;
        // Discord asks for a pause of 1 to 5 seconds.
        planRetry(Math.max(times.firstRetryMs * (1 + Math.random() * 4), backoffMs()));
        break;
      case opcodes.dispatch:
        onDispatch(frame);
    }
  }

  function onDispatch({ t, d }: Frame): void {
    if (t === "READY" && Check(readySchema, d)) {
      const url = d.resume_gateway_url;
      session = url !== undefined && isGatewayUrl(url, options.isLocal) ? { id: d.session_id, url } : null;
    }
    if (t === "READY" || t === "RESUMED") {
      cancelDeadline();
      failures = 0;
      setProblem(null);
    } else if (typeof t === "string") options.onDispatch(t, d);
  }

  function startHeartbeats(hello: unknown): void {
    const asked = Check(helloSchema, hello) ? hello.heartbeat_interval : defaultHeartbeatMs;
    const intervalMs = Math.min(Math.max(asked, heartbeatLimits.min), heartbeatLimits.max);
    isAcknowledged = true;
    const beatAfter = (ms: number): void => {
      cancelHeartbeat();
      cancelHeartbeat = schedule(() => {
        if (!isAcknowledged) return lose("Discord's gateway stopped answering");
        isAcknowledged = false;
        send(opcodes.heartbeat, sequence);
        beatAfter(intervalMs);
      }, ms);
    };
    beatAfter(intervalMs * Math.random());
  }

  function send(op: number, d: unknown): void {
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ op, d }));
  }

  function expectAnswer(otherwise: string): void {
    cancelDeadline();
    cancelDeadline = schedule(() => lose(otherwise), times.answerMs);
  }

  function onClosed(code: number): void {
    const reason = finalCodes[code];
    if (reason !== undefined || newSessionCodes.has(code)) session = null;
    drop();
    if (reason !== undefined) retry(reason, times.maxRetryMs);
    // Connections end all day long. Only one that cannot be opened again is a problem.
    else if (failures > 0) retry(`the connection to Discord's gateway failed (${code})`);
    else {
      failures++;
      planRetry(times.firstRetryMs);
    }
  }

  function lose(reason: string): void {
    drop();
    retry(reason);
  }

  const backoffMs = (): number => Math.min(times.firstRetryMs * 2 ** failures, times.maxRetryMs);

  /** Without waiting for the other side, which may be gone. */
  function drop(): void {
    cancelHeartbeat();
    cancelDeadline();
    const dropped = socket;
    socket = null;
    // Any code but 1000 and 1001 lets the session be resumed.
    if (dropped && dropped.readyState <= WebSocket.OPEN) dropped.terminate();
  }

  function retry(reason: string, delayMs?: number): void {
    if (!isRunning) return;
    setProblem(reason);
    planRetry(delayMs ?? backoffMs());
    failures++;
    // A resume that keeps failing is given up.
    if (failures > 3) session = null;
  }

  function planRetry(delayMs: number): void {
    cancelRetry();
    if (isRunning) cancelRetry = schedule(() => void connect(), delayMs);
  }

  return {
    start() {
      if (isRunning) return;
      isRunning = true;
      void connect();
    },
    stop() {
      isRunning = false;
      cancelRetry();
      drop();
      problem = null;
    },
    problem: () => problem,
  };
}

const identity = { os: process.platform, browser: "beckon", device: "beckon" };

/** The token is sent there, so it must be encrypted. */
function isGatewayUrl(text: string, isLocal: boolean): boolean {
  const url = URL.parse(text);
  return url?.protocol === "wss:" || (url?.protocol === "ws:" && isLocal && isLoopback(url));
}

function parseFrame(data: unknown): Frame | null {
  if (typeof data !== "string" || data.length > maxFrameLength) return null;
  const frame = parseJson(data);
  return Check(frameSchema, frame) ? frame : null;
}
