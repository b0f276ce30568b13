/** The Windows build installs itself, and takes itself away again. */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { listOwnHooks } from "../../src/settings-file/hooks.ts";
import { testWith } from "../needs.ts";
import { buildBeckon, createWineWorld, hasWine, type WineWorld, wineNeeds } from "./world.ts";

const test = testWith(...wineNeeds);
const limitMs = 120_000;
let world: WineWorld;
let exe = "";

beforeAll(async () => {
  if (!hasWine) return;
  world = await createWineWorld();
  exe = buildBeckon(world);
}, limitMs);
afterAll(() => world?.destroy(), 30_000);

describe("on Windows", () => {
  const profile = () => dirname(world.appData);
  const settings = () => join(profile(), ".claude", "settings.json");
  const programs = () => join(world.appData, "Local", "Programs", "beckon");
  const before = '{\r\n  "model": "opus"\r\n}\r\n';

  test(
    "it copies itself to the person's programs, and registers a command that the shells there can run",
    async () => {
      mkdirSync(dirname(settings()), { recursive: true });
      writeFileSync(settings(), before);
      const { stdout, stderr, code } = await world.run(exe, ["--install", "--no-login"]);
      expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
      expect(stdout).toContain("\\AppData\\Local\\Programs\\beckon\\beckon.exe");
      expect(readdirSync(programs())).toEqual(["beckon.exe"]);
      const [hook] = listOwnHooks(readFileSync(settings(), "utf8"));
      expect(hook?.command).toMatch(
        /^C:\/users\/.*\/AppData\/Local\/Programs\/beckon\/beckon\.exe hook claude/i,
      );
      expect(readdirSync(dirname(settings()))).toEqual(["settings.json"]);

      const again = await world.run(exe, ["--install", "--no-login"]);
      expect(again.stdout).toStartWith("Everything is in place already.");
    },
    limitMs,
  );

  test(
    "it takes all of it away, also while it runs from there",
    async () => {
      const { stderr, code } = await world.run(join(programs(), "beckon.exe"), ["--uninstall", "--purge"]);
      expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
      expect(readFileSync(settings(), "utf8")).toBe(before);
      expect(existsSync(join(programs(), "beckon.exe"))).toBe(false);
      expect(existsSync(join(world.appData, "Local", "beckon"))).toBe(false);
    },
    limitMs,
  );
});
