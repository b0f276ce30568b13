/** The dashboard in a real browser window: while it has the focus, it shows what an alert would say. */
import { afterAll, afterEach, beforeAll, expect } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRequest } from "../answers/fixture.ts";
import { testWith } from "../needs.ts";
import { mainSource } from "../repo.ts";
import { waitUntil } from "../wait-until.ts";
import { desktopNeeds, notifyd, startDesktop, type VirtualDesktop } from "./desktop-harness.ts";

const hookEntry = join(import.meta.dir, "../fixtures/hook-entry.ts");
const onDesktop = testWith(...desktopNeeds, notifyd, "chromium", "xterm");
const limitMs = 180_000;
const soonMs = 30_000;
/** A report of the focus holds for 12 s, and an alert waits 15 s more after the user looked away. */
const silenceMs = 45_000;

let desktop: VirtualDesktop;
let state: string;
const hooks: ReturnType<VirtualDesktop["spawn"]>[] = [];
const createEnv = (): Record<string, string> => ({
  BECKON_HOME: state,
  CLAUDE_CONFIG_DIR: join(desktop.home, "claude"),
  CLAUDE_CODE_SESSION_ATTENDED: "1",
  CLAUDE_PROJECT_DIR: "/home/dev/shop-api",
});

beforeAll(async () => {
  desktop = await startDesktop({ panel: true, notifications: true });
  state = join(desktop.home, "state");
  await desktop.startBeckon([process.execPath, mainSource], createEnv());
}, limitMs);
afterEach(async () => {
  for (const hook of hooks.splice(0)) {
    hook.kill("SIGKILL");
    await hook.exited;
  }
});
afterAll(() => desktop?.stop());

/** A window with the dashboard alone. */
async function openDashboard() {
  const { url } = JSON.parse(readFileSync(join(state, "endpoint.json"), "utf8"));
  const [name = "", value = ""] = readFileSync(join(state, "auth-header"), "utf8").trim().split(": ");
  const headers = { [name]: value, "content-type": "application/json" };
  const response = await fetch(`${url}/api/page/code`, { method: "POST", headers, body: "{}" });
  const page = ((await response.json()) as { url: string }).url;
  const profile = join(desktop.home, "profile");
  const options = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"];
  const browser = desktop.spawn(["chromium", ...options, `--user-data-dir=${profile}`, `--app=${page}`]);
  await waitUntil(async () => (await readTitle()).includes("beckon"), soonMs, "the dashboard has the focus");
  return browser;
}

const readTitle = () => desktop.run("xdotool", "getactivewindow", "getwindowname").catch(() => "");
const countAlerts = async () => (await desktop.findNotifications()).length;

function ask(session: string): void {
  const input = join(desktop.home, `${session}.json`);
  const tool = { tool_name: "Bash", tool_input: { command: "npm run lint" } };
  writeFileSync(input, JSON.stringify(createRequest(session, tool)));
  const argv = ["sh", "-c", 'exec "$1" "$2" claude <"$3"', "hook", process.execPath, hookEntry, input];
  hooks.push(desktop.spawn(argv, createEnv()));
}

/** Waits as a user who is at the desk: one without input for 30 s would get the alert anyway. */
function waitAtTheDesk(check: () => boolean | Promise<boolean>, ms: number, what: string) {
  let moves = 0;
  return waitUntil(
    async () => {
      await desktop.move(640, 400 + (moves++ % 2));
      return check();
    },
    ms,
    what,
  );
}

const isSuppressed = (session: string) =>
  existsSync(join(state, "decisions.jsonl")) &&
  readFileSync(join(state, "decisions.jsonl"), "utf8")
    .split("\n")
    .some((line) => line.includes(session) && line.includes("you are looking at it"));

onDesktop(
  "no alert for what the focused dashboard shows, and one when another window gets the focus",
  async () => {
    const browser = await openDashboard();
    ask("on-the-page");
    await waitAtTheDesk(() => isSuppressed("on-the-page"), soonMs, "the alert is held back");
    expect(await countAlerts()).toBe(0);
    const terminal = desktop.spawn(["xterm", "-T", "elsewhere"]);
    await waitAtTheDesk(async () => (await countAlerts()) > 0, silenceMs, "the alert");
    terminal.kill("SIGKILL");
    browser.kill("SIGTERM");
    await browser.exited;
  },
  limitMs,
);

onDesktop(
  "a browser that stops answering does not silence alerts",
  async () => {
    const browser = await openDashboard();
    ask("on-a-dead-page");
    await waitAtTheDesk(() => isSuppressed("on-a-dead-page"), soonMs, "the alert is held back");
    await waitAtTheDesk(async () => (await countAlerts()) === 0, soonMs, "the alert of before is closed");
    browser.kill("SIGKILL");
    await waitAtTheDesk(async () => (await countAlerts()) > 0, silenceMs, "the alert");
  },
  limitMs,
);
