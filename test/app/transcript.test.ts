/** The transcript around a moment, through the running app. */
import { expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TranscriptPage } from "../../src/core/interfaces/wire.ts";
import { limits } from "../../src/core/limits.ts";
import { createAppFixture, createPromptEvent, proj } from "../app-fixture.ts";
import { forEachTest } from "../for-each-test.ts";
import { waitUntil } from "../wait-until.ts";

const fixture = forEachTest(createAppFixture);

const start = Date.now() - 3_600_000;
const at = (minute: number) => start + minute * 60_000;
const timestamp = (minute: number) => new Date(at(minute)).toISOString();

const prompt = (minute: number, text: string) => ({
  type: "user",
  timestamp: timestamp(minute),
  message: { role: "user", content: text },
});
const said = (minute: number, ...content: object[]) => ({
  type: "assistant",
  timestamp: timestamp(minute),
  message: { role: "assistant", model: "claude-opus-4-5", id: `msg-${minute}`, content },
});
const text = (value: string) => ({ type: "text", text: value });
const bash = (command: string) => ({ type: "tool_use", id: "t1", name: "Bash", input: { command } });

const secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789-ABCDEFGH";

const read = async (minute: number, more = ""): Promise<TranscriptPage> =>
  (
    await fixture.request(`/api/transcript?session=claude:s1&at=${at(minute)}${more}`)
  ).json() as Promise<TranscriptPage>;

const namesOf = ({ lines }: TranscriptPage) =>
  lines.map((line) => `${line.who} ${line.tool ?? ""} ${line.text}`);

test("the lines around a moment, with secrets masked and without what tools returned", async () => {
  await fixture.start();
  const transcript_path = fixture.appendTranscript(
    "s1",
    prompt(0, "move the orders"),
    said(1, text("I look at the schema first."), bash(`deploy --key ${secret}`)),
    {
      type: "user",
      timestamp: timestamp(2),
      message: {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "t1", content: "a long file" }],
      },
    },
    said(3, text("All moved.")),
  );
  await fixture.postHook(createPromptEvent("s1", { transcript_path }));
  const page = await read(2);
  expect(page).toMatchObject({ hasEarlier: false, hasLater: false });
  expect(page.why).toBeUndefined();
  expect(namesOf(page)).toEqual([
    "you  move the orders",
    "agent  I look at the schema first.",
    "step Bash deploy --key •••",
    "agent  All moved.",
  ]);
  expect(namesOf(await read(2, "&lines=1"))[0]).toBe("step Bash deploy --key •••");
  expect(await read(2, "&lines=1")).toMatchObject({ hasEarlier: true });
});

test("a secret where a long line is cut is masked too", async () => {
  await fixture.start();
  const filler = "word ".repeat(limits.maxTextLength / 5);
  const long = `${filler.slice(0, limits.maxTextLength - 20)} ${secret} and more`;
  const transcript_path = fixture.appendTranscript("s1", prompt(0, long));
  await fixture.postHook(createPromptEvent("s1", { transcript_path }));
  const [line] = (await read(0)).lines;
  expect(line?.text.length).toBeLessThanOrEqual(limits.maxTextLength);
  expect(line?.text).not.toContain(secret.slice(0, 14));
});

test("of a transcript of many megabytes only the part around the moment is read", async () => {
  await fixture.start();
  const filler = "x".repeat(20_000);
  const rows = Array.from({ length: 1_000 }, (_, n) => said(n, text(`step ${n} ${filler}`)));
  const transcript_path = fixture.appendTranscript("s1", ...rows);
  await fixture.postHook(createPromptEvent("s1", { transcript_path }));
  for (const minute of [3, 480, 998]) {
    const page = await read(minute);
    const numbers = page.lines.map((line) => Number(line.text.split(" ")[1]));
    expect(numbers).toContain(minute);
    expect(numbers).toContain(minute + 1);
    expect(Math.min(...numbers)).toBeGreaterThanOrEqual(minute - 25);
    expect(JSON.stringify(page).length).toBeLessThan(1_000_000);
  }
});

test("a transcript outside of the agent's own folder is not read, no matter who names it", async () => {
  await fixture.start();
  const outside = join(fixture.home, "elsewhere", "s1.jsonl");
  mkdirSync(dirname(outside), { recursive: true });
  writeFileSync(outside, `${JSON.stringify(prompt(0, "private words"))}\n`);
  const link = fixture.appendTranscript("linked", prompt(0, "x")).replace("linked", "s1");
  symlinkSync(outside, link);
  for (const transcript_path of [outside, link]) {
    await fixture.postHook(createPromptEvent("s1", { transcript_path, prompt: "hello" }));
    const page = await read(0);
    expect(JSON.stringify(page)).not.toContain("private words");
    expect(page.why).toContain("cannot read this session's transcript");
  }
  const named = await fixture.request(`/api/transcript?session=${encodeURIComponent(outside)}&at=1`);
  expect(await named.json()).toMatchObject({ lines: [] });
});

test("without a transcript there is what the history recorded, also of a session that is gone", async () => {
  await fixture.start();
  await fixture.postHook(createPromptEvent("s1", { prompt: "paint the fence" }));
  await fixture.postHook({
    ...{ session_id: "s1", hook_event_name: "Stop", last_assistant_message: "Painted." },
    ...proj,
  });
  await waitUntil(async () => namesOf(await read(60)).includes("agent  Painted."), 5_000);
  expect(namesOf(await read(60))).toEqual(["you  paint the fence", "agent  Painted."]);
});

test("a request that makes no sense is refused", async () => {
  await fixture.start();
  expect((await fixture.request("/api/transcript?session=claude:s1")).status).toBe(400);
  expect((await fixture.request("/api/transcript?at=1")).status).toBe(400);
  expect((await fixture.request("/api/transcript?session=claude:s1&at=1&lines=0")).status).toBe(400);
  expect((await fixture.request("/api/story?kind=lunch")).status).toBe(400);
  expect((await fixture.request("/api/story?day=never")).status).toBe(400);
});
