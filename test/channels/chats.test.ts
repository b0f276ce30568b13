/** Telegram and Discord in the real app: what they are for, and what an attacker would try. */

import { describe, expect } from "bun:test";
import { createRequest, parseDecision } from "../answers/fixture.ts";
import { colourQuestion } from "../colour-question.ts";
import { runSideBySide } from "../side-by-side.ts";
import { waitUntil } from "../wait-until.ts";
import { createChannelFixture } from "./app-fixture.ts";
import { type DiscordServer, startDiscordServer } from "./servers/discord.ts";
import type { FakeService, ShownMessage } from "./servers/fake-service.ts";
import { startTelegramServer, type TelegramServer } from "./servers/telegram.ts";

const question = { questions: [colourQuestion] };

interface Chat {
  readonly type: string;
  readonly start: () => Promise<FakeService>;
  /** What the sender of the last response was shown. */
  readonly findReply: (server: FakeService) => string | undefined;
  /** Of the first button of the first message. */
  readonly findReference: (server: FakeService) => unknown;
}

const chats: readonly Chat[] = [
  {
    type: "telegram",
    start: () => startTelegramServer(),
    findReply: (server) => (server as TelegramServer).toasts.at(-1)?.text,
    findReference: (server) => (server as TelegramServer).sent()[0]?.keyboard[0]?.[0]?.callback_data,
  },
  {
    type: "discord",
    start: () => startDiscordServer(),
    findReply: (server) => (server as DiscordServer).replies().at(-1)?.content,
    findReference: (server) => (server as DiscordServer).sent()[0]?.buttons[0]?.custom_id,
  },
  {
    type: "discord",
    start: () => startDiscordServer({ isDirect: true }),
    findReply: (server) => (server as DiscordServer).replies().at(-1)?.content,
    findReference: (server) => (server as DiscordServer).sent()[0]?.buttons[0]?.custom_id,
  },
];

