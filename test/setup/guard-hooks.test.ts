/** The work guard's hooks come and go with its settings, and change nothing else in a settings file. */
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { agents } from "../../src/agents/index.ts";
import { type Config, defaultConfig } from "../../src/core/config/config.ts";
import { updateGuardHooks } from "../../src/setup/guard-hooks.ts";
import { mayNeedGuardHooks } from "../../src/setup/guard-hooks-needed.ts";
import { install } from "../../src/setup/install.ts";
import { listOwnHooks } from "../../src/user-files/hooks.ts";
import { agentsOn, type Home, removeHomes, temporaryHome } from "./home.ts";

afterAll(removeHomes);

type Settings = Partial<Config["workGuard"]>;

const update = ({ places, env }: Home, settings: Settings) =>
  updateGuardHooks({
    agents: agentsOn(),
    paths: places,
    env,
    config: { ...defaultConfig.workGuard, ...settings },
  });
const may = ({ places }: Home, settings: Settings) =>
  mayNeedGuardHooks(places, { ...defaultConfig.workGuard, ...settings });

/** `event matcher`, of the hooks that the agent waits for. */
const listGuardHooks = (path: string): string[] =>
  existsSync(path)
    ? listOwnHooks(readFileSync(path, "utf8"))
        .filter(({ command }) => command.includes("--guard"))
        .map(({ event, matcher, async }) => [event, matcher, async ? "async" : ""].filter(Boolean).join(" "))
        .sort()
    : [];
const edits = "PreToolUse Edit|Write|MultiEdit|NotebookEdit";

async function prepare(): Promise<{ home: Home; project: string; local: string }> {
  const home = temporaryHome();
  home.claude("2.1.325");
  await home.install();
  const project = home.at("shop");
  mkdirSync(project);
  return { home, project, local: join(project, ".claude/settings.local.json") };
}

test("off: nothing changes, and nothing of the installer is needed", async () => {
  const { home } = await prepare();
  const before = home.tree();
  expect(may(home, {})).toBe(false);
  expect(await update(home, {})).toEqual({ changes: [], problems: [] });
  expect(home.tree()).toEqual(before);
});

test("a project's hooks are in its own settings, and the other projects keep only async ones", async () => {
  const { home, project, local } = await prepare();
  const user = home.read();
  const { changes, problems } = await update(home, { projects: { [project]: { mode: "strict" } } });
  expect(problems).toEqual([]);
  expect(changes).toEqual([`The work guard registered its hooks in ${local}.`]);
  expect(listGuardHooks(local)).toEqual([edits]);
  expect(listOwnHooks(readFileSync(local, "utf8")).map(({ event }) => event)).toContain("InstructionsLoaded");
  expect(home.read()).toBe(user);
  const waiting = listOwnHooks(user).filter(({ async }) => !async);
  expect(waiting.map(({ event }) => event).sort()).toEqual(["PermissionRequest", "SessionEnd"]);
});

test("turning it off removes the hooks, and the file that it had made", async () => {
  const { home, project, local } = await prepare();
  const before = home.tree();
  await update(home, { projects: { [project]: { mode: "strict" } } });
  expect(may(home, {})).toBe(true);
  expect((await update(home, {})).changes).toEqual([`The work guard removed its hooks from ${local}.`]);
  const listFiles = (tree: Record<string, string>) =>
    Object.entries(tree).filter(([name]) => !name.endsWith("installed.json"));
  expect(listFiles(home.tree())).toEqual(listFiles(before));
  expect(home.installed()?.files.map(({ path }) => path)).toEqual([home.settings]);
});

test("a file that was there is backed up, named, and restored byte for byte", async () => {
  const { home, project, local } = await prepare();
  const own = '{\n\t"permissions": { "allow": ["Bash(ls)"] }\n}';
  home.put(local, own);
  const { changes } = await update(home, { projects: { [project]: { mode: "strict" } } });
  const backup = /^The work guard registered its hooks in (.*)\. The file as it was: (.*)$/.exec(
    changes[0] ?? "",
  );
  expect(backup?.[1]).toBe(local);
  expect(readFileSync(backup?.[2] ?? "", "utf8")).toBe(own);
  expect(home.read(local)).toContain('"allow": ["Bash(ls)"]');
  await update(home, {});
  expect(home.read(local)).toBe(own);
});

