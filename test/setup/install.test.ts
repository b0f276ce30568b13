/** An install changes only beckon's entries, and nothing at all if it cannot succeed. */
import { afterAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { hooksFor } from "../../src/agents/claude/hooks.ts";
import { planInstall } from "../../src/setup/install.ts";
import { listOwnHooks } from "../../src/user-files/hooks.ts";
import { testWith } from "../needs.ts";
import { readMode, withTmpfs } from "../storage/folder.ts";
import { agentsOn, removeHomes, temporaryHome } from "./home.ts";

afterAll(removeHomes);

const theirs =
  '{\n  "model": "opus",\n  "hooks": {\n    "Stop": [{ "hooks": [{ "type": "command", "command": "say done" }] }]\n  }\n}\n';
const eventsIn = (text: string) =>
  listOwnHooks(text)
    .map(({ event }) => event)
    .sort();
const eventsFor = (version: string | null) =>
  hooksFor(version)
    .map(({ event }) => event as string)
    .sort();

describe("the version of Claude Code", () => {
  test.each(["2.0.76", "2.1.100", "2.1.325"])("%s gets the hooks it knows", async (version) => {
    const home = temporaryHome();
    home.claude(version);
    const done = await home.install();
    expect(done.search.program).toEqual({ path: home.at("programs", "claude"), version });
    expect(eventsIn(home.read())).toEqual(eventsFor(version));
  });

  test("is read from the program's last known path if it is not on PATH", async () => {
    const home = temporaryHome();
    home.claude("2.1.325");
    await home.install();
    const done = await home.install({ env: { ...home.env, PATH: "" } });
    expect(done.search.program?.path).toBe(home.at("programs", "claude"));
    expect(done.isChanged).toBe(false);
  });

  test("is the last known one if the program is gone", async () => {
    const home = temporaryHome();
    const claude = home.claude("2.1.325");
    await home.install();
    rmSync(claude);
    const done = await home.install();
    expect(done).toMatchObject({ search: { program: null }, version: "2.1.325", isChanged: false });
    expect(eventsIn(home.read())).toEqual(eventsFor("2.1.325"));
  });

  test("is the oldest supported one if it was never found", async () => {
    const home = temporaryHome();
    const done = await home.install();
    expect(done.version).toBeNull();
    expect(eventsIn(home.read())).toEqual(eventsFor(null));
  });

  test("decides about new hooks after an update of Claude Code", async () => {
    const home = temporaryHome();
    home.claude("2.0.76");
    await home.install();
    home.claude("2.1.325");
    await home.install();
    expect(eventsIn(home.read())).toEqual(eventsFor("2.1.325"));
  });
});

describe("the settings file", () => {
  test("is created if there is none, private to its owner", async () => {
    const home = temporaryHome();
    await home.install();
    expect(readMode(home.settings)).toBe("600");
    expect(readMode(home.at(".claude"))).toBe("700");
    expect(home.installed()?.files).toMatchObject([{ path: home.settings, before: null }]);
  });

  test("keeps its mode and all other entries, and its backup is private", async () => {
    const home = temporaryHome();
    home.put(home.settings, theirs, 0o640);
    const { backup } = await home.install();
    expect(readMode(home.settings)).toBe("640");
    const after = JSON.parse(home.read());
    expect(after.model).toBe("opus");
    expect(after.hooks.Stop[0]).toEqual(JSON.parse(theirs).hooks.Stop[0]);
    expect(readFileSync(backup ?? "", "utf8")).toBe(theirs);
    expect(readMode(backup ?? "")).toBe("600");
    expect(readMode(home.places.backups)).toBe("700");
  });

  test("is written through a link, which stays", async () => {
    const home = temporaryHome();
    const real = home.put(home.at("dotfiles", "claude", "settings.json"), theirs);
    mkdirSync(home.at(".claude"));
    symlinkSync("../dotfiles/claude/settings.json", home.settings);
    await home.install();
    expect(lstatSync(home.settings).isSymbolicLink()).toBe(true);
    expect(eventsIn(readFileSync(real, "utf8"))).toEqual(eventsFor(null));
    expect(await home.uninstall()).toBe("restored");
    expect(lstatSync(home.settings).isSymbolicLink()).toBe(true);
    expect(readFileSync(real, "utf8")).toBe(theirs);
  });

  test("is written through a folder that is a link", async () => {
    const home = temporaryHome();
    const real = home.put(home.at("dotfiles", "claude", "settings.json"), theirs);
    symlinkSync(home.at("dotfiles", "claude"), home.at(".claude"));
    await home.install();
    expect(lstatSync(home.at(".claude")).isSymbolicLink()).toBe(true);
    expect(eventsIn(readFileSync(real, "utf8"))).toEqual(eventsFor(null));
  });

  test("is created where a broken link leads", async () => {
    const home = temporaryHome();
    mkdirSync(home.at(".claude"));
    mkdirSync(home.at("dotfiles"));
    symlinkSync(home.at("dotfiles", "claude.json"), home.settings);
    await home.install();
    expect(eventsIn(home.read(home.at("dotfiles", "claude.json")))).toEqual(eventsFor(null));
    expect(await home.uninstall()).toBe("removed");
    expect(lstatSync(home.settings).isSymbolicLink()).toBe(true);
  });

  test("is not touched by a second install, not even its time", async () => {
    const home = temporaryHome();
    home.put(home.settings, theirs);
    await home.install();
    const before = { tree: home.tree(), changed: statSync(home.settings).mtimeMs };
    const done = await home.install();
    expect(done).toMatchObject({ isChanged: false, backup: null, binary: { do: "keep" } });
    expect({ tree: home.tree(), changed: statSync(home.settings).mtimeMs }).toEqual(before);
  });

  test("has its last five backups kept, and the one that an uninstall restores", async () => {
    const home = temporaryHome();
    home.put(home.settings, theirs);
    await home.install();
    const first = home.backups()[0];
    for (let n = 0; n < 8; n++) {
      // Each install registers another path.
      await home.install({
        env: { ...home.env, BECKON_HOME: home.places.state },
        program: home.program(`1.0.${n}`),
      });
      await home.install({ program: home.program(`1.0.${n}`) });
    }
    expect(home.backups()).toHaveLength(6);
    expect(home.backups()[0]).toBe(first as string);
    expect(await home.uninstall()).toBe("restored");
    expect(home.read()).toBe(theirs);
  });

  test.each([
    ["project", "settings.json"],
    ["local", "settings.local.json"],
  ] as const)("of the %s scope is the one in this folder", async (scope, name) => {
    const home = temporaryHome();
    const cwd = home.at("project");
    mkdirSync(cwd);
    await home.install({ scope, cwd });
    expect(eventsIn(home.read(join(cwd, ".claude", name)))).toEqual(eventsFor(null));
    expect(existsSync(home.settings)).toBe(false);
  });

  test("is the one in CLAUDE_CONFIG_DIR if that is set", async () => {
    const home = temporaryHome();
    await home.install({ env: { ...home.env, CLAUDE_CONFIG_DIR: home.at("elsewhere") } });
    expect(eventsIn(home.read(home.at("elsewhere", "settings.json")))).toEqual(eventsFor(null));
    expect(existsSync(home.at(".claude"))).toBe(false);
  });
});

describe("nothing changes if the settings", () => {
  const refused: [name: string, text: string | Buffer, says: string | RegExp][] = [
    ["are no JSON", '{\n  "a": 1,\n  "b": \n}', /settings\.json, line 4, column 1/],
    ["have a comment", '{\n  // mine\n  "a": 1\n}', /settings\.json, line 2, column 3/],
    ["are a list", "[]", /line 1, column 1/],
    ["are not UTF-8", Buffer.from([0xff, 0xfe, 0x7b, 0, 0x7d, 0]), "is not in UTF-8"],
    ["are too large", `{"a":"${"x".repeat(5 * 1024 * 1024)}"}`, "larger than"],
  ];
  test.each(refused)("%s", async (_, text, says) => {
    const home = temporaryHome();
    home.put(home.settings, text);
    const options = home.options();
    const before = home.tree();
    await expect(home.install(options)).rejects.toThrow(says);
    expect(home.tree()).toEqual(before);
  });

  test("are a folder", async () => {
    const home = temporaryHome();
    mkdirSync(home.settings, { recursive: true });
    const options = home.options();
    const before = home.tree();
    await expect(home.install(options)).rejects.toThrow("is a folder");
    expect(home.tree()).toEqual(before);
  });

  test("are a pipe without a writer", async () => {
    const home = temporaryHome();
    mkdirSync(home.at(".claude"));
    Bun.spawnSync(["mkfifo", home.settings]);
    await expect(home.install()).rejects.toThrow("is not a regular file");
  });

  test("are a link to itself", async () => {
    const home = temporaryHome();
    mkdirSync(home.at(".claude"));
    symlinkSync("settings.json", home.settings);
    await expect(home.install()).rejects.toThrow("a link that leads back to itself");
  });

  test("have another value where an event's hooks should be, and the error names the line", async () => {
    const home = temporaryHome();
    home.put(home.settings, '{\n  "hooks": {"Stop": null}\n}');
    const options = home.options();
    const before = home.tree();
    await expect(home.install(options)).rejects.toThrow(
      `${home.settings}, line 2, column 21: hooks.Stop is null`,
    );
    expect(home.tree()).toEqual(before);
  });

  test("are read-only", async () => {
    const home = temporaryHome();
    home.put(home.settings, theirs, 0o444);
    const options = home.options();
    const before = home.tree();
    await expect(home.install(options)).rejects.toThrow("is read-only. To let beckon change it: chmod u+w");
    expect(home.tree()).toEqual(before);
  });

  test.each(["file", "folder"])("can be written by all users (%s)", async (which) => {
    const home = temporaryHome();
    home.put(home.settings, theirs);
    chmodSync(which === "file" ? home.settings : home.at(".claude"), which === "file" ? 0o666 : 0o777);
    const options = home.options();
    const before = home.tree();
    await expect(home.install(options)).rejects.toThrow("can be written by every user of this machine");
    expect(home.tree()).toEqual(before);
  });
});

test("a plan says what would be done, and changes nothing", async () => {
  const home = temporaryHome();
  home.put(home.settings, theirs);
  const options = home.options();
  const before = home.tree();
  const { binary, agents } = await planInstall(options);
  expect(binary.do).toBe("copy");
  expect(agents).toMatchObject([{ before: theirs }]);
  expect(eventsIn(agents[0]?.after ?? "")).toEqual(eventsFor(null));
  expect(home.tree()).toEqual(before);
});

describe("a warning", () => {
  const warned = async (text: string, more = {}) => {
    const home = temporaryHome();
    home.put(home.settings, text);
    return (await home.install(more)).warnings;
  };

  test("for hooks that are turned off", async () => {
    expect(await warned('{"disableAllHooks": true}')).toEqual([
      expect.stringContaining('"disableAllHooks": true'),
    ]);
  });

  test("for hooks that are turned off in this project only", async () => {
    const home = temporaryHome();
    const cwd = home.at("project");
    home.put(join(cwd, ".claude", "settings.local.json"), '{"disableAllHooks": true}');
    expect((await home.install({ cwd })).warnings).toEqual([
      expect.stringContaining("No hook runs in this project"),
    ]);
  });

  test.each([
    ['{"allowManagedHooksOnly": true}', "allows only their own"],
    ['{"disableAllHooks": true}', "switched hooks off"],
  ])("for an administrator's %s", async (text, says) => {
    const home = temporaryHome();
    const managed = [home.put(home.at("etc", "managed-settings.json"), text)];
    expect((await home.install({ agents: agentsOn({ managed }) })).warnings).toEqual([
      expect.stringContaining(says),
    ]);
  });

  test("for a plugin with the same hooks, unless it is off", async () => {
    expect(await warned('{"enabledPlugins": {"beckon@somewhere": true}}')).toEqual([
      expect.stringContaining("beckon@somewhere"),
    ]);
    expect(await warned('{"enabledPlugins": {"beckon@somewhere": false, "beckoning@x": true}}')).toEqual([]);
  });

  test("for a hard link to the file, which keeps the old text", async () => {
    const home = temporaryHome();
    home.put(home.settings, "{}");
    Bun.spawnSync(["ln", home.settings, home.at("other.json")]);
    expect((await home.install()).warnings).toEqual([expect.stringContaining("hard link")]);
  });
});

test("a byte order mark is kept", async () => {
  const home = temporaryHome();
  home.put(home.settings, "\ufeff{}\r\n");
  await home.install();
  expect([...readFileSync(home.settings).subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
  expect(await home.uninstall()).toBe("restored");
  expect(readFileSync(home.settings)).toEqual(Buffer.from("\ufeff{}\r\n"));
});

test("the half-written file of a killed install does not matter", async () => {
  const home = temporaryHome();
  home.put(home.settings, theirs);
  writeFileSync(`${home.settings}.beckon-tmp`, "half");
  writeFileSync(`${home.settings}.beckon-lock`, "");
  await home.install();
  expect(eventsIn(home.read())).toEqual(eventsFor(null));
  expect(existsSync(`${home.settings}.beckon-tmp`)).toBe(false);
  expect(existsSync(`${home.settings}.beckon-lock`)).toBe(false);
});

testWith(
  "root",
  "linux",
  "mount",
)("a full disk leaves the home folder unchanged", async () => {
  await withTmpfs("512k", async (disk) => {
    const home = temporaryHome(disk);
    home.put(home.settings, theirs);
    const options = home.options();
    const before = home.tree();
    const { bavail, bsize } = statfsSync(disk);
    const failed: number[] = [];
    for (let pages = 0; pages < 12; pages++) {
      writeFileSync(join(disk, "filler"), "x".repeat((bavail - pages) * bsize));
      try {
        await home.install(options);
        break;
      } catch (error) {
        failed.push(pages);
        expect((error as Error).message).toContain("the disk is full");
        expect(home.tree()).toEqual(before);
      } finally {
        rmSync(join(disk, "filler"), { force: true });
      }
    }
    expect(failed.length).toBeGreaterThan(2);
  });
});
