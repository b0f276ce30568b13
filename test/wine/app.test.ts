/** The whole app on Windows: from a hook to the screen, and from a click on Quit to its end. */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";
import { iconArea, iconSpot, waitForDesktop } from "./desktop-harness.ts";
import { buildBeckon, createWine, hasWine, mouseNeeds, type Wine, wineNeeds } from "./wine.ts";

const test = testWith(...wineNeeds, ...mouseNeeds);
const waitMs = 20_000;
const balloonArea = "600,440,300,140";
const port = 20_000 + Math.floor(Math.random() * 20_000);
let wine: Wine;
let exe = "";

beforeAll(async () => {
  if (!hasWine) return;
  wine = await createWine();
  exe = buildBeckon(wine);
  await waitForDesktop(wine);
}, 120_000);
afterAll(() => wine?.destroy(), 30_000);

const hook = (event: Record<string, unknown>) => {
  const payload = JSON.stringify({ session_id: "one", cwd: "C:\\code\\shop", ...event });
  return wine.run(exe, ["hook", "claude"], payload, { CLAUDE_PROJECT_DIR: "C:\\code\\shop" });
};
const endpoint = () => join(wine.appData, "Local/beckon/endpoint.json");

async function waitForChange(area: string, before: string): Promise<string> {
  let now = before;
  await waitUntil(async () => {
    now = await wine.takePicture(area);
    return now !== before;
  }, waitMs);
  return now;
}

describe("beckon on Windows", () => {
  test("shows that a session is blocked, and quits from its menu", async () => {
    const withoutIcon = await wine.takePicture(iconArea);
    const app = wine.spawn(exe, [], { BECKON_PORT: String(port) });
    const calm = await waitForChange(iconArea, withoutIcon);

    const withoutBalloon = await wine.takePicture(balloonArea);
    await hook({ hook_event_name: "UserPromptSubmit", prompt: "deploy it" });
    const working = await waitForChange(iconArea, calm);
    const tool = { tool_name: "Bash", tool_input: { command: "npm run deploy" }, tool_use_id: "t1" };
    const waiting = hook({ hook_event_name: "PermissionRequest", ...tool });
    await waitForChange(iconArea, working);
    await waitForChange(balloonArea, withoutBalloon);
    await wine.takePicture(null, "wine-app-balloon");

    await hook({ hook_event_name: "PostToolUse", ...tool });
    expect(await waiting).toMatchObject({ stdout: "", code: 0 });
    await waitUntil(async () => (await wine.takePicture(balloonArea)) === withoutBalloon, waitMs);
    await waitUntil(async () => (await wine.takePicture(iconArea)) === working, waitMs);

    await wine.click(iconSpot, 1);
    await waitForChange(balloonArea, withoutBalloon);
    await wine.takePicture(null, "wine-app-menu");
    // Quit is the last row, just above the taskbar.
    await wine.click({ x: iconSpot.x - 20, y: iconSpot.y - 21 });
    expect(await app.exited).toBe(0);
    expect(existsSync(endpoint())).toBe(false);
    expect(existsSync(join(wine.appData, "Local/beckon/off"))).toBe(true);
    await waitUntil(async () => (await wine.takePicture(iconArea)) === withoutIcon, waitMs);
    const log = readFileSync(join(wine.appData, "Local/beckon/beckon.log"), "utf8");
    expect(log).not.toContain("error");
  });
});
