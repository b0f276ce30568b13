import { expect, test } from "bun:test";
import { limits } from "../../src/core/limits.ts";
import { exec } from "../../src/system/exec.ts";

test("a program is run by its arguments, and no shell sees them", async () => {
  expect(await exec(["printf", "%s|", "a b", "$(id)", "; x", "*"])).toEqual({
    code: 0,
    stdout: "a b|$(id)|; x|*|",
    stderr: "",
  });
});

test("its code, its complaint, its input and its variables", async () => {
  expect(await exec(["sh", "-c", "echo no >&2; exit 3"])).toEqual({ code: 3, stdout: "", stderr: "no\n" });
  expect((await exec(["cat"], { input: "hello" })).stdout).toBe("hello");
  expect((await exec(["sh", "-c", "echo $SHADE"], { env: { SHADE: "blue" } })).stdout).toBe("blue\n");
  expect((await exec(["true"], { input: "x".repeat(1_000_000) })).code).toBe(0);
});

test("a program that is not there has no code", async () => {
  const ran = await exec(["no-such-program-anywhere"]);
  expect(ran.code).toBeNull();
  expect(ran.stderr).toContain("no-such-program-anywhere");
});

test("one that takes too long is ended", async () => {
  const started = performance.now();
  const ran = await exec(["sh", "-c", "echo begun; exec sleep 60"], { timeoutMs: 300 });
  expect(ran).toEqual({ code: null, stdout: "begun\n", stderr: "stopped after 300 ms" });
  expect(performance.now() - started).toBeLessThan(10_000);
});

test("one that leaves something running that keeps its output open is not waited for", async () => {
  const started = performance.now();
  const ran = await exec(["sh", "-c", "sleep 60 & echo $!"], { timeoutMs: 30_000 });
  process.kill(Number(ran.stdout), "SIGKILL");
  expect(ran.code).toBe(0);
  expect(performance.now() - started).toBeLessThan(10_000);
});

test("one that never stops talking is cut short", async () => {
  const ran = await exec(["yes"], { timeoutMs: 30_000 });
  expect(ran.code).toBeNull();
  expect(ran.stdout.length).toBe(limits.maxCommandOutputBytes);
});
