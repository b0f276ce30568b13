/**
 * The desktop's notification server on the session bus: beckon finds it, lets the bus start it, finds it again after a
 * restart, and reads from it whether the user wants silence.
 */
import type { Exec } from "../../core/interfaces/index.ts";
import { readFlag } from "../../core/json.ts";
import { type Attempt, ConnectionError, keepConnected } from "../../system/keep-connected.ts";
import { schedule } from "../../system/schedule.ts";
import { type Bus, connectBus, daemon, ownerChanges, readBusProperty, unwrapVariant } from "../dbus.ts";

const name = "org.freedesktop.Notifications";
const path = "/org/freedesktop/Notifications";
const backoff = { firstMs: 250, maxMs: 2_000 };
/** A server that is being restarted takes its name again within this time. */
const restartMs = 1_000;

export interface NotificationServer {
  /** The id of the bus and the server's unique name on it: `1d3f… :1.42`. Both are new after a restart. */
  readonly run: string;
  /** "gnome-shell", "Plasma", "Xfce Notify Daemon", … */
  readonly program: string;
  readonly version: string;
  readonly capabilities: ReadonlySet<string>;
  call(member: string, signature: string, body: readonly unknown[], timeoutMs?: number): Promise<unknown>;
  /** Calls another object on the same bus. */
  readonly callOther: Bus["call"];
}

export interface ServerEvents {
  readonly onClosed: (id: number, reason: number) => void;
  readonly onAction: (id: number, action: string) => void;
  /** The server is gone with everything it showed: its ids are invalid. */
  readonly onGone: () => void;
  readonly onBack: () => void;
  /** Whether there is something to show, so that the bus should start the server. */
  readonly isNeeded: () => boolean;
}

export interface ServerWatcher {
  /** The server that runs now. Rejects with a message for the user if there is none. */
  current(): Promise<NotificationServer>;
  /** The run of the server that runs now; null if there is none. */
  run(): string | null;
  stop(): void;
}

/** Resolves after the first attempt. If there is no bus at this address yet, it tries again and again. */
export async function watchServers(address: string, events: ServerEvents): Promise<ServerWatcher> {
  let bus: Bus | null = null;
  let busId = "";
  let owner = "";
  let known: Promise<NotificationServer> | null = null;
  let cancelWake = () => {};
  const tried = Promise.withResolvers<void>();
  let isFirst = true;

  /** Follows the server on the bus until the bus ends, or `signal` ends it. */
  async function follow({ signal, onConnected }: Attempt): Promise<void> {
    const ended = Promise.withResolvers<never>();
    // It can end before anybody waits for it.
    ended.promise.catch(() => {});
    owner = "";
    const opened = await connectBus({
      address,
      onEnd: () => ended.reject(new ConnectionError("the session bus has ended")),
    });
    try {
      await listen(opened);
      if (signal.aborted) return;
      signal.addEventListener("abort", () => ended.reject(signal.reason));
      bus = opened;
      known = null;
      onConnected();
      if (isFirst) tried.resolve();
      else if (owner === "") wake();
      else events.onBack();
      await ended.promise;
    } finally {
      opened.close();
      if (bus !== null) onBusEnded(signal.aborted);
    }
  }

  async function listen(opened: Bus): Promise<void> {
    const from = { sender: name, path, interface: name };
    // With the sender in the match rule: since 3.36 GNOME's server is a process of its own, which passes everything on to the shell, so
    // that each signal is seen twice (https://github.com/GSConnect/gnome-shell-extension-gsconnect/pull/941).
    await opened.onSignal({ ...from, member: "NotificationClosed" }, ([id, reason]) =>
      events.onClosed(Number(id), Number(reason)),
    );
    await opened.onSignal({ ...from, member: "ActionInvoked" }, ([id, action]) =>
      events.onAction(Number(id), String(action)),
    );
    await opened.onSignal({ ...ownerChanges, arg0: name }, ([, before, after]) =>
      onOwnerChanged(String(before), String(after)),
    );
    busId = String((await opened.call({ ...daemon, member: "GetId" }))[0]);
    const answered = await opened
      .call({ ...daemon, member: "GetNameOwner", signature: "s", body: [name] })
      .then(([unique]) => String(unique))
      .catch(() => "");
    // A change that was signalled meanwhile is newer than this answer.
    owner ||= answered;
  }

  function onOwnerChanged(before: string, after: string): void {
    owner = after;
    known = null;
    if (before !== "") events.onGone();
    cancelWake();
    if (after !== "") events.onBack();
    else cancelWake = schedule(wake, restartMs);
  }

  /** Any call makes the bus start the server, if the desktop has registered how. */
  function wake(): void {
    if (owner === "" && events.isNeeded()) current().catch(() => {});
  }

  function onBusEnded(isStopped: boolean): void {
    bus = null;
    owner = "";
    known = null;
    if (!isStopped) events.onGone();
  }

  function current(): Promise<NotificationServer> {
    const described = known ?? describe();
    known = described;
    described.catch(() => {
      if (known === described) known = null;
    });
    return described;
  }

  async function describe(): Promise<NotificationServer> {
    const connected = bus;
    if (connected === null)
      throw new Error("the session bus does not answer; beckon connects again by itself");
    const target = { path, interface: name };
    const ask = (member: string) =>
      connected.call({ ...target, destination: name, member }).catch((error) => {
        throw new Error(explainMissing(error));
      });
    const [capabilities] = await ask("GetCapabilities");
    const [program, , version = ""] = await ask("GetServerInformation");
    // The bus signals a new owner before it passes on the owner's answers, so a server that was just started has a name now.
    const unique = owner || name;
    return {
      run: `${busId} ${unique}`,
      program: String(program),
      version: String(version),
      capabilities: new Set(Array.isArray(capabilities) ? capabilities.map(String) : []),
      // By its unique name, so that an id never reaches a server that has replaced this one.
      call: async (member, signature, body, timeoutMs) =>
        (
          await connected.call({
            ...target,
            destination: unique,
            member,
            signature,
            body,
            ...(timeoutMs !== undefined && { timeoutMs }),
          })
        )[0],
      callOther: connected.call,
    };
  }

  const connection = keepConnected({
    connect: (attempt) =>
      follow(attempt).finally(() => {
        isFirst = false;
        tried.resolve();
      }),
    backoff,
    stableMs: 0,
    schedule,
  });
  await tried.promise;
  return {
    current,
    run: () => (owner === "" ? null : `${busId} ${owner}`),
    stop() {
      cancelWake();
      void connection.stop();
    },
  };
}

