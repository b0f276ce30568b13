/** Installing and uninstalling on Windows. */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { listOwnHooks } from "../../src/user-files/hooks.ts";
import { testWith } from "../needs.ts";
import { buildBeckon, createWine, hasWine, type Wine, wineNeeds } from "./wine.ts";

const test = testWith(...wineNeeds);
const limitMs = 120_000;
let wine: Wine;
let exe = "";

beforeAll(async () => {
  if (!hasWine) return;
  wine = await createWine();
  exe = buildBeckon(wine);
}, limitMs);
afterAll(() => wine?.destroy(), 30_000);

describe("on Windows", () => {
  const profile = () => dirname(wine.appData);
  const settings = () => join(profile(), ".claude", "settings.json");
  const programs = () => join(wine.appData, "Local", "Programs", "beckon");
  const before = '{\r\n  "model": "opus"\r\n}\r\n';

  test(
    "--install copies the binary to the user's programs and registers a hook that the shells of Windows can run",
    async () => {
      mkdirSync(dirname(settings()), { recursive: true });
      writeFileSync(settings(), before);
      const { stdout, stderr, code } = await wine.run(exe, ["--install", "--no-login"]);
      expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
      expect(stdout).toContain("\\AppData\\Local\\Programs\\beckon\\beckon.exe");
      expect(readdirSync(programs())).toEqual(["beckon.exe"]);
      const [hook] = listOwnHooks(readFileSync(settings(), "utf8"));
      expect(hook?.command).toMatch(
        /^C:\/users\/.*\/AppData\/Local\/Programs\/beckon\/beckon\.exe hook claude/i,
      );
      expect(readdirSync(dirname(settings()))).toEqual(["settings.json"]);

      const again = await wine.run(exe, ["--install", "--no-login"]);
      expect(again.stdout).toStartWith("Everything is in place already.");
    },
    limitMs,
  );

  test(
    "--uninstall removes everything, also the binary that runs it",
    async () => {
      const { stderr, code } = await wine.run(join(programs(), "beckon.exe"), ["--uninstall", "--purge"]);
      expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
      expect(readFileSync(settings(), "utf8")).toBe(before);
      expect(existsSync(join(programs(), "beckon.exe"))).toBe(false);
      expect(existsSync(join(wine.appData, "Local", "beckon"))).toBe(false);
    },
    limitMs,
  );
});
