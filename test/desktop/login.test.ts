/** The login item on Linux: desktops and GLib must understand the autostart entry. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { openLoginItem } from "../../src/desktop/login/index.ts";
import {
  autostartPath,
  createLinuxLoginItem,
  formatEntry,
  formatExecLine,
  parseEntry,
} from "../../src/desktop/login/linux.ts";
import { testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "beckon-login-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const path = () => join(home, ".config/autostart/beckon.desktop");
const login = () => createLinuxLoginItem({ HOME: home }, join(home, "helpers"));
const command = { binary: "/opt/beckon", home: null };

/** Names that a shell, printf or the Desktop Entry Specification could misread. */
const oddNames = [
  "plain",
  "with space",
  "dollar $HOME",
  "back`id`tick",
  'quo"te',
  "back\\slash",
  "end\\",
  "100%",
  "%f %U %%",
  "semi;colon & pipe | star * ? # ~ < > ( )",
  "ap'ostrophe",
  "ümläut 日本",
  "a=b",
  '\\\\double \\" mix \\$',
];

describe("folders that beckon created for the entry", () => {
  const folder = () => join(home, ".config/autostart");

  test("are removed with it, also after a second install", async () => {
    mkdirSync(join(home, ".config"));
    await login().enable(command);
    await login().enable({ ...command, binary: "/opt/new/beckon" });
    await login().disable();
    expect(readdirSync(join(home, ".config"))).toEqual([]);
  });

  test("stay if another program uses them", async () => {
    await login().enable(command);
    writeFileSync(join(folder(), "other.desktop"), "");
    await login().disable();
    expect(readdirSync(folder())).toEqual(["other.desktop"]);
  });

  test("stay if they existed before", async () => {
    mkdirSync(folder(), { recursive: true });
    await login().enable(command);
    await login().disable();
    expect(existsSync(folder())).toBe(true);
  });
});

describe("the autostart entry", () => {
  test("starts the binary with --at-login, and with the folder it was installed with", () => {
    expect(formatExecLine(command)).toBe('"/opt/beckon" "run" "--at-login"');
    expect(formatExecLine({ binary: "/opt/b", home: "/my $tate" })).toBe(
      '"/opt/b" "run" "--at-login" "--home=/my \\$tate"',
    );
  });

  test("any path is read back as it was written", () => {
    const anyPath = fc
      .string({ unit: "grapheme" })
      .filter((text) => !/\p{Cc}/u.test(text))
      .map((text) => `/${text}`);
    fc.assert(
      fc.property(anyPath, fc.option(anyPath), (binary, folder) => {
        expect(parseEntry(formatEntry({ binary, home: folder }, null))).toMatchObject({
          binary,
          isTurnedOff: false,
        });
      }),
      { numRuns: 500 },
    );
  });

  testWith("desktop-file-validate")("is valid by the specification", async () => {
    for (const name of oddNames) {
      const file = join(home, "beckon.desktop");
      writeFileSync(
        file,
        formatEntry({ binary: `/opt/${name}/beckon`, home: `/srv/${name}` }, "/opt/icon.png"),
      );
      const { stdout, exitCode } = Bun.spawnSync(["desktop-file-validate", file]);
      expect({ stdout: stdout.toString(), exitCode }, name).toEqual({ stdout: "", exitCode: 0 });
    }
  });

  testWith("gio")("makes GLib start exactly this binary, with exactly this folder", async () => {
    for (const [at, name] of oddNames.entries()) {
      const folder = join(home, "bin", name);
      mkdirSync(folder, { recursive: true });
      const binary = join(folder, "beckon");
      const output = join(home, `output-${at}`);
      writeFileSync(
        binary,
        `#!/bin/sh\nprintf '%s\\n' "$0" "$@" > ${output}.new && mv ${output}.new ${output}\n`,
      );
      chmodSync(binary, 0o755);
      const file = join(home, "beckon.desktop");
      writeFileSync(file, formatEntry({ binary, home: `${home}/${name}` }, null));
      const launched = Bun.spawnSync(["gio", "launch", file], {
        env: { PATH: process.env.PATH ?? "", HOME: home },
      });
      expect(launched.stderr.toString(), name).toBe("");
      await waitUntil(() => existsSync(output), 5_000);
      expect(readFileSync(output, "utf8").split("\n"), name).toEqual([
        binary,
        "run",
        "--at-login",
        `--home=${home}/${name}`,
        "",
      ]);
    }
  });
});