test.each(["the file", "its folder"])(
  "%s being a link out of the project, nothing is written there",
  async (what) => {
    const { home, project, local } = await prepare();
    const other = home.at("other/settings.local.json");
    const own = '{ "theme": "dark" }\n';
    home.put(other, own);
    if (what === "the file") mkdirSync(join(project, ".claude"));
    symlinkSync(
      ...((what === "the file" ? [other, local] : [home.at("other"), dirname(local)]) as [string, string]),
    );
    const { changes, problems } = await update(home, { projects: { [project]: { mode: "strict" } } });
    expect(changes).toEqual([]);
    expect(problems).toEqual([expect.stringContaining("leads out of its project")]);
    expect(home.read(other)).toBe(own);
  },
);

test("a general mode registers in the user's settings; install keeps it, and uninstall removes everything", async () => {
  const { home } = await prepare();
  const before = listOwnHooks(home.read());
  await update(home, { mode: "strict", context: true });
  expect(listGuardHooks(home.settings)).toEqual([edits, "SessionStart"]);
  await home.install();
  expect(listGuardHooks(home.settings)).toEqual([edits, "SessionStart"]);
  await update(home, { mode: "off" });
  expect(listOwnHooks(home.read())).toEqual(before);
  await update(home, { mode: "strict" });
  await home.uninstall();
  expect(existsSync(home.settings)).toBe(false);
});

test("a project that the general mode covers gets no second hook", async () => {
  const { home, project, local } = await prepare();
  await update(home, { mode: "strict", projects: { [project]: { mode: "warn" } } });
  expect(existsSync(local)).toBe(false);
});

describe("which hooks the settings need", () => {
  test.each<[string, Config["workGuard"]["projects"][string], string[]]>([
    ["strict", { mode: "strict" }, [edits]],
    ["warn, which only records", { mode: "warn" }, []],
    ["warn with messages", { mode: "warn", messages: true }, [edits, "SessionStart"]],
    ["strict with context", { mode: "strict", context: true }, [edits, "SessionStart"]],
    ["off with messages", { mode: "off", messages: true }, []],
  ])("%s", async (_, own, hooks) => {
    const { home, project, local } = await prepare();
    await update(home, { projects: { [project]: own } });
    expect(listGuardHooks(local)).toEqual(hooks);
  });

  test("InstructionsLoaded only where the CLI knows it: an older one would refuse the whole file", async () => {
    const home = temporaryHome();
    home.claude("2.0.76");
    await home.install();
    await update(home, { mode: "strict" });
    expect(home.read()).not.toContain("InstructionsLoaded");
    expect(listGuardHooks(home.settings)).toEqual([edits]);
  });
});

test("without an install, it says what to do", async () => {
  const home = temporaryHome();
  const { changes, problems } = await update(home, { mode: "strict" });
  expect(changes).toEqual([]);
  expect(problems).toEqual(["The work guard is on, but beckon's hooks are not. Run: beckon --install"]);
});

test("a file that cannot be parsed is a problem, and stays as it is", async () => {
  const { home, project, local } = await prepare();
  home.put(local, "{oops");
  const { changes, problems } = await update(home, { projects: { [project]: { mode: "strict" } } });
  expect(changes).toEqual([]);
  expect(problems.join()).toContain(local);
  expect(home.read(local)).toBe("{oops");
});

test.each([
  ["gemini", "0.61.0", ".gemini/settings.json", "BeforeTool replace|write_file"],
  ["codex", "codex-cli 0.166.0", ".codex/hooks.json", "PreToolUse apply_patch"],
])(
  "%s has no settings for one user in one project: the hooks are in the user's own",
  async (id, version, file, hook) => {
    const home = temporaryHome();
    home.script(home.at("programs", id), version);
    const table = agents.filter((agent) => agent.id === id);
    await install(home.options({ agents: table }));
    const path = home.at(file);
    const project = home.at("shop");
    mkdirSync(project);
    const change = (settings: Settings) =>
      updateGuardHooks({
        ...{ agents: table, paths: home.places, env: home.env },
        config: { ...defaultConfig.workGuard, ...settings },
      });
    const before = home.read(path);
    await change({ projects: { [project]: { mode: "warn" } } });
    expect(home.read(path)).toBe(before);
    const { changes } = await change({ projects: { [project]: { mode: "strict" } } });
    expect(listGuardHooks(path)).toEqual([hook]);
    // Codex runs no hook that the user has not trusted.
    expect(changes.join().includes("until you trust them")).toBe(id === "codex");
    await install(home.options({ agents: table }));
    expect(listGuardHooks(path)).toEqual([hook]);
    await change({});
    expect(listGuardHooks(path)).toEqual([]);
  },
);
