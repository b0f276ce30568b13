/** `beckon doctor` on a real desktop: everything works, or it reports what is missing and how to fix it. */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { testWith } from "../needs.ts";
import { binary } from "../repo.ts";
import {
  createSettingsText,
  type DoctorReport,
  runDoctor,
  writeClaude,
  writeSettings,
} from "../setup/doctor-fixture.ts";
import { waitUntil } from "../wait-until.ts";
import { desktopNeeds, startDesktop, type VirtualDesktop } from "./desktop-harness.ts";
import { onBus } from "./notify-fixtures.ts";
import { type PrivateBus, startBus, startServer } from "./private-bus.ts";

const onDesktop = testWith(...desktopNeeds, "dbus-monitor", "xterm");
const limitMs = 60_000;
const soonMs = 15_000;
/** doctor must end within this time, also on a busy machine. */
const doctorMs = 12_000;

describe("on a desktop", () => {
  let desktop: VirtualDesktop;
  let state: string;
  let env: Record<string, string>;
  let traffic = "";

  const examine = () => runDoctor(() => desktop.spawn([binary, "doctor", "--json"], env) as never);
  const status = async () =>
    JSON.parse(await desktop.run("env", `BECKON_HOME=${state}`, binary, "status", "--json"));
  const findNotifications = () => desktop.windows("--class", "xfce4-notifyd");
  const writeConfig = (config: object) => writeFileSync(join(state, "config.json"), JSON.stringify(config));

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
    writeClaude(bin);
    writeSettings(join(claude, "settings.json"), createSettingsText(state));
    const monitor = desktop.spawn(["dbus-monitor", "interface='org.freedesktop.Notifications'"]);
    (async () => {
      for await (const chunk of monitor.stdout) traffic += new TextDecoder().decode(chunk);
    })();
    await desktop.startBeckon([binary], env);
  }, limitMs);
  afterAll(() => desktop?.stop());

  onDesktop(
    "everything works: the alert says that it is a test, makes no sound and disappears, and no session is left",
    async () => {
      const running = examine();
      await waitUntil(async () => (await findNotifications()).length > 0, soonMs);
      await desktop.screenshot("doctor-alert");
      const result = await running;
      expect(result.problems).toEqual([]);
      expect(result.of("icon.shown").text).toMatch(/^StatusNotifierItem, shown by .+ \(pid \d+\)$/);
      expect(result.of("notifications.server").text).toContain("Xfce Notify Daemon");
      expect(result.of("live.counted").state).toBe("ok");
      expect(result.of("live.alert").text).toMatch(/accepted by the desktop \(number \d+\)/);
      expect(traffic).toContain("beckon doctor: a test");
      expect(traffic).toContain("It goes away by itself.");
      expect(traffic).not.toContain("sound-name");
      await waitUntil(async () => (await findNotifications()).length === 0, soonMs);
      expect((await status()).sessions).toEqual([]);
      expect(readFileSync(join(state, "beckon.log"), "utf8")).not.toContain("error");
    },
    limitMs,
  );

  onDesktop(
    "in a terminal it reports how exactly focus works for it",
    async () => {
      const out = join(desktop.home, "in-xterm.json");
      const inside = `'${binary}' doctor --json >'${out}.new'; mv '${out}.new' '${out}'; sleep 100`;
      desktop.spawn(["xterm", "-T", "inside", "-e", "sh", "-c", inside], env);
      await waitUntil(() => existsSync(out), soonMs);
      const { findings } = JSON.parse(readFileSync(out, "utf8"));
      expect(findings).toContainEqual(
        expect.objectContaining({
          id: "terminals.own",
          state: "ok",
          text: "this terminal: a click gets all the way here (xterm, X11)",
        }),
      );
      // The test alert was shown although the user looks at this terminal.
      expect(findings).toContainEqual(expect.objectContaining({ id: "live.alert", state: "ok" }));
    },
    limitMs,
  );

  onDesktop(
    "in quiet hours no alert is shown, and doctor reports why",
    async () => {
      writeConfig({ quietHours: { from: "00:00", to: "23:59" } });
      await waitUntil(async () => (await status()).quiet !== undefined, soonMs);
      traffic = "";
      const result = await examine();
      expect(result.problems).toEqual(["warn live.held", "warn notifications.quiet"]);
      expect(result.of("live.held").text).toContain("quiet hours until");
      expect(result.code).toBe(0);
      expect(traffic).not.toContain("a test");
      rmSync(join(state, "config.json"));
      await waitUntil(async () => (await status()).quiet === undefined, soonMs);
    },
    limitMs,
  );

  onDesktop(
    "without a panel it reports the missing icon and what to add",
    async () => {
      await desktop.killPanel();
      const result = await examine();
      expect(result.problems).toEqual(["fail icon.missing"]);
      expect(result.of("icon.missing").fix).toContain("Add a tray");
      expect(result.of("live.alert").state).toBe("ok");
      await desktop.startPanel();
    },
    limitMs,
  );

  onDesktop(
    "it reports an app that was started without the desktop",
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
      await waitUntil(() => existsSync(join(other, "endpoint.json")), soonMs);
      const result = await runDoctor(
        () => desktop.spawn([binary, "doctor", "--json"], { ...env, BECKON_HOME: other }) as never,
      );
      expect(result.of("app.elsewhere").text).toContain("without DISPLAY and DBUS_SESSION_BUS_ADDRESS");
    },
    limitMs,
  );
});

