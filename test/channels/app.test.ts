/** Channels in the real app: alerts go out, answers come back, and messages are withdrawn. */

import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequest, parseDecision } from "../answers/fixture.ts";
import { colourQuestion } from "../colour-question.ts";
import { parseJsonLines } from "../json-lines.ts";
import { letTimePass, waitUntil } from "../wait-until.ts";
import { type ChannelFixture, createChannelFixture } from "./app-fixture.ts";
import { serverStarters } from "./servers/index.ts";
import { type NtfyServer, startNtfyServer } from "./servers/ntfy.ts";
import { startTelegramServer } from "./servers/telegram.ts";

// Each test starts an app and a hook, and waits for the first round.
setDefaultTimeout(30_000);

let fixture: ChannelFixture;
let phone: NtfyServer;
beforeEach(async () => {
  fixture = createChannelFixture();
  phone = await startNtfyServer();
});
afterEach(() => fixture.destroy());

/** What rings, of all that was published. */
const countLoud = (server: NtfyServer): number =>
  server.published().filter(({ priority }) => priority > 1).length;

const countChannels = async (): Promise<number> => {
  const response = await fixture.request("/api/channels");
  return ((await response.json()) as { channels: unknown[] }).channels.length;
};

const ask = (session: string, more: Record<string, unknown> = {}) =>
  fixture.startHook(createRequest(session, more));

