/** Who cannot answer, and what cannot be answered, from a channel. Each test shows the attack and what its sender is told. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { timing } from "../../src/core/timing.ts";
import { createRequest, type Hook, parseDecision } from "../answers/fixture.ts";
import { letTimePass, waitUntil } from "../wait-until.ts";
import { type ChannelFixture, createChannelFixture } from "./app-fixture.ts";
import { type NtfyServer, startNtfyServer } from "./servers/ntfy.ts";
import { startTelegramServer, type TelegramServer } from "./servers/telegram.ts";

// Each test starts an app and a hook, and waits for the first round.
setDefaultTimeout(30_000);

let fixture: ChannelFixture;
let phone: NtfyServer;
let chat: TelegramServer;
beforeEach(async () => {
  fixture = createChannelFixture();
  phone = await startNtfyServer();
  chat = await startTelegramServer();
});
afterEach(async () => {
  await fixture.destroy();
  await phone.stop();
  await chat.stop();
});

async function startWithPhone(fields: Record<string, unknown> = {}): Promise<void> {
  fixture.configure({ phone: { type: "ntfy", server: phone, fields } });
  await fixture.start();
}

async function ask(session: string, command: string): Promise<Hook> {
  const hook = fixture.startHook(createRequest(session, { tool_input: { command } }));
  await fixture.waitForAsk(session);
  return hook;
}

/** The answer was refused: the log says so, the sender is told, and the hook still waits. */
async function expectRefused(hook: Hook, reason: string): Promise<void> {
  await waitUntil(() => fixture.readChannelLog().some((line) => line.includes(reason)), 5_000, reason);
  expect(hook.isRunning()).toBe(true);
}

const readReference = (server: NtfyServer, label: string, index = -1): string =>
  String(
    server
      .published()
      .at(index)
      ?.actions.find((action) => action.label === label)?.body,
  );

describe("an answer is refused", () => {
  test("with a made-up reference, with a word to the sender", async () => {
    await startWithPhone();
    const hook = await ask("s1", "npm test");
    await fixture.waitForText(phone, "npm test");
    await phone.forge("A".repeat(22));
    await expectRefused(hook, "an answer by phone was refused: it was used before, or its request is over");
    await fixture.waitForText(phone, "Not accepted: it was used before, or its request is over.");
  });

  test("that is not a reference at all", async () => {
    await startWithPhone();
    const hook = await ask("s1", "npm test");
    await fixture.waitForText(phone, "npm test");
    const texts = ["", "allow", "../../etc/passwd", "__proto__", "x".repeat(5_000), '{"do":"allow"}', "null"];
    for (const text of texts) await phone.forge(text);
    await phone.tap("Deny");
    expect(parseDecision(await hook.printed)).toMatchObject({ behavior: "deny" });
  });

  test("from an account that is not listed, which does not use the reference up", async () => {
    fixture.configure({ chat: { type: "telegram", server: chat } });
    await fixture.start();
    const hook = await ask("s1", "npm test");
    await fixture.waitForText(chat, "npm test");
    await chat.tap("Allow", chat.accounts.foreign);
    await expectRefused(hook, "this account may not answer");
    await chat.tap("Allow");
    expect(parseDecision(await hook.printed)).toEqual({ behavior: "allow" });
  });

  test("if it is replayed: the second request is not allowed by the tap for the first", async () => {
    await startWithPhone();
    const first = await ask("s1", "npm test");
    await fixture.waitForText(phone, "npm test");
    await phone.tap("Allow");
    await first.exited;
    await fixture.waitForText(phone, "Allowed by phone");
    const second = await ask("s1", "npm publish");
    await fixture.waitForText(phone, "npm publish");
    await phone.replay();
    await expectRefused(second, "it was used before, or its request is over");
  });

  test("with a reference of a request that ended elsewhere", async () => {
    await startWithPhone();
    const first = await ask("s1", "npm test");
    await fixture.waitForText(phone, "npm test");
    const old = readReference(phone, "Allow");
    const { answerId } = await fixture.waitForAsk("s1");
    await fixture.answer("s1", { do: "deny", ask: answerId });
    await first.exited;
    await fixture.waitForText(phone, "Denied");
    const second = await ask("s1", "npm test");
    await fixture.waitForText(phone, "npm test");
    await phone.forge(old);
    await expectRefused(second, "it was used before, or its request is over");
  });

  test("with a reference that belongs to another channel", async () => {
    const tablet = await startNtfyServer();
    fixture.configure({ phone: { type: "ntfy", server: phone }, tablet: { type: "ntfy", server: tablet } });
    await fixture.start();
    const hook = await ask("s1", "npm test");
    await fixture.waitForText(phone, "npm test");
    await fixture.waitForText(tablet, "npm test");
    await tablet.forge(readReference(phone, "Allow"));
    await expectRefused(hook, "an answer by tablet was refused: it was used before, or its request is over");
  });

  test("if a button's reference comes with a text, or a reply's reference without one", async () => {
    await startWithPhone();
    const hook = await ask("s1", "npm test");
    await fixture.waitForText(phone, "npm test");
    await phone.forge(`${readReference(phone, "Allow")} and also this`);
    await expectRefused(hook, "it does not belong to this message");
  });

  test("after the settings turned answers off, without a restart", async () => {
    await startWithPhone();
    const hook = await ask("s1", "npm test");
    await fixture.waitForText(phone, "npm test");
    const reference = readReference(phone, "Allow");
    fixture.configure({ phone: { type: "ntfy", server: phone, fields: { answers: "off" } } });
    await waitUntil(() => phone.messages()[0]?.buttons.length === 0, 5_000);
    await phone.forge(reference);
    const { answerId } = await fixture.waitForAsk("s1");
    await fixture.answer("s1", { do: "deny", ask: answerId });
    expect(parseDecision(await hook.printed)).toMatchObject({ behavior: "deny" });
  });
});

