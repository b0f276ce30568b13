/** Installing and uninstalling on Windows. */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { author, description, version } from "../../package.json";
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

/** What Windows does at the start of a program: it opens a console for it, or not. */
function readSubsystem(path: string): "console" | "window" | number {
  const bytes = readFileSync(path);
  const found = bytes.readUInt16LE(bytes.readUInt32LE(0x3c) + 92);
  return found === 3 ? "console" : found === 2 ? "window" : found;
}

/** The names and values of the version resource, which Explorer shows as "Details". */
function readDetails(path: string): Record<string, string> {
  const bytes = readFileSync(path);
  const start = bytes.lastIndexOf(Buffer.from("StringFileInfo", "utf16le"));
  // Before each name stand its length, the length of its value, and its type, 1.
  const words = bytes.toString("utf16le", start, start + 1500).split("\0");
  const texts = words.map((word) => word.split("\u0001").at(-1) ?? "").filter((text) => text !== "");
  const names = /^(?:\w+Name|\w+Version|FileDescription|LegalCopyright|OriginalFilename)$/;
  return Object.fromEntries(
    texts.flatMap((text, n) => (names.test(text) ? [[text, texts[n + 1] ?? ""] as const] : [])),
  );
}

describe("the program", () => {
  test("is named beckon in its properties, with beckon's version, and not Bun", async () => {
    expect(readDetails(join(wine.folder, exe))).toMatchObject({
      CompanyName: author,
      FileDescription: description,
      FileVersion: version,
      InternalName: "beckon",
      OriginalFilename: "beckon.exe",
      ProductName: "beckon",
      ProductVersion: version,
    });
    const { stdout } = await wine.run(exe, ["--version"]);
    expect(stdout).toBe(`beckon ${version}\n`);
  });
});

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
      expect(readdirSync(programs()).sort()).toEqual(["beckon.exe", "beckonw.exe"]);
      const [program, windowless] = ["beckon.exe", "beckonw.exe"].map((name) =>
        readSubsystem(join(programs(), name)),
      );
      expect({ program, windowless }).toEqual({ program: "console", windowless: "window" });
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
      expect(existsSync(join(programs(), "beckonw.exe"))).toBe(false);
      expect(existsSync(join(wine.appData, "Local", "beckon"))).toBe(false);
    },
    limitMs,
  );
});
