/** A settings file among others who write it too, and on a disk that does not play along. */
import { afterAll, describe, expect, test } from "bun:test";
import {
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { withFileLock } from "../../src/settings-file/file-lock.ts";
import { listOwnHooks } from "../../src/settings-file/hooks.ts";
import { rewriteSettings } from "../../src/settings-file/index.ts";
import { resolveOwnedPath } from "../../src/settings-file/owned-path.ts";
import { testWith } from "../needs.ts";
import { homeAt, removeHomes, temporaryHome } from "../setup/home.ts";
import { makeReadOnly, removeTemporaryFolders, withTmpfs } from "../storage/folder.ts";

afterAll(() => {
  removeHomes();
  removeTemporaryFolders();
});

const append = (home: string, path: string, key: string) =>
  rewriteSettings(path, ({ text }) => ({ text: JSON.stringify({ ...JSON.parse(text ?? "{}"), [key]: 1 }) }), {
    home,
  });

describe("another program that writes the same file", () => {
  test("at the worst moment loses nothing, nor do we", async () => {
    const home = temporaryHome();
    home.put(home.settings, '{"model":"opus"}');
    let times = 0;
    const beforeCompare = () => {
      if (times++ < 3) home.put(home.settings, JSON.stringify({ model: "opus", times }));
    };
    await home.install({ rewrite: { beforeCompare } });
    expect(JSON.parse(home.read())).toMatchObject({ model: "opus", times: 3 });
    expect(listOwnHooks(home.read()).length).toBeGreaterThan(5);
    // What was taken back left no trace.
    expect(home.backups()).toHaveLength(1);
    expect(await home.uninstall()).toBe("as before");
    expect(JSON.parse(home.read())).toEqual({ model: "opus", times: 3 });
  });

  test("that makes the file where there was none loses nothing", async () => {
    const home = temporaryHome();
    let isDone = false;
    const beforeCompare = () => {
      if (!isDone) home.put(home.settings, '{"model":"opus"}');
      isDone = true;
    };
    await home.install({ rewrite: { beforeCompare } });
    expect(JSON.parse(home.read())).toMatchObject({ model: "opus" });
    expect(await home.uninstall()).toBe("as before");
    expect(home.read()).toBe('{"model":"opus"}');
  });

  test("that never stops is told of, and nothing is changed but by itself", async () => {
    const home = temporaryHome();
    home.put(home.settings, "{}");
    let times = 0;
    const beforeCompare = () => home.put(home.settings, JSON.stringify({ times: ++times }));
    await expect(home.install({ rewrite: { beforeCompare } })).rejects.toThrow(
      "another program keeps changing",
    );
    expect(JSON.parse(home.read())).toEqual({ times });
    expect(home.backups()).toEqual([]);
    expect(home.installed()).toBeNull();
    expect(existsSync(home.at(".local", "bin"))).toBe(false);
  });

  test("and empties it first is waited for", async () => {
    const home = temporaryHome();
    home.put(home.settings, '{"a": [1, ');
    const installing = home.install();
    home.put(home.settings, '{"a": [1, 2]}');
    await installing;
    expect(JSON.parse(home.read())).toMatchObject({ a: [1, 2] });
  });
});

describe("two of ours at once", () => {
  test("take turns, in one process", async () => {
    const home = temporaryHome();
    const keys = Array.from({ length: 20 }, (_, n) => `key${n}`);
    await Promise.all(keys.map((key) => append(home.home, home.settings, key)));
    expect(Object.keys(JSON.parse(home.read())).sort()).toEqual(keys.sort());
  });

  test("take turns, ten processes with twenty changes each", async () => {
    const home = temporaryHome();
    const writer = join(import.meta.dir, "..", "fixtures", "settings-writer.ts");
    const children = Array.from({ length: 10 }, (_, n) =>
      Bun.spawn([process.execPath, writer, home.settings, home.home, `p${n}`, "20"], { stderr: "pipe" }),
    );
    const complaints = await Promise.all(children.map((child) => child.stderr.text()));
    expect(complaints.join("")).toBe("");
    expect(Object.keys(JSON.parse(home.read()))).toHaveLength(200);
    expect(readdirSync(dirname(home.settings))).toEqual(["settings.json"]);
  }, 60_000);

  test("of which one hangs: the other says so in time", async () => {
    const home = temporaryHome();
    home.put(home.settings, "{}");
    const holder = Bun.spawn(
      [
        process.execPath,
        join(import.meta.dir, "..", "fixtures", "settings-writer.ts"),
        home.settings,
        home.home,
        "hang",
      ],
      { stdout: "pipe" },
    );
    await holder.stdout.getReader().read();
    await expect(home.install({ rewrite: { lockMs: 200 } })).rejects.toThrow(
      "another beckon has been changing",
    );
    expect(home.read()).toBe("{}");
    // Once it is killed, its lock is free.
    holder.kill("SIGKILL");
    await holder.exited;
    await home.install();
    expect(listOwnHooks(home.read()).length).toBeGreaterThan(5);
  });

  test("a lock that fails lets the next one in", async () => {
    const home = temporaryHome();
    const fail = withFileLock(home.at("x"), () => Promise.reject(new Error("no")));
    await expect(fail).rejects.toThrow("no");
    expect(await withFileLock(home.at("x"), () => 7)).toBe(7);
    expect(existsSync(home.at("x.beckon-lock"))).toBe(false);
  });
});

const testAsRoot = testWith("root", "linux");
const stranger = 65_534;

describe("a path that somebody else could turn elsewhere", () => {
  const refused: [string, (home: ReturnType<typeof temporaryHome>) => void][] = [
    ["the file", ({ settings }) => chownSync(settings, stranger, stranger)],
    ["its folder", ({ at }) => chownSync(at(".claude"), stranger, stranger)],
    ["the home itself", ({ home }) => chownSync(home, stranger, stranger)],
    [
      "a link on the way",
      ({ at, put }) => {
        put(at("dot", "settings.json"), "{}");
        symlinkSync(at("dot"), at("link"));
        lchownSync(at("link"), stranger, stranger);
        symlinkSync(at("link", "settings.json"), at(".claude", "local.json"));
      },
    ],
  ];
  for (const [what, spoil] of refused) {
    testAsRoot(`${what} belongs to somebody else: refused, and nothing is written`, async () => {
      const home = temporaryHome();
      home.put(home.settings, "{}");
      spoil(home);
      const path = what === "a link on the way" ? home.at(".claude", "local.json") : home.settings;
      expect(() => resolveOwnedPath(path, home.home)).toThrow("belongs to user 65534, not to you (0)");
      if (path === home.settings) await expect(home.install()).rejects.toThrow("without sudo");
      expect(readFileSync(path, "utf8")).toBe("{}");
      expect(existsSync(home.places.state)).toBe(false);
    });
  }

  testAsRoot("folders of root's above the home are everybody's way", async () => {
    const home = temporaryHome();
    home.put(home.settings, "{}");
    for (const path of [home.home, home.at(".claude"), home.settings]) chownSync(path, stranger, stranger);
    expect(resolveOwnedPath(home.settings, home.home, stranger).target).toBe(home.settings);
  });

  testAsRoot("a file of root's in a folder of ours is not ours", async () => {
    const home = temporaryHome();
    home.put(home.settings, "{}");
    for (const path of [home.home, home.at(".claude")]) chownSync(path, stranger, stranger);
    expect(() => resolveOwnedPath(home.settings, home.home, stranger)).toThrow(
      "belongs to user 0, not to you (65534)",
    );
  });

  test("one with .. in its links is followed as the system does", () => {
    const home = temporaryHome();
    home.put(home.at("real", "deep", "settings.json"), "{}");
    mkdirSync(home.at(".claude"));
    symlinkSync(home.at("real", "deep"), home.at("short"));
    symlinkSync("../short/../deep/settings.json", home.settings);
    expect(resolveOwnedPath(home.settings, home.home).target).toBe(home.at("real", "deep", "settings.json"));
  });
});

const testOnSmallDisk = testWith("root", "linux", "mount");

testOnSmallDisk("on a full disk the old file stays whole, and the person is told", async () => {
  await withTmpfs("128k", async (folder) => {
    const home = homeAt(folder);
    home.put(home.settings, `{"notes":"${"n".repeat(40_000)}"}`);
    const options = home.options();
    const before = home.read();
    writeFileSync(home.at("filler"), "x".repeat(60_000));
    await expect(home.install(options)).rejects.toThrow(/disk is full|ENOSPC/);
    expect(home.read()).toBe(before);
    expect(readdirSync(home.at(".claude"))).toEqual(["settings.json"]);
    expect(home.installed()).toBeNull();
    expect(home.backups()).toEqual([]);
  });
});

testOnSmallDisk("on a read-only disk nothing is tried, and the person is told", async () => {
  await withTmpfs("256k", async (folder) => {
    const home = homeAt(folder);
    home.put(home.settings, "{}");
    const options = home.options();
    makeReadOnly(folder);
    await expect(home.install(options)).rejects.toThrow("the disk is read-only (EROFS)");
  });
});

testOnSmallDisk(
  "a file that is mounted by itself cannot be replaced: it stays, and the person is told",
  async () => {
    const home = temporaryHome();
    home.put(home.settings, "{}");
    const mounted = Bun.spawnSync(["mount", "--bind", home.settings, home.settings]);
    try {
      expect(mounted.exitCode).toBe(0);
      await expect(home.install()).rejects.toThrow("it is a mount point (EBUSY)");
      expect(home.read()).toBe("{}");
      expect(home.installed()).toBeNull();
      expect(readdirSync(home.at(".claude"))).toEqual(["settings.json"]);
    } finally {
      Bun.spawnSync(["umount", "-l", home.settings]);
    }
  },
);
