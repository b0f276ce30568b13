import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ArchivedFile, encodeTar, encodeZip } from "../../src/release/archive.ts";
import { testWith } from "../needs.ts";

const seconds = Date.UTC(2026, 10, 18, 5, 30, 42) / 1000;
const files: readonly ArchivedFile[] = [
  { path: "beckon-linux-x64/man/beckon.1", bytes: Buffer.from("manual") },
  { path: "beckon-linux-x64/beckon", bytes: Buffer.alloc(70_000, "program"), isExecutable: true },
  { path: "beckon-linux-x64/empty", bytes: Buffer.alloc(0) },
];

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "beckon-archive-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const run = (...command: string[]): string => {
  const { stdout, stderr, exitCode } = Bun.spawnSync(command, {
    cwd: folder,
    env: { ...process.env, TZ: "UTC" },
  });
  expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: "" });
  return stdout.toString();
};

function expectFiles(): void {
  for (const { path, bytes, isExecutable = false } of files) {
    const full = join(folder, path);
    expect(readFileSync(full).equals(bytes)).toBe(true);
    expect((statSync(full).mode & 0o111) !== 0).toBe(isExecutable);
    expect(statSync(full).mtimeMs / 1000).toBe(seconds);
  }
}

describe("an archive", () => {
  testWith("tar")("of tar unpacks to the same files, sorted and owned by root", async () => {
    writeFileSync(join(folder, "a.tar"), encodeTar(files, seconds));
    expect(run("tar", "--list", "--verbose", "--numeric-owner", "-f", "a.tar")).toBe(
      [
        "-rwxr-xr-x 0/0           70000 2026-11-18 05:30 beckon-linux-x64/beckon",
        "-rw-r--r-- 0/0               0 2026-11-18 05:30 beckon-linux-x64/empty",
        "-rw-r--r-- 0/0               6 2026-11-18 05:30 beckon-linux-x64/man/beckon.1",
        "",
      ].join("\n"),
    );
    run("tar", "-xf", "a.tar");
    expectFiles();
  });

  testWith("busybox")("of tar unpacks with busybox too", async () => {
    writeFileSync(join(folder, "a.tar"), encodeTar(files, seconds));
    run("busybox", "tar", "-xf", "a.tar");
    expectFiles();
  });

  testWith("unzip")("of zip passes the check of unzip, and unpacks to the same files", async () => {
    writeFileSync(join(folder, "a.zip"), encodeZip(files, seconds, 9));
    expect(run("unzip", "-t", "a.zip")).toContain("No errors detected");
    run("unzip", "-q", "a.zip");
    expectFiles();
  });

  test("has the same bytes whatever the order of the files", () => {
    const reversed = files.toReversed();
    expect(encodeTar(reversed, seconds).equals(encodeTar(files, seconds))).toBe(true);
    expect(encodeZip(reversed, seconds, 9).equals(encodeZip(files, seconds, 9))).toBe(true);
  });

  test("refuses a path that tar would cut", () => {
    expect(() => encodeTar([{ path: "x".repeat(101), bytes: Buffer.alloc(0) }], 0)).toThrow(
      "too long for ustar",
    );
  });
});