function explainMissing(error: Error): string {
  return /ServiceUnknown|not provided by any|NameHasNoOwner/.test(`${error.name} ${error.message}`)
    ? "no notification service runs on this desktop: start or install one (dunst, mako, xfce4-notifyd, …)"
    : `the desktop's notification service does not work: ${error.message}`;
}

type DoNotDisturbReader = (server: NotificationServer, exec: Exec) => Promise<boolean | null>;

const readProperty =
  (from: string, property: string): DoNotDisturbReader =>
  async (server) =>
    readFlag(await readBusProperty(server.callOther, { destination: name, path, interface: from, property }));

const readGsettings =
  (schema: string, key: string, silent: "true" | "false"): DoNotDisturbReader =>
  async (_server, exec) => {
    const { code, stdout } = await exec(["gsettings", "get", schema, key], { timeoutMs: 1_000 });
    const value = stdout.trim();
    return code === 0 && (value === "true" || value === "false") ? value === silent : null;
  };

const readXfconf: DoNotDisturbReader = async (server) => {
  const answer = server.callOther({
    destination: "org.xfce.Xfconf",
    path: "/org/xfce/Xfconf",
    interface: "org.xfce.Xfconf",
    member: "GetProperty",
    signature: "ss",
    body: ["xfce4-notifyd", "/do-not-disturb"],
  });
  // The property does not exist until the user has switched it on once.
  const [value] = await answer.catch((error) => [
    /PropertyNotFound|does not exist/.test(String(error)) ? false : null,
  ]);
  return readFlag(unwrapVariant(value));
};

const readMako: DoNotDisturbReader = async (server) => {
  const [modes] = await server.callOther({
    destination: name,
    path: "/fr/emersion/Mako",
    interface: "fr.emersion.Mako",
    member: "ListModes",
  });
  return Array.isArray(modes) ? modes.includes("do-not-disturb") : null;
};

const readSwaync: DoNotDisturbReader = async (server) => {
  const [isOn] = await server.callOther({
    destination: "org.erikreider.swaync.cc",
    path: "/org/erikreider/swaync/cc",
    interface: "org.erikreider.swaync.cc",
    member: "GetDnd",
  });
  return readFlag(isOn);
};

/**
 * Where each server keeps it, by the name that the server gives itself. Tested with xfce4-notifyd 0.7.3, dunst 1.9.0 and
 * GNOME Shell 43.9; the others by documentation.
 */
const doNotDisturbReaders: readonly (readonly [RegExp, DoNotDisturbReader])[] = [
  [/^gnome-shell$/i, readGsettings("org.gnome.desktop.notifications", "show-banners", "false")],
  [/^xfce notify daemon$/i, readXfconf],
  [/^plasma$/i, readProperty(name, "Inhibited")],
  [/^dunst$/i, readProperty("org.dunstproject.cmd0", "paused")],
  [/^mako$/i, readMako],
  [/^SwayNotificationCenter$/i, readSwaync],
  [/^cinnamon$/i, readGsettings("org.cinnamon.desktop.notifications", "display-notifications", "false")],
  [/^notification daemon$/i, readGsettings("org.mate.NotificationDaemon", "do-not-disturb", "true")],
];

/** Whether the user wants silence; null if unknown. */
export async function readDoNotDisturb(server: NotificationServer, exec: Exec): Promise<boolean | null> {
  const read = doNotDisturbReaders.find(([program]) => program.test(server.program))?.[1];
  return read === undefined ? null : read(server, exec).catch(() => null);
}
