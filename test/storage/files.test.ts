import { afterAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import {
  ensureOwnFolder,
  ensurePrivateFolder,
  readSmallFile,
  writePrivateFile,
} from "../../src/storage/files.ts";
import { testWith } from "../needs.ts";
import { readMode, removeTemporaryFolders, temporaryFolder } from "./folder.ts";

afterAll(removeTemporaryFolders);

const otherUser = 65_534;

test("the state folder is created with its parents, and only its owner can enter it", () => {
  const folder = join(temporaryFolder(), "a", "b");
  ensurePrivateFolder(folder);
  expect(readMode(folder)).toBe("700");
});

test("a state folder that others could enter is made private", () => {
  const folder = temporaryFolder();
  chmodSync(folder, 0o777);
  ensurePrivateFolder(folder);
  expect(readMode(folder)).toBe("700");
});

testWith("root")("a folder of another user is refused and not changed", async () => {
  const folder = join(temporaryFolder(), "theirs");
  mkdirSync(folder, { mode: 0o777 });
  chmodSync(folder, 0o777);
  chownSync(folder, otherUser, otherUser);
  expect(() => ensurePrivateFolder(folder)).toThrow(
    /belongs to user 65534, not to you \(0\).*Set BECKON_HOME/,
  );
  expect(readMode(folder)).toBe("777");
});

testWith("root")("a link to another user's folder, and a link of another user, are refused", async () => {
  const parent = temporaryFolder();
  const [theirs, mine] = [join(parent, "theirs"), join(parent, "mine")];
  mkdirSync(theirs);
  mkdirSync(mine);
  chownSync(theirs, otherUser, otherUser);
  const toTheirs = join(parent, "to-theirs");
  symlinkSync(theirs, toTheirs);
  expect(() => ensurePrivateFolder(toTheirs)).toThrow(/belongs to user 65534/);
  const theirLink = join(parent, "their-link");
  symlinkSync(mine, theirLink);
  lchownSync(theirLink, otherUser, otherUser);
  expect(() => ensurePrivateFolder(theirLink)).toThrow(/is a link that belongs to user 65534/);
});

test("a link of the user to a folder of the user is accepted", () => {
  const parent = temporaryFolder();
  mkdirSync(join(parent, "real"));
  symlinkSync(join(parent, "real"), join(parent, "link"));
  ensurePrivateFolder(join(parent, "link"));
  expect(readMode(join(parent, "real"))).toBe("700");
});

test("a link in place of a folder inside the state folder is an error, and its target is left alone", () => {
  const parent = temporaryFolder();
  mkdirSync(join(parent, "real"), { mode: 0o755 });
  symlinkSync(join(parent, "real"), join(parent, "helpers"));
  expect(() => ensureOwnFolder(join(parent, "helpers"))).toThrow(/helpers is a link.*Move it away/);
  expect(readMode(join(parent, "real"))).toBe("755");
});

test("a file in place of the folder is an error that says what to do", () => {
  const file = join(temporaryFolder(), "file");
  writeFileSync(file, "");
  expect(() => ensurePrivateFolder(file)).toThrow(/cannot create the folder .*\(EEXIST\).*BECKON_HOME/);
});

test("temporary files of a killed process are removed, and nothing else", () => {
  const folder = temporaryFolder();
  for (const name of ["snapshot.json.77.tmp", "endpoint.json.78.tmp", "mine.tmp"])
    writeFileSync(join(folder, name), "");
  const longAgo = Date.now() / 1000 - 3600;
  utimesSync(join(folder, "snapshot.json.77.tmp"), longAgo, longAgo);
  utimesSync(join(folder, "mine.tmp"), longAgo, longAgo);
  ensurePrivateFolder(folder);
  expect(readdirSync(folder).sort()).toEqual(["endpoint.json.78.tmp", "mine.tmp"]);
});

test("a private file is replaced, readable only by its owner, and leaves no temporary file", () => {
  const file = join(temporaryFolder(), "f");
  writeFileSync(file, "old", { mode: 0o644 });
  writePrivateFile(file, "new ☂");
  expect(readFileSync(file, "utf8")).toBe("new ☂");
  expect(readMode(file)).toBe("600");
  expect(readdirSync(join(file, ".."))).toEqual(["f"]);
});

test("if the last step fails, the old file is still there and no temporary file is left", () => {
  const file = join(temporaryFolder(), "f");
  writePrivateFile(file, "old");
  const fail = () => {
    throw new Error("killed here");
  };
  expect(() => writePrivateFile(file, "new", { beforeRename: fail })).toThrow("killed here");
  expect(readFileSync(file, "utf8")).toBe("old");
  expect(readdirSync(join(file, ".."))).toEqual(["f"]);
});

describe("reading a small file", () => {
  const withCode = (code: string) => expect.objectContaining({ code });

  test("removes a byte order mark, and fails beyond the limit", () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "a"), "\ufeff{}");
    expect(readSmallFile(join(folder, "a"), 10)).toBe("{}");
    expect(() => readSmallFile(join(folder, "a"), 4)).toThrow(withCode("EFBIG"));
    expect(() => readSmallFile(join(folder, "none"), 4)).toThrow(withCode("ENOENT"));
  });

  test("fails at once for a pipe, a device, a folder and a circular link", () => {
    const folder = temporaryFolder();
    const path = (name: string) => join(folder, name);
    expect(Bun.spawnSync(["mkfifo", path("pipe")]).exitCode).toBe(0);
    symlinkSync("/dev/zero", path("zeros"));
    symlinkSync(path("loop"), path("loop"));
    mkdirSync(path("folder"));
    const started = performance.now();
    expect(() => readSmallFile(path("pipe"), 10)).toThrow(withCode("ENOTREG"));
    expect(() => readSmallFile(path("zeros"), 10)).toThrow(withCode("ENOTREG"));
    expect(() => readSmallFile(path("folder"), 10)).toThrow(withCode("EISDIR"));
    expect(() => readSmallFile(path("loop"), 10)).toThrow(withCode("ELOOP"));
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});