describe("on Linux", () => {
  test("is off until it is turned on, and leaves no file when it is turned off", async () => {
    const binary = join(home, "beckon");
    writeFileSync(binary, "");
    expect(await login().state()).toEqual({ on: false, turnedOff: false, binary: null, problem: null });
    expect(await login().enable({ binary, home: null })).toBe(`beckon starts when you log in (${path()})`);
    expect(statSync(path()).mode & 0o777).toBe(0o600);
    expect(await login().state()).toEqual({ on: true, turnedOff: false, binary, problem: null });
    const before = readFileSync(path(), "utf8");
    await login().enable({ binary, home: null });
    expect(readFileSync(path(), "utf8")).toBe(before);
    expect(await login().disable()).toContain("no longer starts");
    expect(existsSync(path())).toBe(false);
    expect(await login().disable()).toBeNull();
  });

  test.each(["Hidden=true", "X-GNOME-Autostart-enabled=false"])(
    "an entry that the user turned off with %s is reported as turned off, and --login turns it on",
    async (line) => {
      await login().enable(command);
      const [key = ""] = line.split("=");
      const rest = readFileSync(path(), "utf8")
        .split("\n")
        .filter((row) => !row.startsWith(`${key}=`));
      writeFileSync(path(), [...rest.slice(0, -1), line, ""].join("\n"));
      const state = await login().state();
      expect(state).toMatchObject({ on: false, turnedOff: true, binary: "/opt/beckon" });
      expect(state.problem).toContain("you turned it off");
      await login().enable(command);
      expect((await login().state()).turnedOff).toBe(false);
    },
  );

  test("reports a binary that does not exist", async () => {
    await login().enable({ binary: join(home, "gone"), home: null });
    expect((await login().state()).problem).toContain(`starts ${home}/gone, which does not exist`);
  });

  test("an entry that is a link into the user's dotfiles stays a link", async () => {
    const real = join(home, "dotfiles/beckon.desktop");
    mkdirSync(dirname(real), { recursive: true });
    mkdirSync(dirname(path()), { recursive: true });
    writeFileSync(real, "[Desktop Entry]\nType=Application\nName=beckon\nExec=/old/beckon\n");
    symlinkSync(real, path());
    expect((await login().state()).binary).toBe("/old/beckon");
    await login().enable(command);
    expect(lstatSync(path()).isSymbolicLink()).toBe(true);
    expect(readFileSync(real, "utf8")).toContain('Exec="/opt/beckon" "run" "--at-login"\n');
  });

  test("another program's entry with this name is not removed", async () => {
    mkdirSync(dirname(path()), { recursive: true });
    writeFileSync(path(), "[Desktop Entry]\nType=Application\nName=Beckon\nExec=/usr/games/lighthouse\n");
    expect(await login().disable()).toBeNull();
    expect(existsSync(path())).toBe(true);
  });

  test("a path that would break the entry is an error", async () => {
    await expect(login().enable({ binary: "/50%/a=b/beckon", home: null })).rejects.toThrow("both % and =");
    await expect(login().enable({ binary: "/a\nExec=evil", home: null })).rejects.toThrow("line break");
    expect(existsSync(path())).toBe(false);
  });

  test("the entry is below XDG_CONFIG_HOME if that is an absolute path", () => {
    expect(autostartPath({ HOME: "/h", XDG_CONFIG_HOME: "/c" })).toBe("/c/autostart/beckon.desktop");
    expect(autostartPath({ HOME: "/h", XDG_CONFIG_HOME: "c" })).toBe("/h/.config/autostart/beckon.desktop");
  });
});

test("an unknown system has no login item", async () => {
  expect(await openLoginItem({ env: {}, folder: home }, "haiku" as NodeJS.Platform)).toBeNull();
});
