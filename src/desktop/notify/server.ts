/** The desktop's notification server on the session bus: found, started where the desktop knows how, found again. */
import { type Bus, connectBus, daemon, ownerChanges } from "../dbus.ts";

const name = "org.freedesktop.Notifications";
const path = "/org/freedesktop/Notifications";
const reconnectMs = { first: 250, most: 2_000 };
/** A server that is being restarted takes its name again by itself. */
const restartMs = 1_000;

export interface NotificationServer {
  /** The bus's own id and the server's name on it, both of this run only: `1d3f… :1.42`. */
  readonly run: string;
  /** "gnome-shell", "Plasma", "Xfce Notify Daemon", … */
  readonly program: string;
  readonly version: string;
  readonly capabilities: ReadonlySet<string>;
  call(member: string, signature: string, body: readonly unknown[], timeoutMs?: number): Promise<unknown>;
  /** Of another object on the same bus. */
  ask(call: Parameters<Bus["call"]>[0]): Promise<unknown>;
}

export interface ServerEvents {
  readonly onClosed: (id: number, reason: number) => void;
  readonly onAction: (id: number, action: string) => void;
  /** With all it showed: ids mean nothing any more. */
  readonly onGone: () => void;
  readonly onBack: () => void;
  /** Is there something to be shown, so that the server should be started? */
  readonly isNeeded: () => boolean;
}

export interface Servers {
  /** The one that runs now. Rejects, in words for people, where there is none. */
  current(): Promise<NotificationServer>;
  /** Of the one that runs now. */
  run(): string | null;
  stop(): void;
}

/** Where there is no bus at this address yet, it is looked for again and again. */
export async function watchServers(address: string, events: ServerEvents): Promise<Servers> {
  let bus: Bus | null = null;
  let busId = "";
  let owner = "";
  let known: Promise<NotificationServer> | null = null;
  let isStopped = false;
  let timer: ReturnType<typeof setTimeout> | null = null;

  function later(ms: number, work: () => void): void {
    if (timer !== null) clearTimeout(timer);
    timer = isStopped ? null : setTimeout(work, ms);
    timer?.unref?.();
  }

  async function connect(): Promise<void> {
    let opened: Bus | null = null;
    owner = "";
    const connected = await connectBus({ address, onEnd: () => lost(opened) });
    opened = connected;
    try {
      const from = { sender: name, path, interface: name };
      // Named by its sender: GNOME Shell sends its signals once more under its own name.
      await connected.onSignal({ ...from, member: "NotificationClosed" }, ([id, reason]) =>
        events.onClosed(Number(id), Number(reason)),
      );
      await connected.onSignal({ ...from, member: "ActionInvoked" }, ([id, action]) =>
        events.onAction(Number(id), String(action)),
      );
      await connected.onSignal({ ...ownerChanges, arg0: name }, ([, before, after]) =>
        ownerChanged(String(before), String(after)),
      );
      busId = String((await connected.call({ ...daemon, member: "GetId" }))[0]);
      const asked = await connected
        .call({ ...daemon, member: "GetNameOwner", signature: "s", body: [name] })
        .then(([unique]) => String(unique))
        .catch(() => "");
      // One that came meanwhile is newer than the answer.
      owner ||= asked;
    } catch (error) {
      connected.close();
      throw error;
    }
    if (isStopped) return connected.close();
    bus = connected;
    known = null;
  }

  function ownerChanged(before: string, after: string): void {
    owner = after;
    known = null;
    if (before !== "") events.onGone();
    if (after !== "") events.onBack();
    else later(restartMs, wake);
  }

  /** Asking it anything makes the bus start it, where the desktop has said how. */
  function wake(): void {
    if (owner === "" && events.isNeeded()) current().catch(() => {});
  }

  function lost(ended: Bus | null): void {
    if (bus === null || bus !== ended) return;
    bus = null;
    owner = "";
    known = null;
    events.onGone();
    reconnect(reconnectMs.first);
  }

  function reconnect(ms: number): void {
    later(ms, () => {
      connect().then(
        () => (owner === "" ? wake() : events.onBack()),
        () => reconnect(Math.min(ms * 2, reconnectMs.most)),
      );
    });
  }

  function current(): Promise<NotificationServer> {
    const asked = known ?? describe();
    known = asked;
    asked.catch(() => {
      if (known === asked) known = null;
    });
    return asked;
  }

  async function describe(): Promise<NotificationServer> {
    const on = bus;
    if (on === null) throw new Error("the session bus does not answer; beckon looks for it again by itself");
    const at = { path, interface: name };
    const ask = (member: string) =>
      on.call({ ...at, destination: name, member }).catch((error) => {
        throw new Error(whyNone(error));
      });
    const [capabilities] = await ask("GetCapabilities");
    const [program, , version = ""] = await ask("GetServerInformation");
    // Started by our question, it has its name by now: the bus tells of names before it passes on answers.
    const unique = owner || name;
    return {
      run: `${busId} ${unique}`,
      program: String(program),
      version: String(version),
      capabilities: new Set(Array.isArray(capabilities) ? capabilities.map(String) : []),
      // By its unique name: an id must never reach another server that took its place.
      call: async (member, signature, body, timeoutMs) =>
        (
          await on.call({
            ...at,
            destination: unique,
            member,
            signature,
            body,
            ...(timeoutMs !== undefined && { timeoutMs }),
          })
        )[0],
      ask: async (call) => (await on.call(call))[0],
    };
  }

  await connect().catch(() => reconnect(reconnectMs.first));
  return {
    current,
    run: () => (owner === "" ? null : `${busId} ${owner}`),
    stop() {
      isStopped = true;
      if (timer !== null) clearTimeout(timer);
      bus?.close();
    },
  };
}

function whyNone(error: Error): string {
  return /ServiceUnknown|not provided by any|NameHasNoOwner/.test(`${error.name} ${error.message}`)
    ? "no notification service runs on this desktop: start or install one (dunst, mako, xfce4-notifyd, …)"
    : `the desktop's notification service does not work: ${error.message}`;
}
