/** The session bus: one way to it, for tray, notifications and focus. To come back after its end is the caller's. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type interface as dbusInterface, Message, type MessageBus, sessionBus } from "@jellybrick/dbus-next";

/** A panel that is busy redrawing answers within a second; a bus that was killed never does. */
const answerMs = 3_000;
const signalType = 4;

type Interface = InstanceType<typeof dbusInterface.Interface>;

export interface BusCall {
  readonly destination: string;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  readonly signature?: string;
  readonly body?: readonly unknown[];
  /** Where a late answer still counts: what a slow server shows must be closed one day. */
  readonly timeoutMs?: number;
}

export interface SignalMatch {
  /** Always name it where it is known: other programs send signals of the same name. */
  readonly sender?: string;
  readonly path?: string;
  readonly interface: string;
  readonly member: string;
  readonly arg0?: string;
}

export interface Bus {
  /** `:1.42` */
  readonly name: string;
  /** Rejects when the answer is an error, when none comes in time, and when the bus is gone. */
  call(call: BusCall): Promise<readonly unknown[]>;
  onSignal(match: SignalMatch, handler: (body: readonly unknown[]) => void): Promise<void>;
  export(path: string, object: Interface): void;
  /** `onEnd` is not called for it. */
  close(): void;
}

export interface BusOptions {
  readonly address: string;
  readonly onEnd: () => void;
}

type Env = Readonly<Record<string, string | undefined>>;

export const daemon = {
  destination: "org.freedesktop.DBus",
  path: "/org/freedesktop/DBus",
  interface: "org.freedesktop.DBus",
} as const;

/** A name on the bus has come, gone, or is another program's now. */
export const ownerChanges = {
  sender: daemon.destination,
  path: daemon.path,
  interface: daemon.interface,
  member: "NameOwnerChanged",
} as const;

/** What there is a library for: `autolaunch:` would have to start a bus first. */
const knownAddress = /^(unix|tcp|unixexec):./i;

/** null: this session has no bus, or none that beckon can speak to. */
export function busAddress(env: Env): string | null {
  const given = env.DBUS_SESSION_BUS_ADDRESS;
  if (given) return knownAddress.test(given) ? given : null;
  const socket = env.XDG_RUNTIME_DIR ? join(env.XDG_RUNTIME_DIR, "bus") : "";
  return socket !== "" && existsSync(socket) ? `unix:path=${socket}` : null;
}

/** A bus that is not there yet can still come: at login it may be later than we. */
export const mayHaveBus = (env: Env): boolean =>
  busAddress(env) !== null || (!env.DBUS_SESSION_BUS_ADDRESS && Boolean(env.XDG_RUNTIME_DIR));

