import { afterAll, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { ensurePrivateFolder, writePrivateFile } from "../../src/storage/files.ts";
import { loadOrCreateToken, removeEndpoint, writeEndpoint } from "../../src/system/endpoint.ts";
import { testWith } from "../needs.ts";
import { modeOf, removeTemporaryFolders, temporaryFolder, temporaryPaths } from "./folder.ts";

afterAll(removeTemporaryFolders);

const nobody = 65_534;

test("the state folder is made with its parents, for its owner only", () => {
  const folder = join(temporaryFolder(), "a", "b");
  ensurePrivateFolder(folder);
  expect(modeOf(folder)).toBe("700");
});

test("a state folder that others could enter is closed", () => {
  const folder = temporaryFolder();
  chmodSync(folder, 0o777);
  ensurePrivateFolder(folder);
  expect(modeOf(folder)).toBe("700");
});

testWith("root")("a folder that belongs to someone else is refused and left as it is", async () => {
  const folder = join(temporaryFolder(), "theirs");
  mkdirSync(folder, { mode: 0o777 });
  chmodSync(folder, 0o777);
  chownSync(folder, nobody, nobody);
  expect(() => ensurePrivateFolder(folder)).toThrow(
    /belongs to user 65534, not to you \(0\).*Set BECKON_HOME/,
  );
  expect(modeOf(folder)).toBe("777");
});

testWith("root")("a link into someone else's folder, and someone else's link, are refused", async () => {
  const parent = temporaryFolder();
  const [theirs, mine] = [join(parent, "theirs"), join(parent, "mine")];
  mkdirSync(theirs);
  mkdirSync(mine);
  chownSync(theirs, nobody, nobody);
  const toTheirs = join(parent, "to-theirs");
  symlinkSync(theirs, toTheirs);
  expect(() => ensurePrivateFolder(toTheirs)).toThrow(/belongs to user 65534/);
  const theirLink = join(parent, "their-link");
  symlinkSync(mine, theirLink);
  lchownSync(theirLink, nobody, nobody);
  expect(() => ensurePrivateFolder(theirLink)).toThrow(/is a link that belongs to user 65534/);
});

test("a link of one's own to a folder of one's own is fine", () => {
  const parent = temporaryFolder();
  mkdirSync(join(parent, "real"));
  symlinkSync(join(parent, "real"), join(parent, "link"));
  ensurePrivateFolder(join(parent, "link"));
  expect(modeOf(join(parent, "real"))).toBe("700");
});

test("a file where the folder should be is an error that says what to do", () => {
  const file = join(temporaryFolder(), "file");
  writeFileSync(file, "");
  expect(() => ensurePrivateFolder(file)).toThrow(/cannot create the folder .*\(EEXIST\).*BECKON_HOME/);
});

test("what a killed process left half-written is cleared away, and nothing else", () => {
  const folder = temporaryFolder();
  for (const name of ["snapshot.json.77.tmp", "endpoint.json.78.tmp", "mine.tmp"])
    writeFileSync(join(folder, name), "");
  const longAgo = Date.now() / 1000 - 3600;
  utimesSync(join(folder, "snapshot.json.77.tmp"), longAgo, longAgo);
  utimesSync(join(folder, "mine.tmp"), longAgo, longAgo);
  ensurePrivateFolder(folder);
  expect(readdirSync(folder).sort()).toEqual(["endpoint.json.78.tmp", "mine.tmp"]);
});

test("a private file is replaced whole, readable by its owner only, and leaves nothing beside it", () => {
  const file = join(temporaryFolder(), "f");
  writeFileSync(file, "old", { mode: 0o644 });
  writePrivateFile(file, "new ☂");
  expect(readFileSync(file, "utf8")).toBe("new ☂");
  expect(modeOf(file)).toBe("600");
  expect(readdirSync(join(file, ".."))).toEqual(["f"]);
});

test("if the last step fails, the old file is still there and no half one beside it", () => {
  const file = join(temporaryFolder(), "f");
  writePrivateFile(file, "old");
  const fail = () => {
    throw new Error("killed here");
  };
  expect(() => writePrivateFile(file, "new", fail)).toThrow("killed here");
  expect(readFileSync(file, "utf8")).toBe("old");
  expect(readdirSync(join(file, ".."))).toEqual(["f"]);
});

test("the token is 32 random bytes in a header line that only its owner can read, and stays the same", () => {
  const paths = temporaryPaths();
  const token = loadOrCreateToken(paths);
  expect(Buffer.from(token, "base64url")).toHaveLength(32);
  expect(readFileSync(paths.authHeader, "utf8")).toBe(`Authorization: Bearer ${token}\n`);
  expect(modeOf(paths.authHeader)).toBe("600");
  expect(modeOf(paths.state)).toBe("700");
  expect(loadOrCreateToken(paths)).toBe(token);
  expect(loadOrCreateToken(temporaryPaths())).not.toBe(token);
});

test("a token file that others could read is closed again, with the same token", () => {
  const paths = temporaryPaths();
  const token = loadOrCreateToken(paths);
  chmodSync(paths.authHeader, 0o644);
  expect(loadOrCreateToken(paths)).toBe(token);
  expect(modeOf(paths.authHeader)).toBe("600");
});

test.each([
  ["empty", ""],
  ["too short", "Authorization: Bearer abc\n"],
  ["of two lines", `Authorization: Bearer ${"a".repeat(43)}\nX-Other: 1\n`],
  ["not a bearer token", `Authorization: Basic ${"a".repeat(43)}\n`],
  ["huge", "Authorization: Bearer ".padEnd(100_000, "a")],
])("a token file that is %s is replaced", (_, text) => {
  const paths = temporaryPaths();
  ensurePrivateFolder(paths.state);
  writeFileSync(paths.authHeader, text);
  const token = loadOrCreateToken(paths);
  expect(token).toMatch(/^[\w-]{43}$/);
  expect(readFileSync(paths.authHeader, "utf8")).toBe(`Authorization: Bearer ${token}\n`);
});

test("a token file that is a link is replaced by a file, and what it pointed to is not touched", () => {
  const paths = temporaryPaths();
  ensurePrivateFolder(paths.state);
  const elsewhere = join(temporaryFolder(), "elsewhere");
  const text = `Authorization: Bearer ${"a".repeat(43)}\n`;
  writeFileSync(elsewhere, text);
  symlinkSync(elsewhere, paths.authHeader);
  expect(loadOrCreateToken(paths)).not.toBe("a".repeat(43));
  expect(lstatSync(paths.authHeader).isFile()).toBe(true);
  expect(readFileSync(elsewhere, "utf8")).toBe(text);
});

test("the endpoint is written for its owner, and removed only by the beckon that wrote it", () => {
  const paths = temporaryPaths();
  ensurePrivateFolder(paths.state);
  const endpoint = { url: "http://127.0.0.1:4488", pid: 12, key: "k" };
  writeEndpoint(paths, endpoint);
  expect(JSON.parse(readFileSync(paths.endpoint, "utf8"))).toEqual(endpoint);
  expect(modeOf(paths.endpoint)).toBe("600");
  removeEndpoint(paths, 13);
  expect(existsSync(paths.endpoint)).toBe(true);
  removeEndpoint(paths, 12);
  expect(existsSync(paths.endpoint)).toBe(false);
  removeEndpoint(paths, 12);
});
