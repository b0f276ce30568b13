/** The app itself on Windows, from a hook to the screen, and from a click in the tray to its end. */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { testWith } from "../needs.ts";
import { until } from "../world.ts";
import { drawn, iconArea, iconSpot } from "./desktop.ts";
import { buildBeckon, createWineWorld, hasWine, mouseNeeds, type WineWorld, wineNeeds } from "./world.ts";

const test = testWith(...wineNeeds, ...mouseNeeds);
const balloonArea = "600,440,300,140";
const port = 20_000 + Math.floor(Math.random() * 20_000);
let world: WineWorld;
let exe = "";

beforeAll(async () => {
  if (!hasWine) return;
  world = await createWineWorld();
  exe = buildBeckon(world);
  await drawn(world);
}, 120_000);
afterAll(() => world?.destroy(), 30_000);

const hook = (event: Record<string, unknown>) => {
  const payload = JSON.stringify({ session_id: "one", cwd: "C:\\code\\shop", ...event });
  return world.run(exe, ["hook", "claude"], payload, { CLAUDE_PROJECT_DIR: "C:\\code\\shop" });
};
const endpoint = () => join(world.appData, "Local/beckon/endpoint.json");

async function changed(area: string, before: string): Promise<string> {
  let now = before;
  await until(async () => {
    now = await world.picture(area);
    return now !== before;
  }, 10_000);
  return now;
}

describe("beckon on Windows", () => {
  test("shows at once that somebody is blocked, and is quit from its menu", async () => {
    const withoutIcon = await world.picture(iconArea);
    const app = world.spawn(exe, [], { BECKON_PORT: String(port) });
    const calm = await changed(iconArea, withoutIcon);

    const withoutBalloon = await world.picture(balloonArea);
    await hook({ hook_event_name: "UserPromptSubmit", prompt: "deploy it" });
    const working = await changed(iconArea, calm);
    const tool = { tool_name: "Bash", tool_input: { command: "npm run deploy" }, tool_use_id: "t1" };
    const waiting = hook({ hook_event_name: "PermissionRequest", ...tool });
    await changed(iconArea, working);
    await changed(balloonArea, withoutBalloon);
    await world.picture(null, "wine-app-balloon");

    await hook({ hook_event_name: "PostToolUse", ...tool });
    expect(await waiting).toMatchObject({ stdout: "", code: 0 });
    await until(async () => (await world.picture(balloonArea)) === withoutBalloon, 10_000);
    await until(async () => (await world.picture(iconArea)) === working, 10_000);

    await world.click(iconSpot, 1);
    await changed(balloonArea, withoutBalloon);
    await world.picture(null, "wine-app-menu");
    // It ends with Quit, just above the taskbar.
    await world.click({ x: iconSpot.x - 20, y: iconSpot.y - 21 });
    expect(await app.exited).toBe(0);
    expect(existsSync(endpoint())).toBe(false);
    expect(existsSync(join(world.appData, "Local/beckon/off"))).toBe(true);
    await until(async () => (await world.picture(iconArea)) === withoutIcon, 5_000);
    const log = readFileSync(join(world.appData, "Local/beckon/beckon.log"), "utf8");
    expect(log).not.toContain("error");
  });
});