test("what a rule allows is not sent while its hook takes long to confirm, and what comes after it is", async () => {
  fixture.configure({ phone: { type: "ntfy", server: phone } });
  await fixture.start();
  const cwd = fixture.home;
  expect((await fixture.post({ text: "Bash(npm test)", project: cwd }, "/api/rules/add")).status).toBe(200);
  const payload = createRequest("s1", { cwd, tool_input: { command: "npm test" } });
  const held = await fixture.post(
    { provider: "claude", _meta: { id: crypto.randomUUID() }, payload },
    "/api/hook?hold",
  );
  const reader = (held.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let decision = "";
  while (!decision.includes("behavior")) decision += decoder.decode((await reader.read()).value);
  // It has the answer, and does not say so: as long as an app that is not loaded waits for that, and longer.
  fixture.startHook(createRequest("s2", { cwd, tool_input: { command: "make" } }));
  await fixture.waitForText(phone, "make");
  await letTimePass(2_500, "beckon no longer waits for the confirmation");
  expect(phone.messages().map(({ text }) => text)).toEqual([expect.stringContaining("make")]);
  await reader.cancel();
  // The hook is gone, and may not have printed it.
  await fixture.waitForText(phone, "npm test");
});

describe("an answer from the phone", () => {
  test("allows a command, and the message says so", async () => {
    fixture.configure({ phone: { type: "ntfy", server: phone } });
    await fixture.start();
    const hook = ask("s1");
    await fixture.waitForText(phone, "npm test");
    expect(phone.messages()).toHaveLength(1);
    expect(phone.messages()[0]?.buttons).toEqual(["Allow", "Deny"]);
    await phone.tap("Allow");
    expect(parseDecision(await hook.printed)).toEqual({ behavior: "allow" });
    await fixture.waitForText(phone, "Allowed by phone");
    expect(phone.messages()[0]?.buttons).toEqual([]);
    const log = parseJsonLines(readFileSync(fixture.paths.answerLog, "utf8"));
    expect(log).toMatchObject([
      { what: "shown", outcome: "sent to phone" },
      { what: "answered", outcome: "allowed", by: "phone" },
    ]);
  });

  test("denies with a reason", async () => {
    fixture.configure({ phone: { type: "ntfy", server: phone } });
    await fixture.start();
    const hook = ask("s1");
    await fixture.waitForText(phone, "npm test");
    await phone.reply("not on a Friday");
    expect(parseDecision(await hook.printed)).toMatchObject({
      behavior: "deny",
      message: expect.stringContaining("not on a Friday"),
    });
    await fixture.waitForText(phone, "Denied by phone");
  });

  test("a request that was answered at the desk is withdrawn within two seconds", async () => {
    fixture.configure({ phone: { type: "ntfy", server: phone } });
    await fixture.start();
    const hook = ask("s1");
    const { answerId } = await fixture.waitForAsk("s1");
    await fixture.waitForText(phone, "npm test");
    await fixture.answer("s1", { do: "allow", ask: answerId, by: "command line" });
    const tookMs = await fixture.waitForText(phone, "Allowed on the command line");
    expect(tookMs).toBeLessThan(2_000);
    await hook.exited;
  });
});

describe("what leaves the machine", () => {
  const command = "curl https://internal.example/customers";
  const startAt = async (detail: string) => {
    fixture.configure({ phone: { type: "ntfy", server: phone, fields: { detail, answers: "off" } } });
    await fixture.start();
    ask("5e55109e-secret-id", { tool_input: { command } });
    await waitUntil(() => phone.messages().length === 1, 8_000);
    return phone.published()[0];
  };

  test("minimal: the project needs you", async () => {
    const sent = await startAt("minimal");
    expect(sent).toMatchObject({ title: "shop-api needs you", message: "shop-api needs you", actions: [] });
  });

  test("summary: the tool and since when, not what it would do", async () => {
    const sent = await startAt("summary");
    expect(sent?.title).toBe("shop-api wants to use Bash");
    expect(sent?.message).toMatch(/^since \d\d:\d\d$/);
  });

  test("full: what would run", async () => {
    const sent = await startAt("full");
    expect(sent?.title).toBe("shop-api wants to use Bash");
    expect(sent?.message).toStartWith(command);
  });

  test.each(["minimal", "summary", "full"])("%s: no folder, id of a session, or token", async (detail) => {
    const text = JSON.stringify(await startAt(detail));
    for (const secret of ["/home/", "5e55109e", "dev", ...Object.values(phone.secrets)])
      expect(text).not.toContain(secret);
  });
});

describe("a question and a plan", () => {
  const colours = {
    tool_name: "AskUserQuestion",
    tool_input: { questions: [colourQuestion] },
  };

  test("an option is chosen with a button", async () => {
    fixture.configure({ phone: { type: "ntfy", server: phone } });
    await fixture.start();
    const hook = ask("s1", colours);
    await fixture.waitForText(phone, "Which colour?");
    expect(phone.messages()[0]?.buttons).toEqual(["1. Red", "2. Blue"]);
    await phone.tap("2. Blue");
    expect(JSON.stringify(parseDecision(await hook.printed))).toContain('"Which colour?":"Blue"');
    await fixture.waitForText(phone, "Answered by phone");
  });

  test.each([
    ["1", "Red"],
    ["green, please", "green, please"],
  ])("a reply of %j answers %j", async (reply, answer) => {
    fixture.configure({ phone: { type: "ntfy", server: phone } });
    await fixture.start();
    const hook = ask("s1", colours);
    await fixture.waitForText(phone, "Which colour?");
    await phone.reply(reply);
    expect(JSON.stringify(parseDecision(await hook.printed))).toContain(`"Which colour?":"${answer}"`);
  });

  test("a plan is sent back with text", async () => {
    fixture.configure({ phone: { type: "ntfy", server: phone } });
    await fixture.start();
    const hook = ask("s1", { tool_name: "ExitPlanMode", tool_input: { plan: "# Plan\n\n1. Do this" } });
    await fixture.waitForText(phone, "1. Do this");
    expect(phone.messages()[0]?.buttons).toEqual(["Approve", "Send back"]);
    await phone.reply("first the tests");
    expect(parseDecision(await hook.printed)).toMatchObject({
      behavior: "deny",
      message: expect.stringContaining("first the tests"),
    });
  });
});

describe("a restart", () => {
  test("after kill -9 the message is not sent again, and its buttons still work", async () => {
    fixture.configure({ phone: { type: "ntfy", server: phone } });
    const first = await fixture.startProcess();
    const hook = ask("s1");
    await fixture.waitForText(phone, "npm test");
    // The service has the message before beckon has its receipt. Killed in between, beckon sends it again under the same id.
    await waitUntil(() => fixture.read(fixture.paths.channelState).includes('"isSending":false'), 8_000);
    first.kill("SIGKILL");
    await first.exited;
    await fixture.startProcess();
    await fixture.waitForAsk("s1");
    await phone.tap("Allow");
    expect(parseDecision(await hook.printed)).toEqual({ behavior: "allow" });
    await fixture.waitForText(phone, "Allowed by phone");
    expect(phone.published().map(({ tags }) => tags)).toEqual([["bell"], ["white_check_mark"]]);
  });

  test("a message that arrived before the kill, and its receipt did not, stays one message", async () => {
    fixture.configure({ phone: { type: "ntfy", server: phone } });
    phone.withholdReceipt();
    const first = await fixture.startProcess();
    const hook = ask("s1");
    await fixture.waitForText(phone, "npm test");
    first.kill("SIGKILL");
    await first.exited;
    expect(fixture.read(fixture.paths.channelState)).toContain('"isSending":true');
    await fixture.startProcess();
    await fixture.waitForAsk("s1");
    await waitUntil(() => fixture.read(fixture.paths.channelState).includes('"isSending":false'), 8_000);
    expect(phone.messages()).toHaveLength(1);
    await phone.tap("Allow");
    expect(parseDecision(await hook.printed)).toEqual({ behavior: "allow" });
  });

  test("a message whose request was being sent at the kill arrives once", async () => {
    fixture.configure({ phone: { type: "ntfy", server: phone } });
    phone.misbehave("hang", 1);
    const first = await fixture.startProcess();
    ask("s1");
    await waitUntil(() => phone.hangingCount() === 1, 8_000);
    expect(fixture.read(fixture.paths.channelState)).toContain('"isSending":true');
    first.kill("SIGKILL");
    await first.exited;
    await fixture.startProcess();
    await fixture.waitForText(phone, "npm test");
    expect(phone.sentCount()).toBe(1);
  });

  test("a channel whose settings are wrong for a while does not send again what it has sent", async () => {
    fixture.configure({ phone: { type: "ntfy", server: phone } });
    const first = await fixture.startProcess();
    ask("s1");
    await fixture.waitForText(phone, "npm test");
    first.kill("SIGTERM");
    await first.exited;
    const tablet = await startNtfyServer();
    fixture.configure({
      phone: { type: "ntfy", server: phone, fields: { detail: "summary" } },
      tablet: { type: "ntfy", server: tablet },
    });
    const second = await fixture.startProcess();
    await fixture.waitForText(tablet, "npm test");
    second.kill("SIGKILL");
    await second.exited;
    fixture.configure({ phone: { type: "ntfy", server: phone }, tablet: { type: "ntfy", server: tablet } });
    await fixture.startProcess();
    await fixture.waitForAsk("s1");
    ask("s2", { tool_input: { command: "npm run build" } });
    await fixture.waitForText(phone, "npm run build");
    expect(phone.sentCount()).toBe(2);
  });

  test("a request that ended while beckon was down is marked as over", async () => {
    fixture.configure({ phone: { type: "ntfy", server: phone } });
    const first = await fixture.startProcess();
    const hook = ask("s1");
    await fixture.waitForText(phone, "npm test");
    first.kill("SIGKILL");
    await first.exited;
    hook.signal("SIGKILL");
    fixture.writeSpool({ session_id: "s1", hook_event_name: "SessionEnd", reason: "other" });
    await fixture.startProcess();
    await fixture.waitForText(phone, "No longer waiting for you");
    expect(phone.messages()[0]?.text).toStartWith("shop-api wants to use Bash");
    expect(phone.messages()[0]?.buttons).toEqual([]);
  });
});

describe.each(["telegram", "slack"])("%s", (type) => {
  test("a message whose receipt was lost is not sent again, can be answered, and then says by whom", async () => {
    const server = await serverStarters[type]?.();
    if (!server) throw new Error(`there is no server for ${type}`);
    server.misbehave("lose-answer", 1);
    fixture.configure({ chat: { type, server } });
    await fixture.start();
    const hook = ask("s1");
    await fixture.waitForText(server, "npm test");
    await waitUntil(() => fixture.readChannelLog().some((line) => line.includes("may or may not")), 8_000);
    await server.tap("Allow");
    expect(parseDecision(await hook.printed)).toEqual({ behavior: "allow" });
    await fixture.waitForText(server, "Allowed by chat");
    expect(server.messages()[0]?.buttons).toEqual([]);
    expect(server.sentCount()).toBe(1);
  });
});

describe("several channels", () => {
  test("one that hangs does not delay another", async () => {
    const slow = await startNtfyServer();
    slow.misbehave("hang", 1_000);
    fixture.configure({ slow: { type: "ntfy", server: slow }, phone: { type: "ntfy", server: phone } });
    await fixture.start();
    const hook = ask("s1");
    const tookMs = await fixture.waitForText(phone, "npm test");
    expect(tookMs).toBeLessThan(4_000);
    await phone.tap("Allow");
    expect(parseDecision(await hook.printed)).toEqual({ behavior: "allow" });
  });

  test("of two answers at once one wins, and both messages say who", async () => {
    const tablet = await startNtfyServer();
    fixture.configure({ phone: { type: "ntfy", server: phone }, tablet: { type: "ntfy", server: tablet } });
    await fixture.start();
    const hook = ask("s1");
    await fixture.waitForText(phone, "npm test");
    await fixture.waitForText(tablet, "npm test");
    await Promise.all([phone.tap("Allow"), tablet.tap("Deny")]);
    const isAllowed = parseDecision(await hook.printed).behavior === "allow";
    const ending = isAllowed ? "Allowed by phone" : "Denied by tablet";
    // The newest message can be the one that tells the slower of the two why it was not accepted.
    const saysEnding = (server: NtfyServer) => server.messages().some(({ text }) => text.includes(ending));
    await waitUntil(() => saysEnding(phone) && saysEnding(tablet), 5_000);
    const answers = readFileSync(fixture.paths.answerLog, "utf8").match(/"what":"answered"/g);
    expect(answers).toHaveLength(1);
  }, 15_000);

  test("more than three requests are not put together as on the desktop", async () => {
    fixture.configure({ phone: { type: "ntfy", server: phone } });
    await fixture.start();
    for (let n = 0; n < 5; n++) ask(`s${n}`);
    await waitUntil(() => phone.messages().length === 5, 10_000);
    expect(phone.messages().every(({ buttons }) => buttons.length === 2)).toBe(true);
  });
});

describe("the settings", () => {
  test("a channel that is removed and added again sends nothing about a request that you dismissed", async () => {
    const other = await startNtfyServer();
    fixture.configure({ phone: { type: "ntfy", server: phone } });
    await fixture.start();
    ask("s1");
    await fixture.waitForText(phone, "npm test");
    await fixture.post({}, "/api/sessions/s1/dismiss");
    const before = countLoud(phone);
    fixture.configure({});
    await waitUntil(async () => (await countChannels()) === 0, 8_000);
    fixture.configure({ phone: { type: "ntfy", server: phone }, other: { type: "ntfy", server: other } });
    await waitUntil(async () => (await countChannels()) === 2, 8_000);
    // The next request is sent to both, after everything that was due before it.
    ask("s2", { tool_input: { command: "npm run lint" } });
    await waitUntil(() => other.messages().length > 0 && countLoud(phone) > before, 8_000);
    expect(other.messages()).toHaveLength(1);
    expect(countLoud(phone)).toBe(before + 1);
  });

  test("a channel that is added while beckon runs is used, and one that is removed is not", async () => {
    await fixture.start();
    const first = ask("s1");
    await fixture.waitForAsk("s1");
    fixture.configure({ phone: { type: "ntfy", server: phone } });
    await fixture.waitForText(phone, "npm test");
    await phone.tap("Allow");
    await first.exited;
    writeFileSync(fixture.paths.config, "{}");
    await waitUntil(() => phone.listenerCount() === 0, 5_000);
    ask("s2");
    await fixture.waitForAsk("s2");
    expect(phone.sentCount()).toBe(1);
  });

  test("a message that is being sent while its settings change is known afterwards, and withdrawn at the end", async () => {
    const chat = await startTelegramServer();
    fixture.configure({ chat: { type: "telegram", server: chat } });
    await fixture.start();
    chat.api.fail(/sendMessage/, "slow");
    ask("s1");
    const { answerId } = await fixture.waitForAsk("s1");
    await waitUntil(() => chat.api.requests.some(({ path }) => path.endsWith("/sendMessage")), 5_000);
    fixture.configure({ chat: { type: "telegram", server: chat, fields: { afterSeconds: 1 } } });
    await waitUntil(() => fixture.read(fixture.paths.channelState).includes('"handle":"'), 8_000);
    await fixture.answer("s1", { do: "allow", ask: answerId, by: "command line" });
    await fixture.waitForText(chat, "Allowed on the command line");
    expect(chat.sentCount()).toBe(1);
    expect(fixture.readChannelLog().join()).not.toContain("may or may not have arrived");
  });

  test("a mistake is named and the other channels are used", async () => {
    fixture.configure({
      phone: { type: "ntfy", server: phone },
      typo: { type: "ntfi", server: phone },
      brief: { type: "ntfy", server: phone, fields: { detail: "summary" } },
      leak: { type: "ntfy", server: phone, fields: { token: "tk_in_the_wrong_file" } },
    });
    await fixture.start();
    ask("s1");
    await fixture.waitForText(phone, "npm test");
    const log = fixture.readChannelLog().join("\n");
    expect(log).toContain('typo.type: there is no service "ntfi": did you mean ntfy?');
    expect(log).toContain('brief.answers needs "detail": "full"');
    expect(log).toContain("leak.token is a secret and must not be in config.json");
    expect(log).not.toContain("tk_in_the_wrong_file");
  });
});
