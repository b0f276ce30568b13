/** The binary in a place where it stays: never half of it, never over something else, and never under a program that runs. */
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Exec } from "../../src/core/ports.ts";
import {
  findProgram,
  moveAside,
  type PlaceOptions,
  placeBinary,
  planRemoval,
  removeBinary,
  stableBinaryPath,
} from "../../src/setup/binary.ts";
import { exec } from "../../src/system/exec.ts";
import { testWith } from "../needs.ts";
import { modeOf, removeTemporaryFolders, withTmpfs } from "../storage/folder.ts";
import { type Home, homeAt, removeHomes, temporaryHome } from "./home.ts";

afterAll(() => {
  removeHomes();
  removeTemporaryFolders();
});

const place = (home: Home, more: Partial<PlaceOptions> = {}) =>
  placeBinary({
    program: more.program ?? home.program(),
    paths: home.places,
    env: home.env,
    exec,
    before: home.installed(),
    ...more,
  });
const stable = (home: Home) => home.at(".local", "bin", "beckon");

test.each([
  ["linux", {}, "/home/ann/.local/bin/beckon"],
  ["darwin", {}, "/home/ann/.local/bin/beckon"],
  ["linux", { BECKON_HOME: "/portable" }, "/state/bin/beckon"],
] as const)("on %s with %j the place is %s", (platform, more, wanted) => {
  expect(stableBinaryPath({ HOME: "/home/ann", ...more }, { state: "/state" }, platform)).toBe(wanted);
});

describe("the copy", () => {
  test("is whole, can be run by everybody and written by its owner, and nothing is left beside it", async () => {
    const home = temporaryHome();
    const { plan } = await place(home);
    expect(plan).toEqual({ do: "copy", binary: stable(home), replaces: null });
    expect(modeOf(stable(home))).toBe("755");
    expect(readFileSync(stable(home))).toEqual(readFileSync(home.program().path));
    expect(readdirSync(dirname(stable(home)))).toEqual(["beckon"]);
  });

  test("that is there already stays as it is", async () => {
    const home = temporaryHome();
    await place(home);
    const before = statSync(stable(home)).ino;
    expect((await place(home)).plan).toEqual({ do: "keep", binary: stable(home) });
    expect(statSync(stable(home)).ino).toBe(before);
  });

  test("is not made where the program runs from there", async () => {
    const home = temporaryHome();
    await place(home);
    const program = { path: stable(home), readFrom: stable(home) };
    expect((await place(home, { program })).plan).toEqual({ do: "keep", binary: stable(home) });
  });

  test("takes the place of an older beckon, and one that runs goes on with its own file", async () => {
    const home = temporaryHome();
    const old = home.program("0.0.9");
    home.put(
      old.path,
      '#!/bin/sh\n[ "$1" = --version ] && echo beckon 0.0.9 && exit\necho up\nread line\necho still\n',
      0o755,
    );
    await place(home, { program: old });
    const running = Bun.spawn([stable(home)], { stdin: "pipe", stdout: "pipe" });
    const out = running.stdout.getReader();
    await out.read();
    expect((await place(home)).plan).toEqual({ do: "copy", binary: stable(home), replaces: "0.0.9" });
    running.stdin.write("go\n");
    running.stdin.end();
    expect(Buffer.from((await out.read()).value ?? []).toString()).toBe("still\n");
  });

  test("ten times at once is one", async () => {
    const home = temporaryHome();
    const program = home.program();
    const placed = await Promise.all(Array.from({ length: 10 }, () => place(home, { program })));
    expect(placed.map(({ plan }) => plan.do).sort()).toEqual(["copy", ...Array(9).fill("keep")]);
    expect(readdirSync(dirname(stable(home)))).toEqual(["beckon"]);
  });
});

describe("something else in its place stays, and the hooks call the program where it is", () => {
  const cases: [string, (home: Home) => void, string][] = [
    ["a folder", (home) => mkdirSync(stable(home), { recursive: true }), "is a folder"],
    ["another program", (home) => home.script(stable(home), "lighthouse control 3.1"), "is another program"],
    ["a file", (home) => home.put(stable(home), "notes"), "is another program"],
    [
      "a link to another beckon",
      (home) => {
        mkdirSync(dirname(stable(home)), { recursive: true });
        symlinkSync(home.program("0.0.1").path, stable(home));
      },
      "is a link to something else",
    ],
  ];
  test.each(cases)("%s", async (_, make, says) => {
    const home = temporaryHome();
    make(home);
    const program = home.program();
    const before = home.tree();
    const { plan, copy } = await place(home, { program });
    expect(plan).toEqual({ do: "stay", binary: program.path, why: expect.stringContaining(says) });
    expect(copy).toBeNull();
    expect(home.tree()).toEqual(before);
  });

  test("but a link to this very program is as good as a copy", async () => {
    const home = temporaryHome();
    const program = home.program();
    mkdirSync(dirname(stable(home)), { recursive: true });
    symlinkSync(program.path, stable(home));
    expect((await place(home, { program })).plan).toEqual({ do: "keep", binary: stable(home) });
  });
});

