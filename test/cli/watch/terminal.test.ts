/** `beckon status --watch` on a real terminal: what it writes, and how it leaves the terminal. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { timing } from "../../../src/core/timing.ts";
import { createAnswerFixture, createRequest, parseDecision } from "../../answers/fixture.ts";
import { forEachTest } from "../../for-each-test.ts";
import { letTimePass, waitUntil } from "../../wait-until.ts";

const crashingScreen = join(import.meta.dir, "../../fixtures/crashing-screen.ts");
const esc = "\u001b";
const enter = "\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[?2004h";
const leave = "\u001b[0m\u001b[?2004l\u001b[?7h\u001b[?25h\u001b[?1049l";

const fixture = forEachTest(createAnswerFixture);

/** `written` returns everything that was written to the terminal since the last call of `forget`. */
function onTerminal(command: string[], env: Record<string, string> = {}, cols = 80, rows = 24) {
  const chunks: Uint8Array[] = [];
  let start = 0;
  const child = Bun.spawn(command, {
    env: { ...fixture.env, TERM: "xterm-256color", ...env },
    terminal: { cols, rows, data: (_, bytes) => void chunks.push(new Uint8Array(bytes)) },
  });
  const all = () => Buffer.concat(chunks).toString();
  return {
    child,
    written: () => all().slice(start),
    forget() {
      start = all().length;
    },
    type: (text: string) => child.terminal?.write(text),
  };
}
const watch = (env: Record<string, string> = {}, cols = 80, rows = 24) =>
  onTerminal([...fixture.command, "status", "--watch"], { NO_COLOR: "1", ...env }, cols, rows);

const prompts = (id: string, project: string) =>
  fixture.postHook({
    session_id: id,
    hook_event_name: "UserPromptSubmit",
    prompt: "go",
    cwd: `/home/dev/${project}`,
  });

/** The rows that were written to. */
const rowsIn = (text: string): number[] =>
  [...text.matchAll(new RegExp(`${esc}\\[(\\d+);1H`, "g"))].map(([, row]) => Number(row));

describe("the terminal is as before", () => {
  test("after q", async () => {
    await fixture.start();
    const { child, written, type } = watch();
    await waitUntil(() => written().includes("No sessions."), 5_000);
    type("q");
    expect(await child.exited).toBe(0);
    expect(written()).toStartWith(enter);
    expect(written()).toEndWith(leave);
  });

  test.each(["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const)("after %s", async (signal) => {
    await fixture.start();
    const { child, written } = watch();
    await waitUntil(() => written().includes("No sessions."), 5_000);
    child.kill(signal);
    expect(await child.exited).toBe(0);
    expect(written()).toEndWith(leave);
  });

  test.each(["throw", "reject"])("after a crash (%s), and the error can be read", async (how) => {
    const { child, written } = onTerminal([process.execPath, crashingScreen, how]);
    expect(await child.exited).toBe(1);
    expect(written()).toStartWith(enter);
    expect(written()).toEndWith(`${leave}Error: an error that nobody catches`);
  });

  test("after an exit from somewhere inside", async () => {
    const { child, written } = onTerminal([process.execPath, crashingScreen, "exit"]);
    expect(await child.exited).toBe(3);
    expect(written()).toEndWith(leave);
  });
});

test("only the lines that change are written", async () => {
  await fixture.start();
  for (let n = 0; n < 10; n++) await prompts(`s-${n}`, `p-${n}`);
  const { child, written, forget, type } = watch();
  await waitUntil(() => written().includes("Enter go there"), 5_000);
  const clears = () => written().split("\u001b[2J").length - 1;
  const rows = () => rowsIn(written());
  forget();
  type("j");
  await waitUntil(() => rows().length > 0, 2_000);
  expect(clears()).toBe(0);
  // Neither the counts nor the keys.
  expect(rows().filter((row) => [1, 2, 24].includes(row))).toEqual([]);
  child.kill("SIGTERM");
  await child.exited;
});

test("shows what changes, and fits after a resize", async () => {
  await fixture.start();
  await prompts("s-1", "shop");
  const { child, written, forget } = watch();
  await waitUntil(() => written().includes("◐ 1 working"), 5_000);
  fixture.startHook(createRequest("s-1"));
  await waitUntil(() => written().includes("● 1 needs you"), 5_000);
  forget();
  child.terminal?.resize(40, 10);
  await waitUntil(() => rowsIn(written()).includes(10), 3_000);
  expect(Math.max(...rowsIn(written()))).toBe(10);
  child.kill("SIGTERM");
  await child.exited;
});

test("colours are written unless NO_COLOR is set", async () => {
  await fixture.start();
  await prompts("s-1", "shop");
  const plain = watch();
  await waitUntil(() => plain.written().includes("1 working"), 5_000);
  plain.child.kill("SIGTERM");
  await plain.child.exited;
  expect(plain.written().replace(leave, "")).not.toMatch(new RegExp(`${esc}\\[[\\d;]*m`));
  const coloured = watch({ NO_COLOR: "" });
  await waitUntil(() => coloured.written().includes("1 working"), 5_000);
  expect(coloured.written()).toContain("\u001b[38;5;29m◐\u001b[0m 1 working");
  coloured.child.kill("SIGTERM");
  await coloured.child.exited;
});

test("text of an agent cannot control the terminal", async () => {
  await fixture.start();
  const evil = "\u001b]0;owned\u0007\u001b[2J\u009b31mred\u202e";
  await fixture.postHook({
    session_id: "s-1",
    hook_event_name: "UserPromptSubmit",
    prompt: evil,
    cwd: `/home/${evil}`,
  });
  const hook = fixture.startHook(createRequest("s-2", { tool_input: { command: evil } }));
  await fixture.waitForAsk("s-2");
  const { child, written, type } = watch();
  await waitUntil(() => written().includes("q quit") && written().includes("red"), 5_000);
  type("a");
  await waitUntil(() => written().includes("y allow"), 5_000);
  child.kill("SIGTERM");
  await child.exited;
  expect(written()).not.toContain("\u001b]");
  expect(written()).not.toContain("\u009b");
  expect(written()).not.toContain("\u202e");
  expect(written()).not.toContain("\u0007");
  expect(written().split("\u001b[2J").length - 1).toBe(1);
  hook.signal("SIGKILL");
});

test("a on a harmless request allows it, and the hook prints that", async () => {
  await fixture.start();
  const hook = fixture.startHook(createRequest("s-1"));
  await fixture.waitForAsk("s-1");
  const { child, written, type } = watch();
  await waitUntil(() => written().includes("  npm test"), 5_000);
  type("a");
  // If the request has just appeared, it is opened in full first.
  await waitUntil(() => written().includes("Allowed in") || written().includes("y allow"), 5_000);
  await letTimePass(timing.minReadMs, "a key right after it has opened does not count");
  if (!written().includes("Allowed in")) type("y");
  expect(parseDecision(await hook.printed)).toEqual({ behavior: "allow" });
  type("q");
  expect(await child.exited).toBe(0);
  expect(fixture.read(fixture.paths.answerLog)).toContain('"by":"command line"');
});

test("in a pipe it prints the list each time that it changes", async () => {
  await fixture.start();
  await prompts("s-1", "shop");
  const child = fixture.spawnBeckon(["status", "--watch"]);
  const lines: string[] = [];
  (async () => {
    for await (const bytes of child.stdout) lines.push(Buffer.from(bytes).toString());
  })();
  await waitUntil(() => lines.join("").includes("◐ 1 working"), 5_000);
  expect(lines.join("")).not.toContain("\u001b");
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
});