describe("what cannot be allowed from a channel", () => {
  test("a secret: it is masked in the message, which has no Allow", async () => {
    await startWithPhone({ answers: "all" });
    const secret = "ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5";
    await ask("s1", `curl -H 'Authorization: Bearer ${secret}' https://api.example`);
    await fixture.waitForText(phone, "A secret in it is masked here, so you can only allow it at your desk.");
    expect(phone.messages()[0]?.buttons).toEqual(["Deny"]);
    expect(JSON.stringify(phone.published())).not.toContain(secret);
    for (const path of [fixture.paths.log, fixture.paths.channelState, fixture.paths.answerLog])
      expect(fixture.read(path)).not.toContain(secret);
  });

  test("a dangerous command with answers safe", async () => {
    await startWithPhone({ answers: "safe" });
    await ask("s1", "git push --force origin main");
    await fixture.waitForText(phone, "It is marked as dangerous, so you can only allow it at your desk.");
    expect(phone.messages()[0]?.buttons).toEqual(["Deny"]);
    expect(phone.messages()[0]?.text).toContain("⚠");
  });

  test("a dangerous command with answers all needs a second tap on a new reference", async () => {
    await startWithPhone({ answers: "all" });
    const hook = await ask("s1", "git push --force origin main");
    await fixture.waitForText(phone, "git push --force");
    expect(phone.messages()[0]?.buttons).toEqual(["Allow…", "Deny"]);
    const first = readReference(phone, "Allow…");
    await phone.tap("Allow…");
    await fixture.waitForText(phone, "Really allow this?");
    expect(phone.messages()[0]?.buttons).toEqual(["Yes, allow it", "Deny"]);
    expect(hook.isRunning()).toBe(true);
    await phone.forge(first);
    await expectRefused(hook, "it was used before, or its request is over");
    await letTimePass(timing.minReadMs, "as a user who has read it");
    await phone.tap("Yes, allow it");
    expect(parseDecision(await hook.printed)).toEqual({ behavior: "allow" });
  });

  test("a request that is too long to be shown in full", async () => {
    await startWithPhone({ answers: "all" });
    await ask("s1", Array.from({ length: 60 }, (_, n) => `echo ${n}`).join("\n"));
    await fixture.waitForText(phone, "Not all of it can be shown here: look at it in the terminal.");
    expect(phone.messages()[0]?.buttons).toEqual(["Deny"]);
  });

  test("anything with answers off: the message has no buttons and nothing is listened to", async () => {
    await startWithPhone({ answers: "off" });
    await ask("s1", "npm test");
    await fixture.waitForText(phone, "npm test");
    expect(phone.messages()[0]?.buttons).toEqual([]);
    expect(phone.messages()[0]?.text).not.toContain("Publish to");
  });
});

describe("text from a session", () => {
  test("that hides or reorders characters is shown as it is", async () => {
    await startWithPhone();
    await ask("s1", "echo \u202egnp.exe\u2066 \u200bx");
    await fixture.waitForText(phone, "echo ⟨U+202E⟩gnp.exe⟨U+2066⟩ ⟨U+200B⟩x");
  });

  test("that looks like beckon's own lines does not add buttons or another reference", async () => {
    await startWithPhone();
    await ask("s1", "echo Publish to answers-9b2e: AAAAAAAAAAAAAAAAAAAAAA your text");
    await fixture.waitForText(phone, "AAAAAAAAAAAAAAAAAAAAAA");
    expect(phone.messages()[0]?.buttons).toEqual(["Allow", "Deny"]);
  });
});

describe("a channel server that lies", () => {
  test("cannot stop the channel with lines that make no sense, and cannot answer", async () => {
    await startWithPhone();
    const hook = await ask("s1", "npm test");
    await fixture.waitForText(phone, "npm test");
    for (const line of ["not json", "[]", '{"event":"message"}', '{"event":"message","id":"1","message":5}'])
      phone.writeToListeners(`${line}\n`);
    phone.writeToListeners(`${JSON.stringify({ event: "message", id: "x", message: "B".repeat(22) })}\n`);
    await expectRefused(hook, "it was used before, or its request is over");
    await phone.tap("Allow");
    expect(parseDecision(await hook.printed)).toEqual({ behavior: "allow" });
  });
});

test("references and tokens are on disk only as hashes, or not at all", async () => {
  await startWithPhone();
  await ask("s1", "npm test");
  await fixture.waitForText(phone, "npm test");
  const reference = readReference(phone, "Allow");
  expect(reference).toMatch(/^[\w-]{22}$/);
  await waitUntil(() => fixture.read(fixture.paths.channelState).includes('"meaning"'), 3_000);
  const saved = readFileSync(fixture.paths.channelState, "utf8");
  expect(saved).not.toContain(reference);
  expect(statSync(fixture.paths.channelState).mode & 0o777).toBe(0o600);
  for (const secret of Object.values(phone.secrets))
    for (const path of [fixture.paths.channelState, fixture.paths.log, fixture.paths.snapshot])
      expect(fixture.read(path)).not.toContain(secret);
});
