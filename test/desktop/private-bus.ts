/** A session bus of its own, without a desktop, and a notification server on it that does as it is told. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Message, type MessageBus, sessionBus, type Variant } from "@jellybrick/dbus-next";

const name = "org.freedesktop.Notifications";
const path = "/org/freedesktop/Notifications";

/** It knows no service to start: no program of this machine comes by being asked for. */
const settings = (socket: string) => `<busconfig>
  <type>session</type>
  <listen>unix:path=${socket}</listen>
  <policy context="default">
    <allow send_destination="*"/>
    <allow receive_sender="*"/>
    <allow own="*"/>
  </policy>
</busconfig>`;

export type PrivateBus = Awaited<ReturnType<typeof startBus>>;

export async function startBus() {
  const home = mkdtempSync(join(tmpdir(), "beckon-bus-"));
  const socket = join(home, "bus");
  const env = { PATH: process.env.PATH ?? "", HOME: home, DBUS_SESSION_BUS_ADDRESS: `unix:path=${socket}` };
  const config = join(home, "bus.conf");
  writeFileSync(config, settings(socket));
  let child: Bun.Subprocess | null = null;

  async function start(): Promise<void> {
    const argv = ["dbus-daemon", `--config-file=${config}`, "--nofork", "--nopidfile", "--print-address=1"];
    const daemon = Bun.spawn(["setpriv", "--pdeathsig", "KILL", "--", ...argv], {
      env,
      stdio: ["ignore", "pipe", "ignore"],
    });
    child = daemon;
    // It names its address when it listens.
    await daemon.stdout.getReader().read();
  }
  async function kill(): Promise<void> {
    child?.kill("SIGKILL");
    await child?.exited;
    rmSync(socket, { force: true });
  }
  async function connect(): Promise<MessageBus> {
    const bus = sessionBus({ busAddress: env.DBUS_SESSION_BUS_ADDRESS });
    await new Promise<void>((resolve) => bus.once("connect", resolve));
    (bus as unknown as { on(event: "error", ignore: () => void): void }).on("error", () => {});
    return bus;
  }

  await start();
  return {
    env,
    home,
    start,
    /** Takes connections, and says nothing any more. */
    hang: () => child?.kill("SIGSTOP"),
    kill,
    connect,
    async stop() {
      await kill();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

export interface Shown {
  readonly app: string;
  readonly replaces: number;
  readonly icon: string;
  readonly title: string;
  readonly body: string;
  readonly actions: readonly string[];
  readonly hints: Readonly<Record<string, unknown>>;
  readonly expireMs: number;
}

export interface FakeServerOptions {
  readonly program?: string;
  readonly capabilities?: readonly string[];
  /** Under which it is known beside the usual one. */
  readonly names?: readonly string[];
  /** What else it answers, by path, interface and member. */
  readonly more?: Readonly<Record<string, readonly [signature: string, value: unknown]>>;
  /** GNOME Shell's way: every signal once more, from another name. */
  readonly isDouble?: boolean;
}

const everything = ["actions", "body", "body-markup", "icon-static", "sound"];

export async function startServer(privateBus: PrivateBus, options: FakeServerOptions = {}) {
  const bus = await privateBus.connect();
  const shell = options.isDouble ? await privateBus.connect() : null;
  const onScreen = new Map<number, Shown>();
  const heard: Shown[] = [];
  const closed: number[] = [];
  let last = 0;
  let waiting: (() => void)[] | null = null;
  let closesWith: number | null = null;

  const signal = (member: string, signature: string, body: unknown[]): void => {
    for (const sender of [bus, shell]) sender?.send(Message.newSignal(path, name, member, signature, body));
  };
  function close(id: number, reason: number): void {
    onScreen.delete(id);
    signal("NotificationClosed", "uu", [id, reason]);
  }
  const answers: Record<string, (body: readonly unknown[]) => [signature: string, body: unknown[]]> = {
    GetCapabilities: () => ["as", [[...(options.capabilities ?? everything)]]],
    GetServerInformation: () => ["ssss", [options.program ?? "fake", "beckon", "1", "1.2"]],
    CloseNotification([id]) {
      closed.push(Number(id));
      if (onScreen.has(Number(id))) close(Number(id), 3);
      return ["", []];
    },
    Notify(body) {
      const [app, replaces, icon, title, text, actions, hints, expireMs] = body as [
        ...[string, number, string, string, string, string[], Record<string, Variant>, number],
      ];
      const values = Object.fromEntries(Object.entries(hints).map(([key, { value }]) => [key, value]));
      const shown = { app, replaces, icon, title, body: text, actions, hints: values, expireMs };
      const id = onScreen.has(replaces) ? replaces : ++last;
      onScreen.set(id, shown);
      heard.push(shown);
      return ["u", [id]];
    },
  };
  bus.addMethodHandler((message) => {
    const other =
      options.more?.[[message.path, message.interface, message.member, ...message.body].join(" ")];
    if (other !== undefined) {
      bus.send(Message.newMethodReturn(message, other[0], [other[1]]));
      return true;
    }
    const answer = message.interface === name ? answers[message.member] : undefined;
    if (answer === undefined) return false;
    const reply = () => {
      const [signature, body] = answer(message.body);
      if (message.member === "Notify" && closesWith !== null) close(last, closesWith);
      bus.send(Message.newMethodReturn(message, signature, body));
    };
    if (waiting === null) reply();
    else waiting.push(reply);
    return true;
  });
  await bus.requestName(name);
  for (const also of options.names ?? []) await bus.requestName(also);

  return {
    onScreen,
    heard,
    closed,
    idOf: (title: string) => [...onScreen].find(([, shown]) => shown.title === title)?.[0] ?? 0,
    act: (id: number, action: string) => signal("ActionInvoked", "us", [id, action]),
    close,
    hang() {
      waiting = [];
    },
    /** Asked, and not answered yet. */
    asked: () => waiting?.length ?? 0,
    goOn() {
      const late = waiting ?? [];
      waiting = null;
      for (const reply of late) reply();
    },
    /** Before it answers: signals overtake answers, which are read a little later. */
    closeAtOnce(reason: number | null) {
      closesWith = reason;
    },
    /** All that was sent so far is with the bus. */
    async sent(): Promise<void> {
      const head = { destination: "org.freedesktop.DBus", path: "/org/freedesktop/DBus" };
      const question = () => new Message({ ...head, interface: "org.freedesktop.DBus", member: "GetId" });
      await Promise.all([bus, shell].map((sender) => sender?.call(question())));
    },
    quit() {
      bus.disconnect();
      shell?.disconnect();
    },
  };
}
