import { beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { createAnswerFixture, createRequest } from "../answers/fixture.ts";
import { forEachTest } from "../for-each-test.ts";
import { waitUntil } from "../wait-until.ts";

const fixture = forEachTest(createAnswerFixture);

const log = (...args: string[]) => logIn(100, ...args);

async function logIn(columns: number, ...args: string[]) {
  const child = fixture.spawn([...fixture.command, "log", ...args], { COLUMNS: String(columns) });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { out, err, code };
}
/** Without the time, and with one space where there are many. */
const plain = (out: string) =>
  out.split("\n").map((line) => line.replace(/^\d\d:\d\d\s+/, "").replace(/\s{2,}/g, " | "));

const stopped = "beckon is not running. Start it with: beckon start\n";

test("says so if nothing has happened yet", async () => {
  await fixture.start();
  expect(await log()).toEqual({ out: "Nothing has been asked or shown yet.\n", err: "", code: 0 });
  expect(await log("--json")).toEqual({ out: "", err: "", code: 0 });
});

test("says that beckon is not running; with --json on stderr", async () => {
  const nothing = "Nothing has been asked or shown yet.\n";
  expect(await log()).toEqual({ out: `${nothing}\n${stopped}`, err: "", code: 0 });
  expect(await log("--json")).toEqual({ out: "", err: stopped, code: 0 });
});

describe("answers", () => {
  beforeEach(async () => {
    await fixture.start();
    const call = { tool_name: "Bash", tool_input: { command: "npm ci" }, tool_use_id: "toolu_1" };
    fixture.startHook(createRequest("s-1"));
    const ask = await fixture.waitForAsk("s-1");
    await fixture.answer("s-1", {
      ask: ask.answerId,
      do: "deny",
      message: "use token=ghp_0123456789abcdefghijABCDEFGHIJ",
    });
    await fixture.postHook({ session_id: "s-1", hook_event_name: "PreToolUse", cwd: "/p/shop-api", ...call });
    fixture.startHook(createRequest("s-1", { tool_input: call.tool_input }));
    await fixture.waitForAsk("s-1");
    await fixture.postHook({
      session_id: "s-1",
      hook_event_name: "PostToolUse",
      cwd: "/p/shop-api",
      ...call,
    });
    // It is written within a moment.
    await waitUntil(() => fixture.read(fixture.paths.answerLog).includes("in the terminal"), 2_000);
  });

  test("are listed with who gave them, newest last, with secrets masked", async () => {
    const { out } = await log();
    expect(plain(out)).toEqual([
      "shop-api | Bash: npm test | denied: use token=••• (API)",
      "shop-api | Bash: npm ci | allowed (in the terminal)",
      "",
    ]);
    expect(fixture.read(fixture.paths.answerLog)).not.toContain("ghp_");
  });

  test("-n limits them to the newest, --json prints them as JSON lines", async () => {
    expect(plain((await log("-n", "1")).out)[0]).toContain("(in the terminal)");
    const { out } = await log("--json", "-n1");
    expect(JSON.parse(out)).toMatchObject({ what: "answered", session: "claude:s-1", outcome: "allowed" });
  });
});

test("the home folder is shown as ~, but not in --json", async () => {
  await fixture.start();
  const file = `${fixture.home}/.zshrc`;
  fixture.startHook(createRequest("s-1", { tool_name: "Read", tool_input: { file_path: file } }));
  const ask = await fixture.waitForAsk("s-1");
  await fixture.answer("s-1", { ask: ask.answerId, do: "allow", confirmed: true });
  expect(plain((await log()).out)[0]).toBe("shop-api | Read: ~/.zshrc | allowed (API)");
  expect(JSON.parse((await log("--json")).out)).toMatchObject({ asked: `Read: ${file}` });
});

test("control characters in an ask do not reach the terminal", async () => {
  await fixture.start();
  fixture.startHook(createRequest("s-1", { tool_input: { command: "echo \u001b[2J\u009b31m" } }));
  const ask = await fixture.waitForAsk("s-1");
  await fixture.answer("s-1", { ask: ask.answerId, do: "deny", message: "\u001b]0;x\u0007" });
  const { out } = await log();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
});

test.each([[["-n"]], [["-n", "x"]], [["-n", "0"]], [["--yes"]], [["x"]]])(
  "%j is a usage error",
  async (args) => {
    expect((await log(...args)).code).toBe(2);
  },
);

describe("the list", () => {
  const entry = (at: Date, more: object) => ({
    at: at.getTime(),
    what: "answered",
    session: "claude:s-1",
    project: "shop-api",
    asked: "Bash: npm test",
    outcome: "allowed",
    by: null,
    ...more,
  });
  const put = (...entries: object[]) => {
    mkdirSync(fixture.paths.state, { recursive: true });
    writeFileSync(fixture.paths.answerLog, entries.map((line) => `${JSON.stringify(line)}\n`).join(""));
  };

  test("shows who answered, however long the answer is", async () => {
    put(entry(new Date(), { outcome: `denied: ${"no ".repeat(60)}`, by: "command line" }));
    expect((await log()).out).toMatch(/denied: no no .*\n[\s\S]*…\s+\(command line\)\n/);
  });

  test("shows the whole rule of an answer that counts from now on", async () => {
    const outcome = "allowed, and from now on: Always allow npm run * in this project, for you";
    put(entry(new Date(), { outcome, by: "menu" }));
    for (const columns of [50, 80, 100]) {
      const { out } = await logIn(columns);
      expect(out.replace(/\s+/g, " ")).toContain(`${outcome} (menu)`);
    }
  });

  test.each([30, 40, 60, 80, 120])("fits into %d columns", async (columns) => {
    const asked = "Bash: npm publish --dry-run --access public";
    put(
      entry(new Date(), { asked, project: "a-project-with-a-long-name" }),
      entry(new Date(), { asked, outcome: `denied: ${"no ".repeat(60)}`, by: "command line" }),
    );
    const { out } = await logIn(columns);
    expect(out).toContain("Bash: npm");
    expect(Math.max(...out.split("\n").map((line) => Bun.stringWidth(line)))).toBeLessThanOrEqual(columns);
  });

  test("has a heading for each day, unless all of it is from today", async () => {
    put(
      entry(new Date(2026, 2, 2, 9, 5), {}),
      entry(new Date(2026, 2, 2, 10, 0), {}),
      entry(new Date(2026, 2, 3, 8, 0), {}),
    );
    const lines = (await log()).out
      .replace(`\n${stopped}`, "")
      .split("\n")
      .map((line) => line.slice(0, 25).trim());
    expect(lines).toEqual([
      "Monday 2 March 2026",
      "09:05  shop-api  Bash: np",
      "10:00  shop-api  Bash: np",
      "Tuesday 3 March 2026",
      "08:00  shop-api  Bash: np",
      "",
    ]);
  });
});
