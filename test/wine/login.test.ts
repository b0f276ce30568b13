/** The login item in Wine's registry, read by `reg` and run as it is written there. */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { removeConsole } from "../../src/system/windowless.ts";
import { testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";
import { buildBeckon, compileForWindows, createWine, hasWine, type Wine, wineNeeds } from "./wine.ts";

const test = testWith(...wineNeeds);
const waitMs = 20_000;
const key = "HKCU\\Software\\Microsoft\\Windows\\CurrentVersion\\Run";
const approved = "HKCU\\Software\\Microsoft\\Windows\\CurrentVersion\\Explorer\\StartupApproved\\Run";
let wine: Wine;
let binary = "";
let home = "";

beforeAll(async () => {
  if (!hasWine) return;
  wine = await createWine();
  const pathOf = (name: string) => join(wine.folder, name);
  await compileForWindows(join(import.meta.dir, "../fixtures/wine/login.ts"), pathOf("login.exe"));
  mkdirSync(pathOf("my programs"));
  renameSync(pathOf(buildBeckon(wine)), pathOf("my programs/beckon.exe"));
  const program = readFileSync(pathOf("my programs/beckon.exe"));
  removeConsole(program);
  writeFileSync(pathOf("my programs/beckonw.exe"), program);
  binary = wine.windowsPath(pathOf("my programs/beckon.exe"));
  home = wine.windowsPath(pathOf("my state"));
}, 120_000);
afterAll(() => wine?.destroy(), 30_000);

const login = async (...args: string[]) => {
  const { stdout, stderr } = await wine.run("login.exe", args);
  if (!stdout.startsWith("{")) throw new Error(`${stdout}${stderr}`);
  return JSON.parse(stdout);
};
const query = async (path: string) => (await wine.run("reg", ["query", path, "/v", "beckon"])).stdout;
const command = async () => (await query(key)).split("REG_SZ    ")[1]?.trim() ?? "";

describe("the Run key", () => {
  test("has the command while login is on, and nothing afterwards", async () => {
    const on = { on: true, turnedOff: false, binary, problem: null };
    expect(await login("state")).toMatchObject({ on: false, turnedOff: false, binary: null });
    expect(await login("on", binary, home)).toEqual(on);
    expect(await command()).toBe(`"${binary.replace(".exe", "w.exe")}" run --at-login "--home=${home}"`);

    const off = ["/t", "REG_BINARY", "/d", "0300000000000000", "/f"];
    await wine.run("reg", ["add", approved, "/v", "beckon", ...off]);
    expect(await login("state")).toMatchObject({ on: false, turnedOff: true });
    expect(await login("on", binary)).toEqual(on);
    expect(await query(approved)).not.toContain("REG_BINARY");

    expect(await login("off")).toMatchObject({ on: false });
    expect(await query(key)).not.toContain("beckonw.exe");
  }, 60_000);

  test("starts beckon in the folder it was installed with", async () => {
    await login("on", binary, home);
    await Bun.write(join(wine.folder, "login.bat"), `start "login" ${await command()}\r\n`);
    await wine.spawn("cmd", ["/c", "login.bat"]).exited;
    await waitUntil(() => existsSync(join(wine.folder, "my state/endpoint.json")), waitMs);
    const stopped = await wine.run(binary, ["stop"], "", { BECKON_HOME: home });
    expect(stopped.stdout).toStartWith("beckon is stopped.");
  }, 60_000);
});
