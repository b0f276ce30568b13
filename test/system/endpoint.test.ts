import { afterAll, expect, test } from "bun:test";
import { chmodSync, existsSync, lstatSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ensurePrivateFolder } from "../../src/storage/files.ts";
import { loadOrCreateToken, readEndpoint, removeEndpoint, writeEndpoint } from "../../src/system/endpoint.ts";
import { readStartTime } from "../../src/system/processes.ts";
import { testWith } from "../needs.ts";
import { readMode, removeTemporaryFolders, temporaryFolder, temporaryPaths } from "../storage/folder.ts";

afterAll(removeTemporaryFolders);

test("the token is 32 random bytes in a header line that only its owner can read, and stays the same", () => {
  const paths = temporaryPaths();
  const token = loadOrCreateToken(paths);
  expect(Buffer.from(token, "base64url")).toHaveLength(32);
  expect(readFileSync(paths.authHeader, "utf8")).toBe(`Authorization: Bearer ${token}\n`);
  expect(readMode(paths.authHeader)).toBe("600");
  expect(readMode(paths.state)).toBe("700");
  expect(loadOrCreateToken(paths)).toBe(token);
  expect(loadOrCreateToken(temporaryPaths())).not.toBe(token);
});

test("a token file that others could read is made private, and the token stays the same", () => {
  const paths = temporaryPaths();
  const token = loadOrCreateToken(paths);
  chmodSync(paths.authHeader, 0o644);
  expect(loadOrCreateToken(paths)).toBe(token);
  expect(readMode(paths.authHeader)).toBe("600");
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

test("a token file that is a link is replaced by a file, and the target of the link is not changed", () => {
  const paths = temporaryPaths();
  ensurePrivateFolder(paths.state);
  const target = join(temporaryFolder(), "target");
  const text = `Authorization: Bearer ${"a".repeat(43)}\n`;
  writeFileSync(target, text);
  symlinkSync(target, paths.authHeader);
  expect(loadOrCreateToken(paths)).not.toBe("a".repeat(43));
  expect(lstatSync(paths.authHeader).isFile()).toBe(true);
  expect(readFileSync(target, "utf8")).toBe(text);
});

test("the endpoint is readable only by its owner, and removed only by the beckon that wrote it", () => {
  const paths = temporaryPaths();
  ensurePrivateFolder(paths.state);
  const endpoint = { url: "http://127.0.0.1:4488", pid: 12, key: "k" };
  writeEndpoint(paths, endpoint);
  expect(JSON.parse(readFileSync(paths.endpoint, "utf8"))).toEqual(endpoint);
  expect(readMode(paths.endpoint)).toBe("600");
  removeEndpoint(paths, 13);
  expect(existsSync(paths.endpoint)).toBe(true);
  removeEndpoint(paths, 12);
  expect(existsSync(paths.endpoint)).toBe(false);
  removeEndpoint(paths, 12);
});

test("the endpoint of the running process is found", () => {
  const paths = temporaryPaths();
  ensurePrivateFolder(paths.state);
  expect(readEndpoint(paths)).toBeNull();
  const running = { url: "http://127.0.0.1:4488", pid: process.pid };
  writeEndpoint(paths, { ...running, key: "k" });
  expect(readEndpoint(paths)).toEqual(running);
});

testWith("linux")(
  "an endpoint that a crash left behind is ignored, even if its pid is in use again",
  async () => {
    const paths = temporaryPaths();
    ensurePrivateFolder(paths.state);
    const url = "http://127.0.0.1:4488";
    const start = readStartTime(process.pid);
    for (const [endpoint, isFound] of [
      [{ url, pid: process.pid, start }, true],
      [{ url, pid: process.pid, start: "1" }, false],
      [{ url, pid: process.pid, start, boot: "an earlier one" }, false],
      [{ url, pid: 2 ** 22 + 1 }, false],
      [{ url, pid: 0 }, false],
      [{ url, pid: "1" }, false],
      [{ pid: process.pid }, false],
      [null, false],
      ["text", false],
    ] as const) {
      writeFileSync(paths.endpoint, JSON.stringify(endpoint));
      expect(readEndpoint(paths) !== null).toBe(isFound);
    }
  },
);
