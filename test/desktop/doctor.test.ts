/** `beckon doctor` on a real desktop: from the hook to the panel's icon and the notification, and what it says when one is missing. */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { testWith } from "../needs.ts";
import { binary, examined, putClaude, putSettings, settingsText } from "../setup/doctor-world.ts";
import { until } from "../world.ts";
import { onBus } from "./notify-fixtures.ts";
import { type PrivateBus, startBus, startServer } from "./private-bus.ts";
import { type Desktop, desktopNeeds, startDesktop } from "./world.ts";

const onDesktop = testWith(...desktopNeeds, "dbus-monitor", "xterm");
const limitMs = 60_000;
const soonMs = 15_000;
/** Also on a machine that is busy with other tests. */
const endsMs = 12_000;

describe("on a desktop", () => {
  let desktop: Desktop;
  let state: string;
  let env: Record<string, string>;
  let heard = "";

  const doctor = async () => examined(desktop.spawn([binary, "doctor", "--json"], env) as never);
  const status = async () =>
    JSON.parse(await desktop.run("env", `BECKON_HOME=${state}`, binary, "status", "--json"));
  const notes = () => desktop.windows("--class", "xfce4-notifyd");
  const write = (config: object) => writeFileSync(join(state, "config.json"), JSON.stringify(config));

  beforeAll(async () => {
    desktop = await startDesktop({ panel: true, notifications: true });
    state = join(desktop.home, "state");
    const claude = join(desktop.home, "claude");
    const bin = join(desktop.home, "bin");
    env = {
      BECKON_HOME: state,
      BECKON_PORT: String(20_000 + Math.floor(Math.random() * 40_000)),
      CLAUDE_CONFIG_DIR: claude,
      PATH: `${bin}:${desktop.env.PATH}`,
    };
    putClaude(bin);
    putSettings(join(claude, "settings.json"), settingsText(state));
    const monitor = desktop.spawn(["dbus-monitor", "interface='org.freedesktop.Notifications'"]);
    (async () => {
      for await (const chunk of monitor.stdout) heard += new TextDecoder().decode(chunk);
    })();
    const app = desktop.spawn([binary], env);
    await until(() => app.exitCode !== null || existsSync(join(state, "endpoint.json")), soonMs);
    if (app.exitCode !== null) throw new Error(await app.stderr.text());
  }, limitMs);
  afterAll(() => desktop?.stop());

  onDesktop(
    "everything works: the alert says that it is a test, makes no sound, and goes away; nothing is left",
    async () => {
      const running = doctor();
      await until(async () => (await notes()).length > 0, soonMs);
      await desktop.screenshot("doctor-alert");
      const found = await running;
      expect(found.problems).toEqual([]);
      expect(found.of("icon.shown").text).toMatch(/^StatusNotifierItem, shown by .+ \(pid \d+\)$/);
      expect(found.of("notifications.server").text).toContain("Xfce Notify Daemon");
      expect(found.of("live.counted").state).toBe("ok");
      expect(found.of("live.alert").text).toMatch(/accepted by the desktop \(number \d+\)/);
      expect(heard).toContain("beckon doctor: a test");
      expect(heard).toContain("It goes away by itself.");
      expect(heard).not.toContain("sound-name");
      await until(async () => (await notes()).length === 0, soonMs);
      expect((await status()).sessions).toEqual([]);
      expect(readFileSync(join(state, "beckon.log"), "utf8")).not.toContain("error");
    },
    limitMs,
  );

  onDesktop(
    "in a terminal it says how far a click gets to it, and changes nothing on the way",
    async () => {
      const out = join(desktop.home, "in-xterm.json");
      const inside = `'${binary}' doctor --json >'${out}.new'; mv '${out}.new' '${out}'; sleep 100`;
      desktop.spawn(["xterm", "-T", "inside", "-e", "sh", "-c", inside], env);
      await until(() => existsSync(out), soonMs);
      const { findings } = JSON.parse(readFileSync(out, "utf8"));
      expect(findings).toContainEqual(
        expect.objectContaining({
          id: "terminals.own",
          state: "ok",
          text: "this terminal: a click gets all the way here (xterm, X11)",
        }),
      );
      // The person looks at that very terminal, and the test's alert came all the same.
      expect(findings).toContainEqual(expect.objectContaining({ id: "live.alert", state: "ok" }));
    },
    limitMs,
  );

  onDesktop(
    "in quiet hours nothing pops up, and doctor says why",
    async () => {
      write({ quietHours: { from: "00:00", to: "23:59" } });
      await until(async () => (await status()).quiet !== undefined, soonMs);
      heard = "";
      const found = await doctor();
      expect(found.problems).toEqual(["warn live.held", "warn notifications.quiet"]);
      expect(found.of("live.held").text).toContain("quiet hours until");
      expect(found.code).toBe(0);
      expect(heard).not.toContain("a test");
      rmSync(join(state, "config.json"));
      await until(async () => (await status()).quiet === undefined, soonMs);
    },
    limitMs,
  );

  onDesktop(
    "without a panel: no icon, and what to add",
    async () => {
      await desktop.killPanel();
      const found = await doctor();
      expect(found.problems).toEqual(["fail icon.missing"]);
      expect(found.of("icon.missing").fix).toContain("Add a tray");
      expect(found.of("live.alert").state).toBe("ok");
      await desktop.startPanel();
    },
    limitMs,
  );

  onDesktop(
    "an app that was started without the desktop is found out",
    async () => {
      const other = join(desktop.home, "other");
      const bare = {
        ...env,
        BECKON_HOME: other,
        DISPLAY: "",
        DBUS_SESSION_BUS_ADDRESS: "",
        XDG_RUNTIME_DIR: "",
      };
      desktop.spawn([binary], bare);
      await until(() => existsSync(join(other, "endpoint.json")), soonMs);
      const found = await examined(
        desktop.spawn([binary, "doctor", "--json"], { ...env, BECKON_HOME: other }) as never,
      );
      expect(found.of("app.elsewhere").text).toContain("without DISPLAY and DBUS_SESSION_BUS_ADDRESS");
    },
    limitMs,
  );
});