describe.each(chats)("$type", ({ type, start, findReply, findReference }) => {
  const { fixture, test } = runSideBySide(async () => ({ ...createChannelFixture(), server: await start() }));

  async function startApp(fields: Record<string, unknown> = {}): Promise<void> {
    fixture.configure({ chat: { type, server: fixture.server, fields } });
    await fixture.start();
  }

  const findMessage = (text: string): ShownMessage | undefined =>
    fixture.server.messages().find((message) => message.text.includes(text));
  const waitForMessage = (text: string) =>
    waitUntil(() => findMessage(text), 8_000, `a message with "${text}"`);
  const waitForReply = (text: string) =>
    waitUntil(() => findReply(fixture.server)?.includes(text), 8_000, `a reply with "${text}"`);
  const ask = (session: string, more: Record<string, unknown> = {}) =>
    fixture.startHook(createRequest(session, more));

  test("a command is allowed with a tap, and the message says by whom", async () => {
    await startApp();
    const hook = ask("s1");
    await waitForMessage("npm test");
    await fixture.server.tap("Allow");
    expect(parseDecision(await hook.printed)).toEqual({ behavior: "allow" });
    await waitForMessage("Allowed by chat (@joe)");
    expect(fixture.server.messages().flatMap(({ buttons }) => buttons)).toEqual([]);
    await waitForReply("Allowed");
    expect(fixture.read(fixture.paths.answerLog)).toContain('"by":"chat (@joe)"');
  });

  test("a command is denied with a reason", async () => {
    await startApp();
    const hook = ask("s1");
    await waitForMessage("npm test");
    await fixture.server.reply("not on a Friday\n**please**");
    expect(parseDecision(await hook.printed)).toMatchObject({
      behavior: "deny",
      message: expect.stringContaining("not on a Friday\n**please**"),
    });
    await waitForMessage("Denied by chat (@joe)");
  });

  test("a question is answered with a button, or with text", async () => {
    await startApp();
    const askQuestion = (session: string) =>
      ask(session, { tool_name: "AskUserQuestion", tool_input: question, permission_suggestions: [] });
    const first = askQuestion("s1");
    await waitForMessage("Which colour?");
    await fixture.server.tap("2. Blue");
    expect(await first.printed).toContain('"Which colour?":"Blue"');
    await waitForMessage("Answered by chat (@joe)");
    const second = askQuestion("s2");
    await waitForMessage("Which colour?");
    await fixture.server.reply("Green, as the sea");
    expect(await second.printed).toContain("Green, as the sea");
  });

  test("a plan is approved", async () => {
    await startApp();
    const plan = { plan: "# Plan\n\n1. Write the test\n2. Fix it" };
    const hook = ask("s1", { tool_name: "ExitPlanMode", tool_input: plan, permission_suggestions: [] });
    await waitForMessage("Write the test");
    await fixture.server.tap("Approve");
    expect(parseDecision(await hook.printed)).toMatchObject({ behavior: "allow" });
    await waitForMessage("Approved by chat (@joe)");
  });

  test("a request that was answered at the desk is withdrawn within two seconds", async () => {
    await startApp();
    const hook = ask("s1");
    const { answerId } = await fixture.waitForAsk("s1");
    await waitForMessage("npm test");
    const started = performance.now();
    await fixture.answer("s1", { do: "allow", ask: answerId, by: "command line" });
    await waitForMessage("Allowed on the command line");
    expect(performance.now() - started).toBeLessThan(2_000);
    expect(findMessage("npm test")).toBeUndefined();
    await hook.exited;
  });

  test("a request survives a restart of beckon: one message, and its buttons work", async () => {
    await startApp();
    const hook = ask("s1");
    await waitForMessage("npm test");
    await fixture.stopApps();
    await fixture.start();
    await fixture.waitForAsk("s1");
    await fixture.server.tap("Allow");
    expect(parseDecision(await hook.printed)).toEqual({ behavior: "allow" });
    expect(fixture.server.sentCount()).toBe(1);
  });

  test("a foreign account cannot answer: it is told so, and it is logged", async () => {
    await startApp();
    const hook = ask("s1");
    await waitForMessage("npm test");
    await fixture.server.tap("Allow", fixture.server.accounts.foreign);
    await waitForReply("Not accepted");
    expect(hook.isRunning()).toBe(true);
    await waitUntil(() => fixture.readChannelLog().some((line) => line.includes("@eve")), 5_000);
    // The button still works for its owner.
    await fixture.server.tap("Allow");
    expect(parseDecision(await hook.printed)).toEqual({ behavior: "allow" });
  });

  test("a made-up reference, one of another message, and one that was used are refused", async () => {
    await startApp();
    const first = ask("s1");
    await waitForMessage("npm test");
    await fixture.server.forge("A".repeat(22));
    await waitForReply("Not accepted");
    await fixture.server.tap("Allow");
    expect(parseDecision(await first.printed)).toEqual({ behavior: "allow" });
    await waitForReply("Allowed");
    const second = ask("s2", { tool_input: { command: "npm run second" } });
    await waitForMessage("npm run second");
    await fixture.server.replay();
    await waitForReply("Not accepted");
    expect(second.isRunning()).toBe(true);
    await fixture.server.tap("Deny");
    expect(parseDecision(await second.printed)).toMatchObject({ behavior: "deny" });
  });

  test("a button of a request that is over is refused", async () => {
    await startApp();
    const hook = ask("s1");
    const { answerId } = await fixture.waitForAsk("s1");
    await waitForMessage("npm test");
    const reference = String(findReference(fixture.server));
    expect(reference).toHaveLength(22);
    await fixture.answer("s1", { do: "deny", ask: answerId, by: "command line" });
    await hook.exited;
    await waitForMessage("Denied on the command line");
    const before = fixture.read(fixture.paths.answerLog);
    await fixture.server.forge(reference);
    await waitForReply("Not accepted");
    expect(fixture.read(fixture.paths.answerLog)).toBe(before);
  });

  test("what would run is shown as it is, whatever it contains", async () => {
    await startApp();
    const command = "echo '**x** [a](https://evil.example) <@1> @everyone `b` ```' \u202e# ||z||";
    const hook = ask("s1", { tool_input: { command } });
    await waitForMessage("⟨U+202E⟩");
    const message = findMessage("⟨U+202E⟩");
    expect(message?.text).toContain(
      "echo '**x** [a](https://evil.example) <@1> @everyone `b` ```' ⟨U+202E⟩# ||z||",
    );
    expect(message?.mentions).toEqual([]);
    hook.signal("SIGKILL");
  });

  test("without answers, nothing can be tapped", async () => {
    await startApp({ answers: "off" });
    const hook = ask("s1");
    await waitForMessage("npm test");
    expect(fixture.server.messages()[0]?.buttons).toEqual([]);
    hook.signal("SIGKILL");
  });
});
