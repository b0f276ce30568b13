/** The connection to the D-Bus session bus, for tray, notifications and focus. The caller reconnects if the bus ends. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  type interface as dbusInterface,
  Message,
  type MessageBus,
  sessionBus,
  Variant,
} from "@jellybrick/dbus-next";
import type { BusCall } from "../core/terminals/plan.ts";
import type { Env } from "../system/folders.ts";

/** A panel that is busy redrawing answers within a second. A bus that was killed never answers. */
const answerTimeoutMs = 3_000;
const signalType = 4;

type Interface = InstanceType<typeof dbusInterface.Interface>;

export interface SignalMatch {
  /** Always set it if it is known: other programs can send signals of the same name. */
  readonly sender?: string;
  readonly path?: string;
  readonly interface: string;
  readonly member: string;
  readonly arg0?: string;
}

export interface Bus {
  /** The unique name of this connection: `:1.42`. */
  readonly name: string;
  /** Rejects if the answer is an error or does not come in time, or if the bus has ended. */
  call(call: BusCall): Promise<readonly unknown[]>;
  onSignal(match: SignalMatch, handler: (body: readonly unknown[]) => void): Promise<void>;
  export(path: string, object: Interface): void;
  /** Does not call `onEnd`. */
  close(): void;
}

export interface BusOptions {
  readonly address: string;
  readonly onEnd: () => void;
}

export const daemon = {
  destination: "org.freedesktop.DBus",
  path: "/org/freedesktop/DBus",
  interface: "org.freedesktop.DBus",
} as const;

/** A value of any type arrives wrapped in a variant. */
export const unwrapVariant = (value: unknown): unknown => (value instanceof Variant ? value.value : value);

export async function readBusProperty(
  call: Bus["call"],
  {
    property,
    ...target
  }: Pick<BusCall, "destination" | "path" | "interface" | "timeoutMs"> & {
    readonly property: string;
  },
): Promise<unknown> {
  const [value] = await call({
    ...target,
    interface: "org.freedesktop.DBus.Properties",
    member: "Get",
    signature: "ss",
    body: [target.interface, property],
  });
  return unwrapVariant(value);
}

/** The signal that a name on the bus has a new owner, or none. */
export const ownerChanges = {
  sender: daemon.destination,
  path: daemon.path,
  interface: daemon.interface,
  member: "NameOwnerChanged",
} as const;

/** The kinds of address that the library supports. `autolaunch:` would have to start a bus first. */
const knownAddress = /^(unix|tcp|unixexec):./i;

/** null if this session has no bus, or one that beckon cannot connect to. */
export function findBusAddress(env: Env): string | null {
  const address = env.DBUS_SESSION_BUS_ADDRESS;
  if (address) return knownAddress.test(address) ? address : null;
  const socket = env.XDG_RUNTIME_DIR ? join(env.XDG_RUNTIME_DIR, "bus") : "";
  return socket !== "" && existsSync(socket) ? `unix:path=${socket}` : null;
}

/** Whether a bus exists or may appear: at login it can start after beckon. */
export const mayHaveBus = (env: Env): boolean =>
  findBusAddress(env) !== null || (!env.DBUS_SESSION_BUS_ADDRESS && Boolean(env.XDG_RUNTIME_DIR));

/** Rejects if nothing listens at the address, or it does not answer. */
export async function connectBus(options: BusOptions): Promise<Bus> {
  // Called directly from a timer, the library would add its error listener only after the socket has failed.
  await null;
  const bus = sessionBus({ busAddress: options.address });
  const exported: [string, Interface][] = [];
  const pending = new Set<(reason: Error) => void>();
  const owners = new Map<string, Promise<() => string>>();
  let isOpen = true;

  function end(): void {
    if (!isOpen) return;
    isOpen = false;
    // The library would queue every later signal of these objects for a connection that never comes back.
    for (const [path, object] of exported) bus.unexport(path, object);
    for (const reject of [...pending]) reject(new Error("the session bus has ended"));
    bus.disconnect();
    // disconnect() only ends our side. A bus that hangs would keep the socket open, and so keep the program running.
    connectionOf(bus).stream?.destroy();
  }

  /** The library's own promises never settle once the bus has ended. */
  function withTimeout<T>(work: Promise<T>, what: string, ms: number = answerTimeoutMs): Promise<T> {
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

  await withTimeout(waitForConnect(bus), "the session bus").catch((error) => {
    end();
    throw error;
  });
  const ended = () => {
    if (!isOpen) return;
    end();
    options.onEnd();
  };
  // Only these two events show that the bus was killed.
  connectionOf(bus).on("end", ended);
  connectionOf(bus).stream?.on("close", ended);

  async function call(request: BusCall): Promise<readonly unknown[]> {
    if (!isOpen) throw new Error("the session bus has ended");
    const { body = [], timeoutMs, ...head } = request;
    const reply = await withTimeout(
      bus.call(new Message({ ...head, body: [...body] })),
      `${request.interface}.${request.member}`,
      timeoutMs,
    );
    return reply?.body ?? [];
  }

  async function onSignal(match: SignalMatch, handler: (body: readonly unknown[]) => void): Promise<void> {
    const sender = match.sender === undefined ? null : await watchOwner(match.sender);
    bus.on("message", (message: Message) => {
      if (message.type !== signalType || !isOpen) return;
      if (message.interface !== match.interface || message.member !== match.member) return;
      if (match.path !== undefined && message.path !== match.path) return;
      if (match.arg0 !== undefined && message.body[0] !== match.arg0) return;
      // The bus applies the match rule only to broadcasts: a signal that is sent to this connection alone arrives too.
      if (sender !== null && message.sender !== sender()) return;
      handler(message.body);
    });
    await call({ ...daemon, member: "AddMatch", signature: "s", body: [formatMatchRule(match)] });
  }

  /** Returns a function for the current owner of a name. The bus itself and unique names (`:1.42`) own themselves. */
  async function watchOwner(name: string): Promise<() => string> {
    if (name === daemon.destination || name.startsWith(":")) return () => name;
    const owner = owners.get(name) ?? trackOwner(name);
    owners.set(name, owner);
    return owner;
  }

  async function trackOwner(name: string): Promise<() => string> {
    let owner: string | null = null;
    await onSignal({ ...ownerChanges, arg0: name }, ([, , newOwner]) => {
      owner = String(newOwner);
    });
    const [answer] = await call({
      ...daemon,
      member: "GetNameOwner",
      signature: "s",
      body: [name],
    }).catch(() => []);
    // A change that arrived meanwhile is newer than the answer.
    owner ??= String(answer ?? "");
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

function formatMatchRule(match: SignalMatch): string {
  // Key by key: another key of the caller's object would become part of the rule, and then nothing would match.
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

/** Not in the library's types, but the only object that reports the end of the connection. */
const connectionOf = (bus: MessageBus): Connection =>
  (bus as unknown as { readonly _connection: Connection })._connection;

function waitForConnect(bus: MessageBus): Promise<void> {
  // The types lack the "error" event, which it emits if nothing listens at the address.
  const events = bus as unknown as {
    on(event: "error", listener: (error: Error) => void): void;
    once(event: "connect", listener: () => void): void;
  };
  return new Promise((resolve, reject) => {
    events.once("connect", resolve);
    // Never removed: an error without a listener would end the program.
    events.on("error", reject);
    connectionOf(bus).on("end", () => reject(new Error("the session bus closed the connection")));
  });
}
