/** The copy of the binary: always whole, never over another program, and never under a running one. */
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Exec } from "../../src/core/interfaces/index.ts";
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
import { readMode, removeTemporaryFolders, withTmpfs } from "../storage/folder.ts";
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
  test("is whole, executable for all and writable for its owner, without leftovers", async () => {
    const home = temporaryHome();
    const { plan } = await place(home);
    expect(plan).toEqual({ do: "copy", binary: stable(home), replaces: null });
    expect(readMode(stable(home))).toBe("755");
    expect(readFileSync(stable(home))).toEqual(readFileSync(home.program().path));
    expect(readdirSync(dirname(stable(home)))).toEqual(["beckon"]);
  });

  test("is not made again if it is there", async () => {
    const home = temporaryHome();
    await place(home);
    const before = statSync(stable(home)).ino;
    expect((await place(home)).plan).toEqual({ do: "keep", binary: stable(home) });
    expect(statSync(stable(home)).ino).toBe(before);
  });

  test("is not made if the program already runs from there", async () => {
    const home = temporaryHome();
    await place(home);
    const program = { path: stable(home), readFrom: stable(home) };
    expect((await place(home, { program })).plan).toEqual({ do: "keep", binary: stable(home) });
  });

  test("replaces an older beckon, and a running one keeps its own file", async () => {
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

  test("is made once by ten installs at once", async () => {
    const home = temporaryHome();
    const program = home.program();
    const placed = await Promise.all(Array.from({ length: 10 }, () => place(home, { program })));
    expect(placed.map(({ plan }) => plan.do).sort()).toEqual(["copy", ...Array(9).fill("keep")]);
    expect(readdirSync(dirname(stable(home)))).toEqual(["beckon"]);
  });
});

describe("something else at its path is kept, and the hooks call the program where it is", () => {
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

  test("except a link to this program, which counts as a copy", async () => {
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
)("on a full disk there is no copy, not even a part, and the reason is reported", async () => {
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

  test("the copy is signed before it is moved into place, and a second install recognises it", async () => {
    const home = temporaryHome();
    const ran: string[] = [];
    const options = { platform: "darwin", exec: mac(0, ran) } as const;
    const { copy, plan } = await place(home, options);
    expect(ran).toEqual([
      "/usr/bin/xattr -d com.apple.quarantine",
      "/usr/bin/codesign --force --sign - --identifier dev.beckon",
    ]);
    const before = { binary: plan.binary, copy };
    expect((await place(home, { ...options, before })).plan.do).toBe("keep");
  });

  test("a copy that cannot be signed is installed with a warning", async () => {
    const home = temporaryHome();
    const { plan, warnings } = await place(home, { platform: "darwin", exec: mac(1, []) });
    expect(plan.do).toBe("copy");
    expect(warnings).toEqual([expect.stringContaining("could not be signed (no identity)")]);
  });
});

test("on Windows a running program is moved aside, and removed the next time", () => {
  const home = temporaryHome();
  const path = home.put(home.at("beckon.exe"), "old");
  home.put(`${path}.old-1`, "older");
  moveAside(path);
  // It does not run here, so it could be removed at once.
  expect(existsSync(path)).toBe(false);
  expect(readdirSync(home.home)).toEqual([]);
  moveAside(path);
});

describe("an uninstall", () => {
  const installed = async (home: Home) => {
    await home.install();
    return home.installed();
  };

  test("removes the copy, and the folders that were created for it", async () => {
    const home = temporaryHome();
    const record = await installed(home);
    const plan = await planRemoval(record, exec);
    expect(plan).toEqual({ binary: stable(home), keepReason: null });
    if (plan) removeBinary(plan, record?.copy?.madeFolder ?? null);
    expect(existsSync(home.at(".local", "bin"))).toBe(false);
  });

  test("removes a newer beckon that replaced it", async () => {
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
  ])("keeps %s that replaced it", async (_, change, why) => {
    const home = temporaryHome();
    const record = await installed(home);
    change(home);
    expect(await planRemoval(record, exec)).toEqual({
      binary: stable(home),
      keepReason: expect.stringContaining(why),
    });
  });

  test("keeps a program that no install put there", async () => {
    const home = temporaryHome();
    const program = { path: home.script(stable(home), "beckon 0.1.0"), readFrom: stable(home) };
    await home.install({ program });
    expect(await planRemoval(home.installed(), exec)).toMatchObject({
      keepReason: "the install did not put it there",
    });
  });
});

describe("run from its source", () => {
  test("installs the build beside it", async () => {
    const home = temporaryHome();
    const built = home.script(home.at("checkout", "dist", "beckon"), "beckon 0.1.0");
    const main = home.put(home.at("checkout", "src", "main.ts"), "");
    expect(await findProgram(main, process.execPath, exec)).toEqual({ path: built, readFrom: built });
  });

  test("says how to build it if there is no build", async () => {
    const home = temporaryHome();
    const main = home.put(home.at("checkout", "src", "main.ts"), "");
    await expect(findProgram(main, process.execPath, exec)).rejects.toThrow(
      "npm run build && dist/beckon --install",
    );
    home.script(join(home.at("checkout"), "dist", "beckon"), "lighthouse");
    await expect(findProgram(main, process.execPath, exec)).rejects.toThrow("npm run build");
  });
});
