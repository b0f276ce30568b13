import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { agents } from "../src/agents/index.ts";
import {
  createTranspiler,
  cycles,
  type Files,
  fixedSleeps,
  heavyInForwarder,
  importsOf,
  impurities,
  loadedWith,
  namedAgents,
  transpile,
  unknownRooms,
  wrongImports,
} from "./house.ts";

const repo = join(import.meta.dir, "..");
const readFiles = async (pattern: string): Promise<Files> => {
  const paths = [...new Bun.Glob(pattern).scanSync(repo)].sort();
  const texts = await Promise.all(paths.map((path) => Bun.file(join(repo, path)).text()));
  return new Map(paths.map((path, n) => [path, texts[n] ?? ""]));
};
const src = await readFiles("src/**/*.{ts,tsx}");

// Transpiled, so that comments and types may say any word.
const code = [...src].map(([path, source]) => [path, transpile(path, source)] as const);
const pathsWith = (pattern: RegExp) => code.flatMap(([path, text]) => (pattern.test(text) ? [path] : []));

describe("the house", () => {
  test("imports point one way: core ← storage ← agents ← rooms ← app ← cli ← main", () => {
    expect(unknownRooms(src)).toEqual([]);
    expect(wrongImports(src)).toEqual([]);
  });

  test("core and agents know no clock, disk, network or system", () => {
    expect(impurities(src)).toEqual([]);
  });

  test("no file imports itself round a circle", () => {
    expect(cycles(src)).toEqual([]);
  });

  test("the forwarder loads nothing heavy", () => {
    expect(heavyInForwarder(src)).toEqual([]);
    expect(src.has("src/hook/index.ts")).toBe(true);
  });

  test("main loads nothing before the verb needs it", () => {
    expect(src.has("src/main.ts")).toBe(true);
    expect(
      loadedWith(src, "src/main.ts").filter(({ to }) => !to.endsWith(".json") && !to.startsWith("node:")),
    ).toEqual([]);
  });

  const sessionRef = "src/core/session/session-ref.ts";
  const places: readonly (readonly [what: string, how: RegExp, paths: readonly string[]])[] = [
    // The forwarder reads the file without node:fs.
    ["capitalizes", /\.charAt\(0\)\.toUpperCase\(\)/, ["src/core/text/words.ts"]],
    ["lists words", /\bIntl\.ListFormat\b/, ["src/core/text/words.ts"]],
    ["cuts between surrogates", /\\ud800-\\udbff(?!.*\\udc00)/i, ["src/core/text/truncate.ts"]],
    ["has a table of wide characters", /Emoji_Presentation/, ["src/core/text/width.ts"]],
    ["formats money", /toFixed\(2\)/, ["src/core/view/figures.ts"]],
    // A key is built from an agent and an id, and cut in a variable that is named after what it holds.
    ["builds a session's key", /(?:agent|provider)\w*\}:\$\{|(?:agent|provider)\w* \+ ":"/i, [sessionRef]],
    ["cuts a session's key", /(?:key|session)\w*\.(?:split|(?:lastI|i)ndexOf)\(":"/i, [sessionRef]],
    ["reads /proc/PID/stat", /\/stat["`]/, ["src/hook/meta.ts", "src/system/processes.ts"]],
    ["reads a property over D-Bus", /org\.freedesktop\.DBus\.Properties/, ["src/desktop/dbus.ts"]],
    ["finds out how beckon itself is run", /\[process\.execPath, Bun\.main\]/, ["src/system/is-compiled.ts"]],
    ["names a variable of WezTerm", /WEZTERM_PANE/, ["src/core/terminals/wezterm.ts"]],
    ["quotes for a shell", /'\\\\''/, ["src/core/text/shell-quote.ts"]],
  ];

  test.each(places)("no other place %s", (_, how, paths) => {
    expect(pathsWith(how)).toEqual([...paths]);
  });

  test("only an agent's decide.ts writes a decision, and only answers/ asks it to", () => {
    expect(pathsWith(/\bhookSpecificOutput["']?\s*:/)).toEqual([
      "src/agents/claude/answering/decide.ts",
      // The work guard's answers, which can only refuse an edit.
      "src/agents/claude/forwarding.ts",
      "src/agents/gemini/forwarding.ts",
      "src/agents/hook-forwarding.ts",
    ]);
    expect(pathsWith(/\.decide\(/)).toEqual(["src/answers/pending.ts"]);
  });

  test("every folder has an entry file that says what belongs there", () => {
    const folders = new Set(
      [...src.keys()].map((path) => dirname(path)).filter((folder) => folder !== "src"),
    );
    const isEntry = (folder: string) =>
      [...src].some(([path, text]) => dirname(path) === folder && text.startsWith("/**"));
    expect([...folders].filter((folder) => !isEntry(folder))).toEqual([]);
  });

  test("only its own folder and the table name an agent", () => {
    const ids = agents.map(({ id }) => id);
    expect(ids).toContain("claude");
    expect(namedAgents(src, ids)).toEqual([]);
  });

  test("no two exported types have the same name", () => {
    const names = [...src.values()].flatMap((source) =>
      [...source.matchAll(/^export (?:interface|type|class) (\w+)/gm)].map(([, name = ""]) => name),
    );
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  test("no import escapes these rules: bun's own parser finds no other", () => {
    for (const [path, source] of src) {
      const ours = importsOf(path, source).map(({ to }) => to);
      for (const { path: specifier } of createTranspiler(path).scanImports(source)) {
        // The transpiler adds what JSX becomes.
        if (path.endsWith(".tsx") && specifier.startsWith("react")) continue;
        expect(ours, path).toContain(specifier.startsWith(".") ? join(path, "..", specifier) : specifier);
      }
    }
  });

  test("no test sleeps for a fixed time without saying why", async () => {
    expect(fixedSleeps(await readFiles("test/**/*.ts"))).toEqual([]);
  });

  test("the lock file names no place to download from", async () => {
    const { packages } = await Bun.file(join(repo, "package-lock.json")).json();
    const named = Object.entries<{ resolved?: string }>(packages).filter(
      ([, entry]) => entry.resolved !== undefined,
    );
    expect(named).toEqual([]);
  });
});

describe("the rules notice", () => {
  const house = (files: Record<string, string>): Files => new Map(Object.entries(files));

  test.each([
    ["src/core/a.ts", 'import { x } from "../agents/x.ts";'],
    ["src/core/a.ts", 'import { x } from "./text/x.ts";'],
    ["src/core/a.ts", 'import type { X } from "../storage/x.ts";'],
    ["src/core/a.ts", 'import {\n  x,\n  y,\n} from "../ports.ts";'],
    ["src/core/a.ts", 'export * from "../app.ts";'],
    ["src/core/a.ts", 'import "node:fs";'],
    ["src/core/a.ts", 'const fs = await import("node:fs");'],
    ["src/core/a.ts", 'import { createHash, randomUUID } from "node:crypto";'],
    ["src/agents/claude/a.ts", 'import { sql } from "bun";'],
    ["src/agents/claude/a.ts", 'import { x } from "../../receiver/x.ts";'],
    ["src/receiver/a.ts", 'import { x } from "../storage/x.ts";'],
    ["src/storage/a.ts", 'const x = await import("../cli/x.ts");'],
    ["src/storage/a.ts", "const x = await import(name);"],
    ["src/app.ts", 'import { x } from "./cli/status.ts";'],
    ["src/intake.ts", 'import { x } from "./main.ts";'],
    ["src/limits.ts", 'import { x } from "./core/x.ts";'],
    ["src/dashboard/page/a.tsx", 'import { x } from "../../storage/files.ts";'],
    ["src/dashboard/page/a.tsx", 'import { readFileSync } from "node:fs";'],
    ["src/main.ts", 'import { x } from "./cli/status.ts";'],
    ["src/main.ts", 'const x = await import("./app.ts");'],
  ])("%s with %j", (path, source) => {
    expect(wrongImports(house({ [path]: source }))).toHaveLength(1);
  });

  test.each([
    "const t = Date.now();",
    "const t = new Date();",
    "const r = Math.random();",
    "const h = process.env.HOME;",
    "const f = Bun.file(path);",
    "setTimeout(go, 1);",
    ["const s = `$", "{Date.now()}`;"].join(""),
  ])("core with %j", (source) => {
    expect(impurities(house({ "src/core/a.ts": source }))).toHaveLength(1);
    expect(impurities(house({ "src/app.ts": source }))).toEqual([]);
    expect(impurities(house({ "src/core/a.ts": `/* ${source} */ // ${source}` }))).toEqual([]);
  });

  test.each([
    "await Bun.sleep(5);",
    "Bun.sleepSync(5);",
    'import { setTimeout as wait } from "node:timers/promises"; await wait(5);',
    "await new Promise((resolve) => setTimeout(resolve, 5));",
    "await new Promise<void>((resolve) => setTimeout(() => resolve(), 5));",
  ])("a test with %j", (source) => {
    expect(fixedSleeps(house({ "test/api/a.test.ts": source }))).toEqual(["test/api/a.test.ts"]);
    expect(fixedSleeps(house({ "test/bench/a.ts": source }))).toEqual([]);
    expect(fixedSleeps(house({ "test/api/a.test.ts": "setTimeout(() => server.stop(), 5);" }))).toEqual([]);
  });

  test("an agent named outside of its folder, but not in a comment", () => {
    const files = house({
      "src/app/a.ts": 'const name = "Claude Code";',
      "src/app/b.ts": "// As Claude Code does.",
      "src/hook/c.ts": "export const pid = process.env.CLAUDE_PID;",
      "src/agents/claude/d.ts": 'export const id = "claude";',
      "src/agents/index.ts": 'export const id = "claude";',
    });
    expect(namedAgents(files, ["claude"])).toEqual([
      "src/app/a.ts names claude",
      "src/hook/c.ts names claude",
    ]);
  });

  test("a folder that has no level yet", () => {
    expect(unknownRooms(house({ "src/helpers/a.ts": "", "src/core/a.ts": "" }))).toEqual([
      "src/helpers/a.ts",
    ]);
  });

  test("a hash is pure", () => {
    expect(wrongImports(house({ "src/core/a.ts": 'import { createHash } from "node:crypto";' }))).toEqual([]);
    expect(impurities(house({ "src/core/a.ts": "const h = Bun.hash(text);" }))).toEqual([]);
    const sha = 'const h = Bun.SHA256.hash(text, "base64url");';
    expect(impurities(house({ "src/core/a.ts": sha }))).toEqual([]);
  });

  test("a circle of three, and not a diamond", () => {
    const a = 'import "./b.ts";';
    expect(
      cycles(
        house({
          "src/core/a.ts": a,
          "src/core/b.ts": 'import "./c.ts";',
          "src/core/c.ts": 'import "./a.ts";',
        }),
      ),
    ).toEqual(["src/core/a.ts → src/core/b.ts → src/core/c.ts → src/core/a.ts"]);
    expect(
      cycles(
        house({
          "src/core/a.ts": `${a}\nimport "./c.ts";`,
          "src/core/b.ts": 'import "./c.ts";',
          "src/core/c.ts": "",
        }),
      ),
    ).toEqual([]);
  });

  test("a forwarder that loads the server or node:fs two files away", () => {
    const files = house({
      "src/hook/index.ts": 'import { append } from "../storage/append.ts";\nimport { x } from "./x.ts";',
      "src/hook/x.ts": 'import type { App } from "../app.ts";\nimport { Elysia } from "elysia";',
      "src/storage/append.ts": 'import { openSync } from "node:fs";',
    });
    expect(heavyInForwarder(files)).toEqual([
      "src/hook/index.ts loads node:fs",
      "src/hook/index.ts loads elysia",
      "src/hook/x.ts loads elysia",
    ]);
  });
});

test("every file and folder that ARCHITECTURE.md names exists", async () => {
  const text = await Bun.file(join(repo, "ARCHITECTURE.md")).text();
  const named = [...text.matchAll(/\*\*([a-z][\w./-]*(?:\/|\.ts))\*\*|`((?:core|src|test)\/[\w./-]+)`/g)].map(
    ([, bold, code]) => bold ?? code ?? "",
  );
  expect(named.length).toBeGreaterThan(20);
  const missing = named.filter((name) =>
    [name, `src/${name}`, `src/core/session/${name}`].every((path) => !existsSync(join(repo, path))),
  );
  expect(missing).toEqual([]);
});
