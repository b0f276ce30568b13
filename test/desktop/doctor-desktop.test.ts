/** `beckon doctor --desktop` on a real desktop, with real clicks, and without one. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { version } from "../../package.json";
import { testWith } from "../needs.ts";
import { binary } from "../repo.ts";
import { removeTemporaryFolders, temporaryFolder } from "../storage/folder.ts";
import { waitUntil } from "../wait-until.ts";
import { type Area, desktopNeeds, startDesktop, type VirtualDesktop } from "./desktop-harness.ts";
import { chooseMenuEntry, connectToBus, readMenuLabels, readRegisteredItems } from "./tray-app.ts";

const onDesktop = testWith(...desktopNeeds);
const limitMs = 60_000;
const soonMs = 20_000;
let desktop: VirtualDesktop;

beforeAll(async () => {
  if (process.platform === "linux") desktop = await startDesktop({ panel: true, notifications: true });
}, limitMs);
afterAll(async () => {
  await desktop?.stop();
  removeTemporaryFolders();
});

interface Findings {
  readonly ok: boolean;
  readonly findings: readonly { readonly id: string; readonly state: string; readonly text: string }[];
}
const find = ({ findings }: Findings, id: string) => findings.find((finding) => finding.id === id);

onDesktop(
  "icon, menu, alert and buttons are shown, clicked and reported, and gone afterwards",
  async () => {
    const home = join(desktop.home, "state");
    const doctor = desktop.spawn([binary, "doctor", "--desktop", "--json", "--wait", "40"], {
      BECKON_HOME: home,
    });
    const bus = await connectToBus(desktop);
    await waitUntil(async () => (await readRegisteredItems(bus)).length === 1, soonMs);
    const labels = ["beckon tests this desktop", "Click this row, to test the menu"];
    await waitUntil(async () => Bun.deepEquals(await readMenuLabels(bus), labels), soonMs);
    let notification: Area | undefined;
    await waitUntil(async () => {
      const [found] = await desktop.findNotifications();
      const isSame = found !== undefined && JSON.stringify(found) === JSON.stringify(notification);
      notification = found;
      return isSame;
    }, soonMs);
    await desktop.screenshot("doctor-desktop");
    const { x, y } = desktop.locateButton(notification as Area, 1);
    await desktop.click(x, y);
    await chooseMenuEntry(bus, "Click this row, to test the menu");
    const result: Findings = JSON.parse(await (doctor.stdout as ReadableStream).text());
    expect(await doctor.exited).toBe(0);
    expect(find(result, "system.described")?.text).toStartWith(`beckon ${version}, linux, `);
    expect(find(result, "icon.shown")?.text).toMatch(/^StatusNotifierItem, shown by panel-\d+-systray/);
    expect(find(result, "menu.chosen")).toMatchObject({ state: "ok" });
    expect(find(result, "alert.shown")?.text).toContain("Xfce Notify Daemon");
    expect(find(result, "buttons.clicked")?.text).toBe('the button "two" was clicked');
    expect(result.findings.map(({ id }) => id).join(" ")).toMatch(/focus\.\w+ .*login\./);
    expect(await readRegisteredItems(bus)).toEqual([]);
    expect(await desktop.findNotifications()).toEqual([]);
    bus.close();
  },
  limitMs,
);

onDesktop(
  "without a panel the icon is a problem, with the reason, and the exit code is 1",
  async () => {
    await desktop.killPanel();
    const doctor = desktop.spawn([binary, "doctor", "--desktop", "--wait", "0"], {
      BECKON_HOME: join(desktop.home, "state"),
    });
    const text = await (doctor.stdout as ReadableStream).text();
    expect(await doctor.exited).toBe(1);
    expect(text).toMatch(/^icon +✗ /m);
    expect(text).toMatch(/^alert +✓ D-Bus, Xfce Notify Daemon/m);
    expect(text).toMatch(/^buttons +· 2 buttons were given to the system; none was clicked in time$/m);
  },
  limitMs,
);

test("without a desktop nothing is shown, and the report says so", async () => {
  const home = temporaryFolder();
  const child = Bun.spawn([binary, "doctor", "--desktop", "--json"], {
    env: { PATH: process.env.PATH ?? "", HOME: home, BECKON_HOME: join(home, "state") },
    stdout: "pipe",
  });
  const result: Findings = JSON.parse(await child.stdout.text());
  if (process.platform === "linux") expect(find(result, "desktop.headless")).toMatchObject({ state: "info" });
  else expect(result.findings.length).toBeGreaterThan(1);
});
