/** A laptop and a desktop that follow the same machine, each with a real desktop of its own: the user is told where they are. */
import { afterAll, beforeAll, expect, setDefaultTimeout } from "bun:test";
import { createPromptEvent, proj } from "../app-fixture.ts";
import { parseJsonLines } from "../json-lines.ts";
import { createFleetLab, type FleetLab } from "../machines/fleet/fleet-lab.ts";
import { hasAll, testWith } from "../needs.ts";
import { letTimePass, waitUntil } from "../wait-until.ts";
import { desktopNeeds, startDesktop, type VirtualDesktop } from "./desktop-harness.ts";

const needs = [...desktopNeeds, "redis-server"] as const;
const places = ["laptop", "desktop"] as const;
type Place = (typeof places)[number];
const soonMs = 60_000;
/** A machine says every ten seconds when its user was there last. */
const saidMs = 12_000;

setDefaultTimeout(240_000);
let lab: FleetLab<"devbox" | Place>;
const desktops = new Map<Place, VirtualDesktop>();
const apps = new Map<Place, Bun.Subprocess>();

function desktopOf(place: Place): VirtualDesktop {
  const found = desktops.get(place);
  if (!found) throw new Error(`${place} has no desktop`);
  return found;
}

async function start(place: Place): Promise<void> {
  const { env } = desktopOf(place);
  const names = [
    "DISPLAY",
    "DBUS_SESSION_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "XDG_SESSION_TYPE",
    "XDG_CURRENT_DESKTOP",
  ];
  const ofDesktop = Object.fromEntries(names.map((name) => [name, env[name] ?? ""]));
  apps.set(place, await lab.get(place).startProcess(ofDesktop));
}

async function stop(place: Place): Promise<void> {
  apps.get(place)?.kill("SIGTERM");
  await apps.get(place)?.exited;
}

/** The user is there, and the others know it. */
async function use(place: Place): Promise<void> {
  await desktopOf(place).key("shift");
  await letTimePass(saidMs, "the machine says that its user is there");
}

const countAlerts = async (place: Place) => (await desktopOf(place).findNotifications()).length;

/** The alert is on the screen there, and on the other there is none. */
async function expectAlertAt(place: Place): Promise<void> {
  let found = {};
  await waitUntil(
    async () => {
      const counts = await Promise.all(places.map(async (each) => [each, await countAlerts(each)] as const));
      found = Object.fromEntries(counts);
      return counts.every(([each, count]) => count === (each === place ? 1 : 0));
    },
    soonMs,
    () => `an alert only on the ${place}: ${JSON.stringify(found)}`,
  );
}

const postTool = (hook_event_name: string) =>
  lab.get("devbox").postHook({
    session_id: "s",
    hook_event_name,
    ...proj,
    tool_name: "Bash",
    tool_input: { command: "make" },
  });

beforeAll(async () => {
  if (!hasAll(needs)) return;
  lab = await createFleetLab(["devbox", ...places]);
  for (const place of places) desktops.set(place, await startDesktop({ notifications: true }));
  await lab.get("devbox").startProcess();
  for (const place of places) await start(place);
  await lab.waitForLinks(places, ["devbox", ...places], soonMs);
});
afterAll(async () => {
  await Promise.all([...desktops.values()].map((desktop) => desktop.stop()));
  await lab?.destroy();
});

testWith(...needs)("an alert appears where the user is, and follows them", async () => {
  await lab.get("devbox").postHook(createPromptEvent("s"));
  await use("laptop");
  await postTool("PermissionRequest");
  await expectAlertAt("laptop");
  const log = await lab.get("desktop").spawnBeckon(["log", "--json"]).stdout.text();
  expect(parseJsonLines(log).map(({ what, outcome }) => ({ what, outcome }))).toEqual([
    { what: "not shown", outcome: "you are at laptop, which shows it" },
  ]);

  await use("desktop");
  await expectAlertAt("desktop");

  // Nothing shows it any more where the user was last, so it is shown where they may be.
  await stop("desktop");
  await expectAlertAt("laptop");
  await postTool("PostToolUse");
  await waitUntil(async () => (await countAlerts("laptop")) === 0, soonMs);
});