/** Rejects where nobody listens at the address, or nobody answers. */
export async function connectBus(options: BusOptions): Promise<Bus> {
  // Called straight from a timer, the library listens to its socket only after that has failed: uncaught.
  await null;
  const bus = sessionBus({ busAddress: options.address });
  const exported: [string, Interface][] = [];
  const pending = new Set<(reason: Error) => void>();
  const owners = new Map<string, Promise<() => string>>();
  let isOpen = true;

  function end(): void {
    if (!isOpen) return;
    isOpen = false;
    // The library would keep every later signal of theirs for a connection that never comes back.
    for (const [path, object] of exported) bus.unexport(path, object);
    for (const reject of [...pending]) reject(new Error("the session bus is gone"));
    bus.disconnect();
    // That only says that we have no more to say: a bus that hangs would hold the socket, and so the program, for ever.
    connectionOf(bus).stream?.destroy();
  }

  /** The library's own promises never settle once the bus is gone. */
  function inTime<T>(work: Promise<T>, what: string, ms: number = answerMs): Promise<T> {
    return new Promise((resolve, reject) => {
      const finish = () => {
        clearTimeout(timer);
        pending.delete(fail);
      };
      const fail = (reason: Error) => {
        finish();
        reject(reason);
      };
      const timer = setTimeout(() => fail(new Error(`${what}: no answer in time`)), ms);
      pending.add(fail);
      work.then((value) => {
        finish();
        resolve(value);
      }, fail);
    });
  }

  await inTime(connected(bus), "the session bus").catch((error) => {
    end();
    throw error;
  });
  const ended = () => {
    if (!isOpen) return;
    end();
    options.onEnd();
  };
  // Only these two tell that the bus was killed.
  connectionOf(bus).on("end", ended);
  connectionOf(bus).stream?.on("close", ended);

  async function call(wanted: BusCall): Promise<readonly unknown[]> {
    if (!isOpen) throw new Error("the session bus is gone");
    const { body = [], timeoutMs, ...head } = wanted;
    const reply = await inTime(
      bus.call(new Message({ ...head, body: [...body] })),
      `${wanted.interface}.${wanted.member}`,
      timeoutMs,
    );
    return reply?.body ?? [];
  }

  async function onSignal(match: SignalMatch, handler: (body: readonly unknown[]) => void): Promise<void> {
    const sender = match.sender === undefined ? null : await ownerOf(match.sender);
    bus.on("message", (message: Message) => {
      if (message.type !== signalType || !isOpen) return;
      if (message.interface !== match.interface || message.member !== match.member) return;
      if (match.path !== undefined && message.path !== match.path) return;
      if (match.arg0 !== undefined && message.body[0] !== match.arg0) return;
      // The bus holds the rule only for what is sent to all: what a stranger sends to us alone comes too.
      if (sender !== null && message.sender !== sender()) return;
      handler(message.body);
    });
    await call({ ...daemon, member: "AddMatch", signature: "s", body: [ruleOf(match)] });
  }

  /** Whose name this is now, asked at any time. The bus itself and unique names (`:1.42`) are their own. */
  async function ownerOf(name: string): Promise<() => string> {
    if (name === daemon.destination || name.startsWith(":")) return () => name;
    const known = owners.get(name) ?? followOwner(name);
    owners.set(name, known);
    return known;
  }

  async function followOwner(name: string): Promise<() => string> {
    let owner: string | null = null;
    await onSignal({ ...ownerChanges, arg0: name }, ([, , now]) => {
      owner = String(now);
    });
    const [asked] = await call({
      ...daemon,
      member: "GetNameOwner",
      signature: "s",
      body: [name],
    }).catch(() => []);
    // A change that came meanwhile is newer than the answer.
    owner ??= String(asked ?? "");
    return () => owner ?? "";
  }

  return {
    name: bus.name ?? "",
    call,
    onSignal,
    export(path, object) {
      if (!isOpen) return;
      exported.push([path, object]);
      bus.export(path, object);
    },
    close: end,
  };
}

function ruleOf(match: SignalMatch): string {
  // One by one: a stray key of the caller's object would be part of the rule, and match nothing.
  const parts = [
    ["type", "signal"],
    ["sender", match.sender],
    ["path", match.path],
    ["interface", match.interface],
    ["member", match.member],
    ["arg0", match.arg0],
  ] as const;
  return parts.flatMap(([key, value]) => (value === undefined ? [] : `${key}='${value}'`)).join(",");
}

interface Connection {
  on(event: "end", listener: () => void): void;
  readonly stream?: { on(event: "close", listener: () => void): void; destroy(): void };
}

/** Not in the library's types, and the only one who hears of the end. */
const connectionOf = (bus: MessageBus): Connection =>
  (bus as unknown as { readonly _connection: Connection })._connection;

function connected(bus: MessageBus): Promise<void> {
  // Its events are typed without "error", which it emits where nobody listens at the address.
  const events = bus as unknown as {
    on(event: "error", listener: (error: Error) => void): void;
    once(event: "connect", listener: () => void): void;
  };
  return new Promise((resolve, reject) => {
    events.once("connect", resolve);
    // Stays: an error nobody listens to would end the program.
    events.on("error", reject);
    connectionOf(bus).on("end", () => reject(new Error("the session bus hung up")));
  });
}