testWith(
  "root",
  "linux",
  "mount",
)("on a full disk there is no copy, not even half of one, and the person is told why", async () => {
  await withTmpfs("64k", async (folder) => {
    const home = homeAt(folder);
    const elsewhere = temporaryHome();
    const path = elsewhere.put(
      elsewhere.at("beckon"),
      `#!/bin/sh\necho beckon 0.1.0\n#${"x".repeat(200_000)}`,
      0o755,
    );
    const { plan } = await place(home, { program: { path, readFrom: path } });
    expect(plan).toMatchObject({
      do: "stay",
      binary: path,
      why: expect.stringContaining("the disk is full"),
    });
    expect(existsSync(home.at(".local"))).toBe(false);
  });
});

describe("on a Mac", () => {
  const mac = (code: number, ran: string[]): Exec => {
    return async (argv) => {
      ran.push(argv.slice(0, -1).join(" "));
      const path = argv.at(-1) ?? "";
      // Signing changes the file.
      if (argv[0]?.endsWith("codesign") && code === 0)
        Bun.spawnSync(["sh", "-c", 'echo "# signed" >> "$0"', path]);
      return argv[1] === "--version" ? exec(argv) : { code, stdout: "", stderr: "no identity" };
    };
  };

  test("the copy is signed before it is in its place, and a second install sees that it is the same", async () => {
    const home = temporaryHome();
    const ran: string[] = [];
    const options = { platform: "darwin", exec: mac(0, ran) } as const;
    const { copy, plan } = await place(home, options);
    expect(ran).toEqual([
      "/usr/bin/xattr -d com.apple.quarantine",
      "/usr/bin/codesign --force --sign - --identifier beckon",
    ]);
    const before = { binary: plan.binary, copy };
    expect((await place(home, { ...options, before })).plan.do).toBe("keep");
  });

  test("one that cannot be signed is there all the same, with a warning", async () => {
    const home = temporaryHome();
    const { plan, warnings } = await place(home, { platform: "darwin", exec: mac(1, []) });
    expect(plan.do).toBe("copy");
    expect(warnings).toEqual([expect.stringContaining("could not be signed (no identity)")]);
  });
});

test("a program in use is moved aside, as Windows wants it, and is gone the next time", () => {
  const home = temporaryHome();
  const path = home.put(home.at("beckon.exe"), "old");
  home.put(`${path}.old-1`, "older");
  moveAside(path);
  // Nobody runs it here, so it could be removed at once.
  expect(existsSync(path)).toBe(false);
  expect(readdirSync(home.home)).toEqual([]);
  moveAside(path);
});

describe("an uninstall", () => {
  const installed = async (home: Home) => {
    await home.install();
    return home.installed();
  };

  test("removes the copy, and the folders that were made for it", async () => {
    const home = temporaryHome();
    const record = await installed(home);
    const plan = await planRemoval(record, exec);
    expect(plan).toEqual({ binary: stable(home), keepReason: null });
    if (plan) removeBinary(plan, record?.copy?.madeFolder ?? null);
    expect(existsSync(home.at(".local", "bin"))).toBe(false);
  });

  test("removes a newer beckon that was put in its place", async () => {
    const home = temporaryHome();
    const record = await installed(home);
    home.script(stable(home), "beckon 0.9.0");
    expect(await planRemoval(record, exec)).toEqual({ binary: stable(home), keepReason: null });
  });

  test.each([
    ["another program", (home: Home) => home.script(stable(home), "lighthouse 1"), "another program"],
    [
      "a link",
      (home: Home) => {
        rmSync(stable(home));
        symlinkSync("/bin/sh", stable(home));
      },
      "no longer a program",
    ],
  ])("leaves %s that was put in its place", async (_, change, why) => {
    const home = temporaryHome();
    const record = await installed(home);
    change(home);
    expect(await planRemoval(record, exec)).toEqual({
      binary: stable(home),
      keepReason: expect.stringContaining(why),
    });
  });

  test("leaves a program that the installer did not put there", async () => {
    const home = temporaryHome();
    const program = { path: home.script(stable(home), "beckon 0.1.0"), readFrom: stable(home) };
    await home.install({ program });
    expect(await planRemoval(home.installed(), exec)).toMatchObject({
      keepReason: "the install did not put it there",
    });
  });
});

describe("run from its source", () => {
  test("the build beside it is what is installed", async () => {
    const home = temporaryHome();
    const built = home.script(home.at("checkout", "dist", "beckon"), "beckon 0.1.0");
    const main = home.put(home.at("checkout", "src", "main.ts"), "");
    expect(await findProgram(main, process.execPath, exec)).toEqual({ path: built, readFrom: built });
  });

  test("without one, it says how to build it", async () => {
    const home = temporaryHome();
    const main = home.put(home.at("checkout", "src", "main.ts"), "");
    await expect(findProgram(main, process.execPath, exec)).rejects.toThrow(
      "npm run build && dist/beckon --install",
    );
    home.script(join(home.at("checkout"), "dist", "beckon"), "lighthouse");
    await expect(findProgram(main, process.execPath, exec)).rejects.toThrow("npm run build");
  });
});
