/** The login item in a real registry, read by Windows' own tool, and run as it stands there. */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { existsSync, mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { testWith } from "../needs.ts";
import { until } from "../world.ts";
import {
  buildBeckon,
  compileForWindows,
  createWineWorld,
  hasWine,
  type WineWorld,
  wineNeeds,
} from "./world.ts";

const test = testWith(...wineNeeds);
const key = "HKCU\\Software\\Microsoft\\Windows\\CurrentVersion\\Run";
const approved = "HKCU\\Software\\Microsoft\\Windows\\CurrentVersion\\Explorer\\StartupApproved\\Run";
let world: WineWorld;
let binary = "";
let home = "";

beforeAll(async () => {
  if (!hasWine) return;
  world = await createWineWorld();
  const inFolder = (name: string) => join(world.folder, name);
  await compileForWindows(join(import.meta.dir, "../fixtures/wine/login.ts"), inFolder("login.exe"));
  mkdirSync(inFolder("my programs"));
  renameSync(inFolder(buildBeckon(world)), inFolder("my programs/beckon.exe"));
  binary = world.windowsPath(inFolder("my programs/beckon.exe"));
  home = world.windowsPath(inFolder("my state"));
}, 120_000);
afterAll(() => world?.destroy(), 30_000);

const login = async (...args: string[]) => {
  const { stdout, stderr } = await world.run("login.exe", args);
  if (!stdout.startsWith("{")) throw new Error(`${stdout}${stderr}`);
  return JSON.parse(stdout);
};
const query = async (path: string) => (await world.run("reg", ["query", path, "/v", "beckon"])).stdout;
const command = async () => (await query(key)).split("REG_SZ    ")[1]?.trim() ?? "";

describe("the Run key", () => {
  test("holds the command while it is on, and nothing afterwards", async () => {
    const on = { on: true, turnedOff: false, binary, problem: null };
    expect(await login("state")).toMatchObject({ on: false, turnedOff: false, binary: null });
    expect(await login("on", binary, home)).toEqual(on);
    expect(await command()).toBe(
      `C:\\windows\\System32\\conhost.exe --headless "${binary}" run --at-login "--home=${home}"`,
    );

    const off = ["/t", "REG_BINARY", "/d", "0300000000000000", "/f"];
    await world.run("reg", ["add", approved, "/v", "beckon", ...off]);
    expect(await login("state")).toMatchObject({ on: false, turnedOff: true });
    expect(await login("on", binary)).toEqual(on);
    expect(await query(approved)).not.toContain("REG_BINARY");

    expect(await login("off")).toMatchObject({ on: false });
    expect(await query(key)).not.toContain("beckon.exe");
  }, 60_000);

  test("what conhost is told starts beckon in the folder it was installed with", async () => {
    await login("on", binary, home);
    // Wine's own conhost knows no --headless without a server.
    const [, told] = (await command()).split(" --headless ");
    await Bun.write(join(world.folder, "login.bat"), `start "login" ${told}\r\n`);
    await world.spawn("cmd", ["/c", "login.bat"]).exited;
    await until(() => existsSync(join(world.folder, "my state/endpoint.json")), 15_000);
    const stopped = await world.run(binary, ["stop"], "", { BECKON_HOME: home });
    expect(stopped.stdout).toStartWith("beckon is stopped.");
  }, 60_000);
});
