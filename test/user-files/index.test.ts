/** A settings file that other programs write too, and disks that fail. */
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
import { withFileLock } from "../../src/user-files/file-lock.ts";
import { listOwnHooks } from "../../src/user-files/hooks.ts";
import { rewriteSettings } from "../../src/user-files/index.ts";
import { resolveOwnedPath } from "../../src/user-files/owned-path.ts";
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
  test("at the worst moment loses nothing, and neither does beckon", async () => {
    const home = temporaryHome();
    home.put(home.settings, '{"model":"opus"}');
    let times = 0;
    const beforeCompare = () => {
      if (times++ < 3) home.put(home.settings, JSON.stringify({ model: "opus", times }));
    };
    await home.install({ rewrite: { beforeCompare } });
    expect(JSON.parse(home.read())).toMatchObject({ model: "opus", times: 3 });
    expect(listOwnHooks(home.read()).length).toBeGreaterThan(5);
    // The undone attempt left no trace.
    expect(home.backups()).toHaveLength(1);
    expect(await home.uninstall()).toBe("restored");
    expect(JSON.parse(home.read())).toEqual({ model: "opus", times: 3 });
  });

  test("creates the file meanwhile: nothing is lost", async () => {
    const home = temporaryHome();
    let isDone = false;
    const beforeCompare = () => {
      if (!isDone) home.put(home.settings, '{"model":"opus"}');
      isDone = true;
    };
    await home.install({ rewrite: { beforeCompare } });
    expect(JSON.parse(home.read())).toMatchObject({ model: "opus" });
    expect(await home.uninstall()).toBe("restored");
    expect(home.read()).toBe('{"model":"opus"}');
  });

  test("never stops: the error says so, and beckon changes nothing", async () => {
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

  test("empties it first: beckon waits for the new text", async () => {
    const home = temporaryHome();
    home.put(home.settings, '{"a": [1, ');
    const installing = home.install();
    home.put(home.settings, '{"a": [1, 2]}');
    await installing;
    expect(JSON.parse(home.read())).toMatchObject({ a: [1, 2] });
  });
});

describe("two beckons at once", () => {
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
      Bun.spawn([process.execPath, writer, home.settings, home.home, `p${n}`, "20", "50000"], {
        stderr: "pipe",
      }),
    );
    const complaints = await Promise.all(children.map((child) => child.stderr.text()));
    expect(complaints.join("")).toBe("");
    expect(Object.keys(JSON.parse(home.read()))).toHaveLength(200);
    expect(readdirSync(dirname(home.settings))).toEqual(["settings.json"]);
  }, 60_000);

  test("one hangs: the other gives up with an error", async () => {
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

  test("a wait longer than the limit is not an error while the lock passes from one process to the next", async () => {
    const home = temporaryHome();
    const writer = join(import.meta.dir, "..", "fixtures", "settings-writer.ts");
    const spawn = (name: string) =>
      Bun.spawn([process.execPath, writer, home.settings, home.home, name, "1", "300", "100"], {
        stderr: "pipe",
      });
    const children = Array.from({ length: 6 }, (_, n) => spawn(`p${n}`));
    const complaints = await Promise.all(children.map((child) => child.stderr.text()));
    expect(complaints.join("")).toBe("");
    expect(Object.keys(JSON.parse(home.read()))).toHaveLength(6);
  });

  test("an action that fails releases the lock", async () => {
    const home = temporaryHome();
    const fail = withFileLock(home.at("x"), () => Promise.reject(new Error("no")));
    await expect(fail).rejects.toThrow("no");
    expect(await withFileLock(home.at("x"), () => 7)).toBe(7);
    expect(existsSync(home.at("x.beckon-lock"))).toBe(false);
  });
});

const testAsRoot = testWith("root", "linux");
const otherUser = 65_534;

describe("a path that another user could lead elsewhere", () => {
  const refused: [string, (home: ReturnType<typeof temporaryHome>) => void][] = [
    ["the file", ({ settings }) => chownSync(settings, otherUser, otherUser)],
    ["its folder", ({ at }) => chownSync(at(".claude"), otherUser, otherUser)],
    ["the home itself", ({ home }) => chownSync(home, otherUser, otherUser)],
    [
      "a link on the way",
      ({ at, put }) => {
        put(at("dot", "settings.json"), "{}");
        symlinkSync(at("dot"), at("link"));
        lchownSync(at("link"), otherUser, otherUser);
        symlinkSync(at("link", "settings.json"), at(".claude", "local.json"));
      },
    ],
  ];
  for (const [what, spoil] of refused) {
    testAsRoot(`${what} belongs to another user: refused, and nothing is written`, async () => {
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

  testAsRoot("folders above the home folder may belong to root", async () => {
    const home = temporaryHome();
    home.put(home.settings, "{}");
    for (const path of [home.home, home.at(".claude"), home.settings]) chownSync(path, otherUser, otherUser);
    expect(resolveOwnedPath(home.settings, home.home, otherUser).target).toBe(home.settings);
  });

  testAsRoot("a file of root in the user's folder is refused", async () => {
    const home = temporaryHome();
    home.put(home.settings, "{}");
    for (const path of [home.home, home.at(".claude")]) chownSync(path, otherUser, otherUser);
    expect(() => resolveOwnedPath(home.settings, home.home, otherUser)).toThrow(
      "belongs to user 0, not to you (65534)",
    );
  });

  test("links with .. are followed as the system does", () => {
    const home = temporaryHome();
    home.put(home.at("real", "deep", "settings.json"), "{}");
    mkdirSync(home.at(".claude"));
    symlinkSync(home.at("real", "deep"), home.at("short"));
    symlinkSync("../short/../deep/settings.json", home.settings);
    expect(resolveOwnedPath(home.settings, home.home).target).toBe(home.at("real", "deep", "settings.json"));
  });
});

const testOnSmallDisk = testWith("root", "linux", "mount");

testOnSmallDisk("a full disk is an error, and the file stays whole", async () => {
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

testOnSmallDisk("a read-only disk is an error", async () => {
  await withTmpfs("256k", async (folder) => {
    const home = homeAt(folder);
    home.put(home.settings, "{}");
    const options = home.options();
    makeReadOnly(folder);
    await expect(home.install(options)).rejects.toThrow("the disk is read-only (EROFS)");
  });
});

testOnSmallDisk("a file that is a mount point is not replaced, and the error says why", async () => {
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
});