describe("on a bus of its own", () => {
  onBus("nobody shows notifications or icons: what to start and to add", () =>
    withBus(async ({ doctor }) => {
      const found = await doctor();
      expect(found.problems).toEqual(["fail icon.missing", "fail notifications.missing"]);
      expect(found.of("notifications.missing").fix).toContain("Start or install a notification service");
      expect(found.of("live.heard").state).toBe("ok");
    }),
  );

  onBus("a server that can do little: what that means", () =>
    withBus(async ({ bus, doctor }) => {
      const server = await startServer(bus, { program: "plain", capabilities: ["body"] });
      const found = await doctor();
      expect(found.of("notifications.server").text).toBe("plain 1 (body)");
      expect(found.of("notifications.no-actions").text).toContain("beckon focus --next");
      expect(found.of("live.alert").state).toBe("ok");
      expect(server.received).toMatchObject([{ title: "beckon doctor: a test" }]);
      expect([...server.onScreen]).toEqual([]);
      server.quit();
    }),
  );

  onBus("a server that hangs, and then the whole bus: doctor does not", () =>
    withBus(async ({ bus, doctor }) => {
      const server = await startServer(bus);
      expect((await doctor()).of("live.alert").state).toBe("ok");
      server.hang();
      const hung = await doctor();
      expect(hung.of("live.no-alert").state).toBe("fail");
      expect(hung.ms).toBeLessThan(endsMs);
      bus.hang();
      const found = await doctor();
      expect(found.problems).toContain("fail icon.missing");
      expect(found.ms).toBeLessThan(endsMs);
    }),
  );
});

interface OnBus {
  readonly bus: PrivateBus;
  readonly doctor: () => ReturnType<typeof examined>;
}

async function withBus(use: (world: OnBus) => Promise<void>): Promise<void> {
  const bus = await startBus();
  const state = join(bus.home, "state");
  const bin = join(bus.home, "bin");
  const env = {
    ...bus.env,
    BECKON_HOME: state,
    BECKON_PORT: String(20_000 + Math.floor(Math.random() * 40_000)),
    PATH: `${bin}:/usr/bin:/bin`,
  };
  putClaude(bin);
  putSettings(join(bus.home, ".claude", "settings.json"), settingsText(state));
  const spawn = (...args: string[]) =>
    Bun.spawn(["setpriv", "--pdeathsig", "KILL", "--", binary, ...args], {
      env,
      cwd: bus.home,
      stdio: ["ignore", "pipe", "pipe"],
    });
  const app = spawn();
  try {
    const isOver = () => app.exitCode !== null || app.signalCode !== null;
    await until(() => isOver() || existsSync(join(state, "endpoint.json")), soonMs);
    if (isOver()) throw new Error(`${app.signalCode} ${await app.stderr.text()}`);
    await use({ bus, doctor: () => examined(spawn("doctor", "--json")) });
  } finally {
    app.kill("SIGKILL");
    await app.exited;
    await bus.stop();
  }
}
