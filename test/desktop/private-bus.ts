/** A private session bus without a desktop, and a fake notification server that tests control. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Message, type MessageBus, sessionBus, type Variant } from "@jellybrick/dbus-next";

const name = "org.freedesktop.Notifications";
const path = "/org/freedesktop/Notifications";

/** Without services, so that the bus starts no program of this machine. */
const busConfig = (socket: string) => `<busconfig>
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
  writeFileSync(config, busConfig(socket));
  let child: Bun.Subprocess | null = null;

  async function start(): Promise<void> {
    const argv = ["dbus-daemon", `--config-file=${config}`, "--nofork", "--nopidfile", "--print-address=1"];
    const daemon = Bun.spawn(["setpriv", "--pdeathsig", "KILL", "--", ...argv], {
      env,
      stdio: ["ignore", "pipe", "ignore"],
    });
    child = daemon;
    // It prints its address when it listens.
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
    /** It still accepts connections, but does not answer. */
    hang: () => child?.kill("SIGSTOP"),
    kill,
    connect,
    async stop() {
      await kill();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

export interface FakeNotification {
  readonly app: string;
  readonly replaces: number;
  readonly icon: string;
  readonly title: string;
  readonly body: string;
  readonly actions: readonly string[];
  readonly hints: Readonly<Record<string, unknown>>;
  readonly expireMs: number;
  /** Wall time at which it came. */
  readonly at: number;
}

export interface FakeServerOptions {
  readonly program?: string;
  readonly capabilities?: readonly string[];
  /** Names that it owns besides the usual one. */
  readonly names?: readonly string[];
  /** Other calls that it answers, by path, interface, member and arguments. */
  readonly otherCalls?: Readonly<Record<string, readonly [signature: string, value: unknown]>>;
  /** Like GNOME Shell, it sends every signal a second time from another name. */
  readonly sendsTwice?: boolean;
}

const allCapabilities = ["actions", "body", "body-markup", "icon-static", "sound"];

export async function startServer(privateBus: PrivateBus, options: FakeServerOptions = {}) {
  const bus = await privateBus.connect();
  const shell = options.sendsTwice ? await privateBus.connect() : null;
  const onScreen = new Map<number, FakeNotification>();
  const received: FakeNotification[] = [];
  const closed: number[] = [];
  let lastId = 0;
  let waiting: (() => void)[] | null = null;
  let closeReason: number | null = null;

  const sendSignal = (member: string, signature: string, body: unknown[]): void => {
    for (const sender of [bus, shell]) sender?.send(Message.newSignal(path, name, member, signature, body));
  };
  function close(id: number, reason: number): void {
    onScreen.delete(id);
    sendSignal("NotificationClosed", "uu", [id, reason]);
  }
  const answers: Record<string, (body: readonly unknown[]) => [signature: string, body: unknown[]]> = {
    GetCapabilities: () => ["as", [[...(options.capabilities ?? allCapabilities)]]],
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
      const at = Date.now();
      const notification = { app, replaces, icon, title, body: text, actions, hints: values, expireMs, at };
      const id = onScreen.has(replaces) ? replaces : ++lastId;
      onScreen.set(id, notification);
      received.push(notification);
      return ["u", [id]];
    },
  };
  bus.addMethodHandler((message) => {
    const otherCall =
      options.otherCalls?.[[message.path, message.interface, message.member, ...message.body].join(" ")];
    if (otherCall !== undefined) {
      bus.send(Message.newMethodReturn(message, otherCall[0], [otherCall[1]]));
      return true;
    }
    const answer = message.interface === name ? answers[message.member] : undefined;
    if (answer === undefined) return false;
    const reply = () => {
      const [signature, body] = answer(message.body);
      if (message.member === "Notify" && closeReason !== null) close(lastId, closeReason);
      bus.send(Message.newMethodReturn(message, signature, body));
    };
    if (waiting === null) reply();
    else waiting.push(reply);
    return true;
  });
  await bus.requestName(name);
  for (const other of options.names ?? []) await bus.requestName(other);

  return {
    onScreen,
    received,
    closed,
    idOf: (title: string) => [...onScreen].find(([, notification]) => notification.title === title)?.[0] ?? 0,
    invokeAction: (id: number, action: string) => sendSignal("ActionInvoked", "us", [id, action]),
    close,
    hang() {
      waiting = [];
    },
    /** How many calls wait for an answer. */
    waitingCalls: () => waiting?.length ?? 0,
    resume() {
      const replies = waiting ?? [];
      waiting = null;
      for (const reply of replies) reply();
    },
    /** Closes each notification before it answers the call: signals overtake answers, which are read a little later. */
    closeBeforeAnswer(reason: number | null) {
      closeReason = reason;
    },
    /** Resolves when the bus has everything that was sent so far. */
    async flush(): Promise<void> {
      const head = { destination: "org.freedesktop.DBus", path: "/org/freedesktop/DBus" };
      const createCall = () => new Message({ ...head, interface: "org.freedesktop.DBus", member: "GetId" });
      await Promise.all([bus, shell].map((sender) => sender?.call(createCall())));
    },
    quit() {
      bus.disconnect();
      shell?.disconnect();
    },
  };
}
