/** Channels on a real desktop: away means at once, at the desk means later. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Message, sessionBus } from "@jellybrick/dbus-next";
import { type NtfyServer, startNtfyServer } from "../channels/servers/ntfy.ts";
import { hasAll, testWith } from "../needs.ts";
import { mainSource } from "../repo.ts";
import { letTimePass, waitUntil } from "../wait-until.ts";
import { desktopNeeds, startDesktop, type VirtualDesktop } from "./desktop-harness.ts";
import { connectToBus, readMenuLabels, readRegisteredItems } from "./tray-app.ts";

const awaySeconds = 5;
const limitMs = 60_000;

describe("on an X11 desktop", () => {
  let desktop: VirtualDesktop;
  let phone: NtfyServer;
  let app: Bun.Subprocess | null = null;
  let state = "";
  let count = 0;
  beforeAll(async () => {
    if (hasAll(desktopNeeds)) desktop = await startDesktop({ panel: true });
  });
  afterAll(() => desktop?.stop());
  beforeEach(async () => {
    phone = await startNtfyServer();
    state = join(desktop?.home ?? "", `state-${++count}`);
  });
  afterEach(async () => {
    app?.kill("SIGKILL");
    await app?.exited;
    await phone.stop();
  });

  async function startApp(fields: object): Promise<void> {
    mkdirSync(state, { recursive: true });
    const channel = { type: "ntfy", ...phone.settings, awaySeconds, ...fields };
    writeFileSync(join(state, "config.json"), JSON.stringify({ channels: { phone: channel } }));
    writeFileSync(join(state, "channel-secrets.json"), JSON.stringify({ phone: phone.secrets }), {
      mode: 0o600,
    });
    app = desktop.spawn([process.execPath, mainSource], {
      BECKON_HOME: state,
      BECKON_PORT: String(20_000 + Math.floor(Math.random() * 40_000)),
    });
    await waitUntil(() => Bun.file(join(state, "endpoint.json")).exists(), 20_000);
  }

  async function openAsk(): Promise<void> {
    const { url } = JSON.parse(readFileSync(join(state, "endpoint.json"), "utf8"));
    const authorization = readFileSync(join(state, "auth-header"), "utf8").trim().split(": ")[1] ?? "";
    const payload = {
      session_id: "s1",
      hook_event_name: "PermissionRequest",
      cwd: "/home/ann/shop",
      tool_name: "Bash",
      tool_input: { command: "npm test" },
    };
    const body = JSON.stringify({ provider: "claude", _meta: { id: crypto.randomUUID() }, payload });
    const headers = { authorization, "content-type": "application/json" };
    expect((await fetch(`${url}/api/hook`, { method: "POST", headers, body })).status).toBe(200);
  }

  const waitForMessage = () => waitUntil(() => phone.messages().length === 1, 30_000, "a message");

  testWith(...desktopNeeds)(
    "a user who leaves the keyboard gets the request on the phone, and not before",
    async () => {
      await desktop.key("shift");
      // Without leaving, it would come after an hour.
      await startApp({ afterSeconds: 3_600 });
      await openAsk();
      let lastKeyAt = 0;
      // At work for longer than it takes to count as away.
      for (const started = performance.now(); performance.now() - started < (awaySeconds + 2) * 1_000; ) {
        await desktop.key("shift");
        lastKeyAt = performance.now();
        await letTimePass(500, "a user at work presses a key now and then");
      }
      expect(phone.messages()).toEqual([]);
      await waitForMessage();
      expect(performance.now() - lastKeyAt).toBeGreaterThan(awaySeconds * 1_000 - 500);
      expect(phone.messages()[0]?.text).toContain("shop wants to use Bash");
    },
    limitMs,
  );

  testWith(...desktopNeeds)(
    "a locked screen means away, although the mouse was moved a moment ago",
    async () => {
      const bus = sessionBus({ busAddress: desktop.env.DBUS_SESSION_BUS_ADDRESS ?? "" });
      let isLocked = false;
      bus.addMethodHandler((message) => {
        if (message.interface !== "org.freedesktop.ScreenSaver" || message.member !== "GetActive")
          return false;
        bus.send(Message.newMethodReturn(message, "b", [isLocked]));
        return true;
      });
      await bus.requestName("org.freedesktop.ScreenSaver", 0);
      try {
        await startApp({ afterSeconds: 3_600, awaySeconds: 3_600 });
        await desktop.key("shift");
        await openAsk();
        isLocked = true;
        const lockedAt = performance.now();
        await waitForMessage();
        // Presence is checked every five seconds.
        expect(performance.now() - lockedAt).toBeLessThan(15_000);
      } finally {
        bus.disconnect();
      }
    },
    limitMs,
  );

  testWith(...desktopNeeds)(
    "a channel that fails is named in the menu, until it works again",
    async () => {
      phone.misbehave("error", 1);
      await startApp({ when: "always", afterSeconds: 0 });
      const bus = await connectToBus(desktop);
      const isNamed = async () =>
        (await readMenuLabels(bus)).some((label) => label.startsWith("! channel phone: ntfy answered 502"));
      try {
        await waitUntil(async () => (await readRegisteredItems(bus)).length > 0, 20_000);
        expect(await isNamed()).toBe(false);
        await openAsk();
        await waitUntil(isNamed, 20_000);
        // It is sent again after a second.
        await waitForMessage();
        await waitUntil(async () => !(await isNamed()), 20_000);
      } finally {
        bus.close();
      }
    },
    limitMs,
  );

  testWith(...desktopNeeds)(
    "at the desk, the request goes to the phone once it has waited long enough",
    async () => {
      await startApp({ afterSeconds: 3, awaySeconds: 3_600 });
      await desktop.key("shift");
      const openedAt = performance.now();
      await openAsk();
      await waitForMessage();
      expect(performance.now() - openedAt).toBeGreaterThan(2_900);
    },
    limitMs,
  );
});