describe("on a private bus", () => {
  onBus("without a notification service and a panel it reports what to start and to add", () =>
    withBus(async ({ examine }) => {
      const result = await examine();
      expect(result.problems).toEqual(["fail icon.missing", "fail notifications.missing"]);
      expect(result.of("notifications.missing").fix).toContain("Start or install a notification service");
      expect(result.of("live.heard").state).toBe("ok");
    }),
  );

  onBus("it reports what a limited notification server means", () =>
    withBus(async ({ bus, examine }) => {
      const server = await startServer(bus, { program: "plain", capabilities: ["body"] });
      const result = await examine();
      expect(result.of("notifications.server").text).toBe("plain 1 (body)");
      expect(result.of("notifications.no-actions").text).toContain("beckon focus --next");
      expect(result.of("live.alert").state).toBe("ok");
      expect(server.received).toMatchObject([{ title: "beckon doctor: a test" }]);
      expect([...server.onScreen]).toEqual([]);
      server.quit();
    }),
  );

  onBus("it does not hang if the notification server hangs, or the whole bus", () =>
    withBus(async ({ bus, examine }) => {
      const server = await startServer(bus);
      expect((await examine()).of("live.alert").state).toBe("ok");
      server.hang();
      const hung = await examine();
      expect(hung.of("live.no-alert").state).toBe("fail");
      expect(hung.ms).toBeLessThan(doctorMs);
      bus.hang();
      const result = await examine();
      expect(result.problems).toContain("fail icon.missing");
      expect(result.ms).toBeLessThan(doctorMs);
    }),
  );
});

interface BusFixture {
  readonly bus: PrivateBus;
  readonly examine: () => Promise<DoctorReport>;
}

async function withBus(use: (fixture: BusFixture) => Promise<void>): Promise<void> {
  const bus = await startBus();
  const state = join(bus.home, "state");
  const bin = join(bus.home, "bin");
  const env = {
    ...bus.env,
    BECKON_HOME: state,
    BECKON_PORT: String(20_000 + Math.floor(Math.random() * 40_000)),
    PATH: `${bin}:/usr/bin:/bin`,
  };
  writeClaude(bin);
  writeSettings(join(bus.home, ".claude", "settings.json"), createSettingsText(state));
  const spawn = (...args: string[]) =>
    Bun.spawn(["setpriv", "--pdeathsig", "KILL", "--", binary, ...args], {
      env,
      cwd: bus.home,
      stdio: ["ignore", "pipe", "pipe"],
    });
  const app = spawn();
  try {
    const hasEnded = () => app.exitCode !== null || app.signalCode !== null;
    await waitUntil(() => hasEnded() || existsSync(join(state, "endpoint.json")), soonMs);
    if (hasEnded()) throw new Error(`${app.signalCode} ${await app.stderr.text()}`);
    await use({ bus, examine: () => runDoctor(() => spawn("doctor", "--json")) });
  } finally {
    app.kill("SIGKILL");
    await app.exited;
    await bus.stop();
  }
}
