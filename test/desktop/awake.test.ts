/** The machine stays awake while an agent works: with a real logind, in a mount namespace and on a bus of its own. */
import { afterEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createLinuxAwake } from "../../src/desktop/awake/linux.ts";
import { type AppFixture, createAppFixture, createPromptEvent, proj } from "../app-fixture.ts";
import { forEachTest } from "../for-each-test.ts";
import { testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";

const fixture = forEachTest(createAppFixture);
const children: Bun.Subprocess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

const logind = "/usr/lib/systemd/systemd-logind";
const testOnLogind = testWith("root", "linux", "unshare", "dbus-daemon", "busctl", "systemd-inhibit", logind);

/** Returns the address of the bus that it is on. */
async function startLogind(home: string): Promise<string> {
  const address = `unix:path=${join(home, "system-bus")}`;
  const spawn = (argv: string[]) =>
    children.push(
      Bun.spawn(argv, {
        env: { PATH: process.env.PATH ?? "", DBUS_SYSTEM_BUS_ADDRESS: address },
        stdin: "ignore",
        stdout: "ignore",
        stderr: "ignore",
      }),
    );
  spawn(["dbus-daemon", "--system", "--nofork", "--nopidfile", `--address=${address}`]);
  const folders = ["inhibit", "seats", "sessions", "users"].map((name) => `/run/systemd/${name}`).join(" ");
  const script = `mount -t tmpfs tmpfs /run && mkdir -p ${folders} && exec ${logind}`;
  spawn(["unshare", "--mount", "--kill-child", "sh", "-c", script]);
  await waitUntil(async () => (await listInhibitors(address)) !== null, 10_000);
  return address;
}

/** As busctl prints them; null if there is no answer. */
async function listInhibitors(address: string): Promise<string | null> {
  const manager = ["org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager"];
  const call = Bun.spawn(["busctl", "call", ...manager, "ListInhibitors"], {
    env: { PATH: process.env.PATH ?? "", DBUS_SYSTEM_BUS_ADDRESS: address },
    stderr: "ignore",
  });
  const text = await call.stdout.text();
  return (await call.exited) === 0 ? text : null;
}

const isHeld = async (address: string) => (await listInhibitors(address))?.includes('"beckon"') === true;

function writeSetting(awake: string): void {
  const { config } = (fixture as AppFixture).paths;
  mkdirSync(dirname(config), { recursive: true });
  writeFileSync(config, JSON.stringify({ awake }));
}

const stopTurn = (session_id: string) =>
  fixture.postHook({ session_id, hook_event_name: "Stop", last_assistant_message: "done", ...proj });

testOnLogind(
  "an agent that works keeps the machine awake until its turn ends, or beckon is killed",
  async () => {
    const address = await startLogind(fixture.home);
    writeSetting("always");
    const beckon = await fixture.startProcess({ DBUS_SYSTEM_BUS_ADDRESS: address });
    expect(await isHeld(address)).toBe(false);
    await fixture.postHook(createPromptEvent("s1"));
    await waitUntil(() => isHeld(address), 10_000);
    expect(await listInhibitors(address)).toContain('"sleep:idle" "beckon" "An agent is working" "block"');
    // Another turn goes on.
    await fixture.postHook(createPromptEvent("s2"));
    await stopTurn("s1");
    expect(await isHeld(address)).toBe(true);
    await stopTurn("s2");
    await waitUntil(async () => !(await isHeld(address)), 10_000);

    await fixture.postHook(createPromptEvent("s1", { prompt: "again" }));
    await waitUntil(() => isHeld(address), 10_000);
    beckon.kill("SIGKILL");
    await waitUntil(async () => !(await isHeld(address)), 10_000);
  },
);

testOnLogind("it is off unless the user turns it on, also while beckon runs", async () => {
  const address = await startLogind(fixture.home);
  await fixture.startProcess({ DBUS_SYSTEM_BUS_ADDRESS: address });
  await fixture.postHook(createPromptEvent("s1"));
  expect(await isHeld(address)).toBe(false);
  writeSetting("always");
  await waitUntil(() => isHeld(address), 10_000);
  writeSetting("off");
  await waitUntil(async () => !(await isHeld(address)), 10_000);
});

test("a machine is on battery if one discharges and no cable is in", async () => {
  const folder = mkdtempSync(join(tmpdir(), "beckon-power-"));
  const write = (name: string, fields: Readonly<Record<string, string>>) => {
    mkdirSync(join(folder, name), { recursive: true });
    for (const [field, value] of Object.entries(fields))
      writeFileSync(join(folder, name, field), `${value}\n`);
  };
  const { isOnBattery } = createLinuxAwake(folder);
  try {
    // A desktop has none.
    expect(await isOnBattery()).toBe(false);
    write("BAT0", { type: "Battery", status: "Discharging" });
    write("AC", { type: "Mains", online: "0" });
    expect(await isOnBattery()).toBe(true);
    write("AC", { type: "Mains", online: "1" });
    expect(await isOnBattery()).toBe(false);
    write("AC", { type: "Mains", online: "0" });
    write("BAT0", { type: "Battery", status: "Full" });
    expect(await isOnBattery()).toBe(false);
    expect(await createLinuxAwake(join(folder, "none")).isOnBattery()).toBe(null);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
