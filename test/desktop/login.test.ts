/** beckon starts with the person's login, by files and values that the systems' own readers understand. */
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
import { entryText, execLine, readEntry } from "../../src/desktop/login/desktop-entry.ts";
import { openLogin } from "../../src/desktop/login/index.ts";
import { autostartPath, xdgLogin } from "../../src/desktop/login/xdg.ts";
import { testWith } from "../needs.ts";
import { until } from "../world.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "beckon-login-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const path = () => join(home, ".config/autostart/beckon.desktop");
const login = () => xdgLogin({ HOME: home }, join(home, "helpers"));
const wish = { binary: "/opt/beckon", home: null };

/** Names that shells, printf formats and the specification itself would each misread in their own way. */
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

describe("folders that were made for the entry", () => {
  const folder = () => join(home, ".config/autostart");

  test("go with it, also after a second install", async () => {
    mkdirSync(join(home, ".config"));
    await login().enable(wish);
    await login().enable({ ...wish, binary: "/opt/new/beckon" });
    await login().disable();
    expect(readdirSync(join(home, ".config"))).toEqual([]);
  });

  test("stay where somebody else uses them", async () => {
    await login().enable(wish);
    writeFileSync(join(folder(), "other.desktop"), "");
    await login().disable();
    expect(readdirSync(folder())).toEqual(["other.desktop"]);
  });

  test("stay where they were there before", async () => {
    mkdirSync(folder(), { recursive: true });
    await login().enable(wish);
    await login().disable();
    expect(existsSync(folder())).toBe(true);
  });
});

describe("the autostart entry", () => {
  test("runs the binary without a word to read, and with the folder it was installed with", () => {
    expect(execLine(wish)).toBe('"/opt/beckon" "run" "--at-login"');
    expect(execLine({ binary: "/opt/b", home: "/my $tate" })).toBe(
      '"/opt/b" "run" "--at-login" "--home=/my \\$tate"',
    );
  });

  test("whatever the path is called, it is read as it was written", () => {
    const anyPath = fc
      .string({ unit: "grapheme" })
      .filter((text) => !/\p{Cc}/u.test(text))
      .map((text) => `/${text}`);
    fc.assert(
      fc.property(anyPath, fc.option(anyPath), (binary, folder) => {
        expect(readEntry(entryText({ binary, home: folder }, null))).toMatchObject({
          binary,
          isTurnedOff: false,
        });
      }),
      { numRuns: 500 },
    );
  });

  testWith("desktop-file-validate")("is an entry by the specification", async () => {
    for (const name of oddNames) {
      const file = join(home, "beckon.desktop");
      writeFileSync(
        file,
        entryText({ binary: `/opt/${name}/beckon`, home: `/srv/${name}` }, "/opt/icon.png"),
      );
      const { stdout, exitCode } = Bun.spawnSync(["desktop-file-validate", file]);
      expect({ said: stdout.toString(), exitCode }, name).toEqual({ said: "", exitCode: 0 });
    }
  });

  testWith("gio")("GLib starts exactly that binary, with exactly that folder", async () => {
    for (const [at, name] of oddNames.entries()) {
      const folder = join(home, "bin", name);
      mkdirSync(folder, { recursive: true });
      const binary = join(folder, "beckon");
      const told = join(home, `told-${at}`);
      writeFileSync(binary, `#!/bin/sh\nprintf '%s\\n' "$0" "$@" > ${told}.new && mv ${told}.new ${told}\n`);
      chmodSync(binary, 0o755);
      const file = join(home, "beckon.desktop");
      writeFileSync(file, entryText({ binary, home: `${home}/${name}` }, null));
      const ran = Bun.spawnSync(["gio", "launch", file], {
        env: { PATH: process.env.PATH ?? "", HOME: home },
      });
      expect(ran.stderr.toString(), name).toBe("");
      await until(() => existsSync(told), 5_000);
      expect(readFileSync(told, "utf8").split("\n"), name).toEqual([
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
  test("it is off until it is turned on, and off again afterwards, with nothing left", async () => {
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
    "one that the person turned off with %s is seen as that, and only asking for it turns it on",
    async (line) => {
      await login().enable(wish);
      const [key = ""] = line.split("=");
      const rest = readFileSync(path(), "utf8")
        .split("\n")
        .filter((row) => !row.startsWith(`${key}=`));
      writeFileSync(path(), [...rest.slice(0, -1), line, ""].join("\n"));
      const state = await login().state();
      expect(state).toMatchObject({ on: false, turnedOff: true, binary: "/opt/beckon" });
      expect(state.problem).toContain("you turned it off");
      await login().enable(wish);
      expect((await login().state()).turnedOff).toBe(false);
    },
  );

  test("a binary that is gone is named", async () => {
    await login().enable({ binary: join(home, "gone"), home: null });
    expect((await login().state()).problem).toContain(`starts ${home}/gone, which is not there`);
  });

  test("dotfiles kept elsewhere stay there", async () => {
    const real = join(home, "dotfiles/beckon.desktop");
    mkdirSync(dirname(real), { recursive: true });
    mkdirSync(dirname(path()), { recursive: true });
    writeFileSync(real, "[Desktop Entry]\nType=Application\nName=beckon\nExec=/old/beckon\n");
    symlinkSync(real, path());
    expect((await login().state()).binary).toBe("/old/beckon");
    await login().enable(wish);
    expect(lstatSync(path()).isSymbolicLink()).toBe(true);
    expect(readFileSync(real, "utf8")).toContain('Exec="/opt/beckon" "run" "--at-login"\n');
  });

  test("somebody else's entry of that name stays when ours is to go", async () => {
    mkdirSync(dirname(path()), { recursive: true });
    writeFileSync(path(), "[Desktop Entry]\nType=Application\nName=Beckon\nExec=/usr/games/lighthouse\n");
    expect(await login().disable()).toBeNull();
    expect(existsSync(path())).toBe(true);
  });

  test("a path that would break the file's lines is refused", async () => {
    await expect(login().enable({ binary: "/50%/a=b/beckon", home: null })).rejects.toThrow("both % and =");
    await expect(login().enable({ binary: "/a\nExec=evil", home: null })).rejects.toThrow("line break");
    expect(existsSync(path())).toBe(false);
  });

  test("the folder is XDG_CONFIG_HOME's, if that is a path", () => {
    expect(autostartPath({ HOME: "/h", XDG_CONFIG_HOME: "/c" })).toBe("/c/autostart/beckon.desktop");
    expect(autostartPath({ HOME: "/h", XDG_CONFIG_HOME: "c" })).toBe("/h/.config/autostart/beckon.desktop");
  });
});

test("a system that nobody knows has none", async () => {
  expect(await openLogin({ env: {}, folder: home }, "haiku" as NodeJS.Platform)).toBeNull();
});
