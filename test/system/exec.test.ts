import { expect, test } from "bun:test";
import { limits } from "../../src/core/limits.ts";
import { exec } from "../../src/system/exec.ts";

test("arguments reach the program as they are, without a shell", async () => {
  expect(await exec(["printf", "%s|", "a b", "$(id)", "; x", "*"])).toEqual({
    code: 0,
    stdout: "a b|$(id)|; x|*|",
    stderr: "",
  });
});

test("exit code, stderr, input and variables are passed", async () => {
  expect(await exec(["sh", "-c", "echo no >&2; exit 3"])).toEqual({ code: 3, stdout: "", stderr: "no\n" });
  expect((await exec(["cat"], { input: "hello" })).stdout).toBe("hello");
  expect((await exec(["sh", "-c", "echo $SHADE"], { env: { SHADE: "blue" } })).stdout).toBe("blue\n");
  expect((await exec(["true"], { input: "x".repeat(1_000_000) })).code).toBe(0);
});

test("a program that does not exist has no exit code", async () => {
  const result = await exec(["no-such-program-anywhere"]);
  expect(result.code).toBeNull();
  expect(result.stderr).toContain("no-such-program-anywhere");
});

test("a program that takes too long is killed", async () => {
  const started = performance.now();
  const result = await exec(["sh", "-c", "echo begun; exec sleep 60"], { timeoutMs: 300 });
  expect(result).toEqual({ code: null, stdout: "begun\n", stderr: "stopped after 300 ms" });
  expect(performance.now() - started).toBeLessThan(10_000);
});

test("a program whose child keeps its output open is not waited for", async () => {
  const started = performance.now();
  const result = await exec(["sh", "-c", "sleep 60 & echo $!"], { timeoutMs: 30_000 });
  process.kill(Number(result.stdout), "SIGKILL");
  expect(result.code).toBe(0);
  expect(performance.now() - started).toBeLessThan(10_000);
});

test("a program with too much output is killed", async () => {
  const result = await exec(["yes"], { timeoutMs: 30_000 });
  expect(result.code).toBeNull();
  expect(result.stdout.length).toBe(limits.maxCommandOutputBytes);
});
