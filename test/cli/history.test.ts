import { expect, test } from "bun:test";
import { formatStats } from "../../src/cli/stats.ts";
import { createAppFixture, createAskEvent, createPromptEvent, proj } from "../app-fixture.ts";
import { forEachTest } from "../for-each-test.ts";
import { parseJsonLines } from "../json-lines.ts";
import { waitUntil } from "../wait-until.ts";

const fixture = forEachTest(createAppFixture);

const beckon = (...args: string[]) => fixture.runBeckon(args, { COLUMNS: "80", TZ: "UTC" });

const stopped = "beckon is not running. Start it with: beckon start\n";

/** A prompt, an answered permission and a response. */
async function recordTurn() {
  const tool = { session_id: "s1", tool_use_id: "t1", ...proj };
  await fixture.postHook(createPromptEvent("s1", { prompt: "add \u001b[31mcaching\u202e to the shop" }));
  await fixture.postHook(createAskEvent("s1"));
  await fixture.postHook({ ...tool, ...createAskEvent("s1"), hook_event_name: "PostToolUse" });
  await fixture.postHook({
    session_id: "s1",
    hook_event_name: "Stop",
    last_assistant_message: "Cached.",
    ...proj,
  });
  await waitUntil(async () => {
    const { out } = await beckon("history", "--json", "--kind", "permission");
    return JSON.parse(out).items[0]?.where === "terminal";
  }, 10_000);
}

test("history lists what happened, the newest last, in 80 columns and without control characters", async () => {
  await fixture.start();
  await recordTurn();
  const { out, code } = await beckon("history");
  expect(code).toBe(0);
  const lines = out.trimEnd().split("\n");
  expect(lines.slice(1).map((line) => line.replace(/^\d\d:\d\d {2}/, "").replace(/ {2,}/g, " | "))).toEqual([
    "proj | You | add caching to the shop",
    "proj | Asked | to run touch x | allowed · terminal · 0s",
    "proj | Response | Cached.",
  ]);
  expect((await beckon("history", "--kind", "response")).out).toContain("Cached.");
  expect(lines.filter((line) => Bun.stringWidth(line) > 80)).toEqual([]);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be printed
  expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
});

test("an ask, its command and the message that announces it are one line of the list", async () => {
  await fixture.start();
  const ask = createAskEvent("s1");
  await fixture.postHook(createPromptEvent("s1", { prompt: "clean up" }));
  await fixture.postHook({ ...ask, hook_event_name: "PreToolUse", tool_use_id: "t1" });
  await fixture.postHook(ask);
  await fixture.postHook({
    session_id: "s1",
    hook_event_name: "Notification",
    notification_type: "permission_prompt",
    message: "Claude needs your permission",
    ...proj,
  });
  // The same command of another session was not asked about.
  await fixture.postHook(createPromptEvent("s2", { prompt: "go on" }));
  await fixture.postHook({ ...createAskEvent("s2"), hook_event_name: "PreToolUse", tool_use_id: "t2" });
  const list = async (...args: string[]) => (await beckon("history", ...args)).out;
  await waitUntil(async () => (await list("--json")).includes('"claude:s2"'), 10_000);
  await waitUntil(async () => JSON.parse(await list("--json")).items.length === 6, 10_000);
  const lines = (await list()).trimEnd().split("\n").slice(1);
  expect(lines.map((line) => line.slice(7).replace(/ {2,}/g, " | ").replace(/\d+s$/, "0s"))).toEqual([
    "proj | You | clean up",
    "proj | Asks | to run touch x | open · 0s",
    "proj | You | go on",
    "proj | Bash | touch x",
  ]);
  expect(await list("--kind", "notification")).toContain("Claude needs your permission");
});

test("history finds words by their start, in any case, and says if there is nothing", async () => {
  await fixture.start();
  await recordTurn();
  expect((await beckon("history", "CACH", "shop")).out).toContain("add caching to the shop");
  expect((await beckon("history", "elephant")).out).toBe("Nothing found.\n");
  expect((await beckon("history", '"; DROP TABLE items; --x NEAR(')).code).toBe(0);
});

