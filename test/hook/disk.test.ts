import { describe, expect, test } from "bun:test";
import { chownSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { limits } from "../../src/core/limits.ts";
import { timing } from "../../src/core/timing.ts";
import { splitGluedLines } from "../../src/storage/spool-lines.ts";
import { forEachTest } from "../for-each-test.ts";
import { testWith } from "../needs.ts";
import {
  beckonHook,
  createHarness,
  environment,
  event,
  expectNoOutput,
  parseEnvelope,
  run,
  unusualFiles,
} from "./harness.ts";

const harness = forEachTest(createHarness);

describe("the disk fails", () => {
  test("a folder that cannot be created is reported on stderr, and the hook exits with 0", async () => {
    harness.write("file", "");
    const result = await run(beckonHook, environment(harness.inHome("file/home")), JSON.stringify(event));
    expectNoOutput(result);
    expect(result.stderr).toContain("could not write the spool");
  });

  testWith("linux", "root")(
    "a disk with room for half an event, and a read-only disk, lose the event with a message",
    async () => {
      const mount = (...args: string[]) => Bun.spawnSync(["mount", ...args]).exitCode;
      expect(mount("-t", "tmpfs", "-o", "size=64k", "tmpfs", harness.home)).toBe(0);
      try {
        const result = await harness.forward(JSON.stringify({ ...event, prompt: "x".repeat(200_000) }));
        expectNoOutput(result);
        expect(result.stderr).toContain("bytes fitted into the spool");
        const onFull = await harness.forward(JSON.stringify(event));
        expectNoOutput(onFull);
        expect(onFull.stderr).toMatch(/could not write the spool \(ENOSPC.*event lost/);
        expect(mount("-o", "remount,size=1m", harness.home)).toBe(0);
        expectNoOutput(await harness.forward(JSON.stringify(event)));
        // The second event follows the first half of the first one, on the same line.
        expect(parseEnvelope(splitGluedLines(harness.spool().at(-1) ?? "").at(-1)?.text).payload).toEqual(
          event,
        );
        expect(mount("-o", "remount,ro", harness.home)).toBe(0);
        const onReadOnly = await harness.forward(JSON.stringify(event));
        expectNoOutput(onReadOnly);
        expect(onReadOnly.stderr).toContain("EROFS");
      } finally {
        Bun.spawnSync(["umount", harness.home]);
      }
    },
  );

  test("the log keeps its newer half when it is full", async () => {
    harness.write("hook.log", `${"old line\n".repeat(40_000)}newer line\n`);
    await harness.forward("no JSON");
    expect(harness.log().length).toBeWithin(limits.maxHookLogBytes / 2, limits.maxHookLogBytes);
    expect(harness.log()).toStartWith("old line\n");
    expect(harness.log()).toMatch(/newer line\n[^\n]+stdin is not a JSON object[^\n]+\n$/);
  });
});

describe("something else is in the place of a file", () => {
  const maxMs = timing.hookTotalTimeoutMs + 600;

  for (const [what, put] of Object.entries(unusualFiles)) {
    for (const name of ["endpoint.json", "auth-header"]) {
      testWith("linux")(`${what} as ${name}: the event is spooled at once`, async () => {
        harness.listener((socket) => void socket.write("HTTP/1.1 401 Unauthorized\r\n\r\n"));
        rmSync(harness.inHome(name));
        put(harness.inHome(name));
        const result = await harness.forward(JSON.stringify(event));
        expectNoOutput(result);
        expect(result.ms).toBeLessThan(maxMs);
        expect(harness.spool()).toHaveLength(1);
      });
    }

    testWith("linux")(`${what} as spool.jsonl and hook.log is reported on stderr at once`, async () => {
      put(harness.inHome("spool.jsonl"));
      put(harness.inHome("hook.log"));
      const result = await harness.forward(JSON.stringify(event));
      expectNoOutput(result);
      expect(result.ms).toBeLessThan(maxMs);
      expect(result.stderr).toMatch(/has renamed it to spool.jsonl.set-aside|spool is full/);
      // A log that is far too long is emptied: only the new line is left.
      if (what.startsWith("a hole")) expect(harness.log()).toMatch(/^\d[^\n]+spool is full[^\n]+\n$/);
    });
  }

  test("a disk that hangs does not keep the agent waiting: the event is spooled", async () => {
    const source = `
      const file = Bun.file;
      Bun.file = (path) => String(path).endsWith("endpoint.json")
        ? { stat: () => new Promise(() => {}) } : file(path);
      await import("${beckonHook[1]}");`;
    const result = await run(
      [process.execPath, "-e", source],
      environment(harness.home),
      JSON.stringify(event),
    );
    expectNoOutput(result);
    expect(result.ms).toBeWithin(timing.hookTotalTimeoutMs - 50, maxMs);
    expect(result.stderr).toContain(`not done ${timing.hookTotalTimeoutMs} ms after the event was read`);
    expect(harness.spool()).toHaveLength(1);
  });

  test.each([
    ["a link", symlinkSync],
    ["a hard link", linkSync],
    ["a pipe", (_: string, path: string) => Bun.spawnSync(["mkfifo", path])],
    ["a folder", (_: string, path: string) => mkdirSync(path)],
  ] as const)(
    "nothing is written to %s: it is renamed or copied, and the event is kept",
    async (_, replace) => {
      harness.write("precious", "");
      for (const name of ["spool.jsonl", "hook.log"])
        replace(harness.inHome("precious"), harness.inHome(name));
      const result = await harness.forward(JSON.stringify(event));
      expectNoOutput(result);
      expect(result.stderr).toMatch(/spool\.jsonl (is a (link|pipe|folder)|had a second name)/);
      expect(readFileSync(harness.inHome("precious"), "utf8")).toBe("");
      expect(harness.spool().map((line) => parseEnvelope(line).payload)).toEqual([event]);
      expect(harness.log()).toContain("spool.jsonl");
    },
  );

  testWith("linux", "root")("nothing is written to another user's folder or file", async () => {
    chownSync(harness.home, 65_534, 65_534);
    const inFolder = await harness.forward(JSON.stringify(event));
    expectNoOutput(inFolder);
    expect(inFolder.stderr).toContain(`${harness.home} belongs to user 65534`);
    expect(readdirSync(harness.home)).toEqual([]);
    chownSync(harness.home, 0, 0);
    harness.write("spool.jsonl", "");
    chownSync(harness.inHome("spool.jsonl"), 65_534, 65_534);
    expectNoOutput(await harness.forward(JSON.stringify(event)));
    expect(harness.spool()).toHaveLength(1);
    expect(harness.log()).toContain("spool.jsonl belongs to user 65534");
  });

  test("control characters are escaped in the log", async () => {
    harness.receiver(503);
    const session_id = "s\u001b[31m\u009b2J\u0085\t\u007f";
    const result = await harness.forward(JSON.stringify({ ...event, session_id }));
    expectNoOutput(result);
    expect(harness.log()).toContain("\ts\\u001b[31m\\u009b2J\\u0085\\t\\u007f\tbeckon answered 503");
  });
});