test("history --session takes a session as every command does, running or not, and refuses an unknown one", async () => {
  const app = await fixture.start();
  await recordTurn();
  await fixture.postHook(createPromptEvent("7c67d835-0000-4000", { prompt: "Paint it", cwd: "/w/website" }));
  await waitUntil(async () => (await beckon("history", "Paint")).out.includes("Paint it"), 10_000);
  const check = async () => {
    for (const name of ["7c67d835", "7C67D835-0000-4000", "claude:7c67", "website"]) {
      const { out, code } = await beckon("history", "--session", name);
      expect(code).toBe(0);
      expect(out).toContain("Paint it");
      expect(out).not.toContain("caching");
    }
    expect((await beckon("history", "Pain", "--session", "website")).out).toContain("Paint it");
    expect(await beckon("history", "--session", "nowhere")).toEqual({
      out: "",
      err: 'beckon: the history has no session with the id or project "nowhere". See all of it: beckon history\n',
      code: 1,
    });
  };
  await check();
  await fixture.postHook(createPromptEvent("8d78e946-0000-4000", { prompt: "Dry it", cwd: "/w/website" }));
  await waitUntil(async () => (await beckon("history", "Dry")).out.includes("Dry it"), 10_000);
  expect((await beckon("history", "--session", "website")).err).toStartWith(
    'beckon: 2 sessions match "website". Use the id of one of them:\n  8d78e946  website\n  7c67d835  website\n',
  );
  await fixture.postHook({
    session_id: "8d78e946-0000-4000",
    hook_event_name: "SessionEnd",
    reason: "other",
    cwd: "/w/website",
  });
  await waitUntil(async () => (await beckon("history", "--session", "website")).code === 0, 10_000);
  await app.stop();
  await check();
});

test("history, its export and stats work while beckon is stopped", async () => {
  const app = await fixture.start();
  await recordTurn();
  await app.stop();
  const listed = await beckon("history", "caching");
  expect(listed.out).toContain("add caching to the shop");
  expect(listed.out).toEndWith(`\n\n${stopped}`);
  const { out } = await beckon("history", "--export");
  const events = parseJsonLines(out);
  expect(events.map(({ event_type, source }) => `${event_type} ${source}`).sort()).toEqual([
    "agent_blocked synthetic",
    "agent_stopped hook",
    "agent_unblocked synthetic",
    "notification hook",
    "notification hook",
    "tool_succeeded hook",
  ]);
  expect(events[0]).toMatchObject({
    version: "1.1",
    workspace_id: "proj",
    session_id: "s1",
    agent_id: "proj/leader",
  });
  expect((await beckon("stats")).out).toContain("1 ask today");
});

test("stats says how long agents waited, by day and project", async () => {
  await fixture.start();
  await recordTurn();
  const { out } = await beckon("stats");
  expect(out).toStartWith(
    "Agents waited for you 0s today, 0s in 14 days.\n1 ask today, you answered in 0s (median).\n",
  );
  expect(out).toMatch(/^day +waited +asks +median$/m);
  expect(out).toMatch(/^proj +0s +1 +0s/m);
  expect(out.split("\n").filter((line) => Bun.stringWidth(line) > 80)).toEqual([]);
});

test("both say so if nothing was ever recorded, and refuse what makes no sense", async () => {
  expect((await beckon("history")).out).toBe(`Nothing found.\n\n${stopped}`);
  expect((await beckon("stats")).out).toBe(`Nothing has been recorded yet.\n\n${stopped}`);
  expect((await beckon("history", "--export")).out).toBe("");
  expect(await beckon("history", "--kind", "lunch")).toMatchObject({ code: 2 });
  expect(await beckon("history", "--export", "word")).toMatchObject({ code: 2 });
  expect(await beckon("history", "-n", "0")).toMatchObject({ code: 2 });
  expect(await beckon("stats", "--days", "0")).toMatchObject({ code: 2 });
});

test("status --short counts the sessions in one line, and works while beckon is stopped", async () => {
  expect(await beckon("status", "--short")).toEqual({ out: "stopped\n", err: "", code: 0 });
  await fixture.start();
  expect((await beckon("status", "--short")).out).toBe("○0\n");
  await fixture.postHook(createPromptEvent("s1"));
  await fixture.postHook(createAskEvent("s1"));
  await fixture.postHook(createPromptEvent("s2"));
  await fixture.postHook(createPromptEvent("s3"));
  expect((await beckon("status", "--short")).out).toBe("●1 ◐2\n");
  expect((await beckon("mute", "s1")).code).toBe(0);
  expect((await beckon("status", "--short")).out).toBe("◌1 ◐2\n");
  expect((await beckon("status", "--short", "--json")).code).toBe(2);
});

test("durations are as exact as on the page", () => {
  const figures = { waitedMs: 117_000, asks: 1, medianMs: 61_000, tokens: 0, costUsd: null };
  const longest = { ms: 117_000, from: 0, key: "claude:s1", project: "shop", open: false };
  const lines = formatStats(
    {
      enabled: true,
      now: 0,
      today: { ...figures, longest, byRules: 0 },
      days: [{ ...figures, date: "2026-11-17" }],
      projects: [{ ...figures, project: "shop", todayMs: 117_000 }],
    },
    { columns: 80, colour: false },
  );
  expect(lines.slice(0, 3)).toEqual([
    "Agents waited for you 1m 57s today.",
    "1 ask today, you answered in 1m 01s (median).",
    "Longest today: 1m 57s in shop.",
  ]);
  expect(lines.find((line) => line.startsWith("shop"))).toMatch(/^shop +1m 57s +1 +1m 01s/);
});
