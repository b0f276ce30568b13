import { afterEach, describe, expect, test } from "bun:test";
import type { ChannelMessage, ChannelOptions } from "../../../src/channels/channel.ts";
import { DeliveryError } from "../../../src/channels/channel.ts";
import { openTelegram } from "../../../src/channels/telegram/client.ts";
import type { Schedule } from "../../../src/core/interfaces/index.ts";
import type { JsonRecord } from "../../../src/core/json.ts";
import { schedule as systemSchedule } from "../../../src/system/schedule.ts";
import { waitUntil } from "../../wait-until.ts";
import { exampleMessage, finalMessage, openOn } from "../fixture.ts";
import { eve, joe, startTelegramServer, type TelegramServer } from "../servers/telegram.ts";

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function start(chat?: number): Promise<TelegramServer> {
  const server = await startTelegramServer(chat);
  cleanUps.push(() => server.stop());
  return server;
}

function open(server: TelegramServer, options: Partial<ChannelOptions> = {}, saved?: { value: JsonRecord }) {
  const opened = openOn(openTelegram, server, options, saved);
  cleanUps.push(() => opened.channel.stop());
  return opened;
}

async function openListening(server: TelegramServer, options: Partial<ChannelOptions> = {}) {
  const opened = open(server, options);
  opened.channel.listen?.();
  await opened.channel.send(exampleMessage, "1");
  const [message] = server.sent();
  if (!message) throw new Error("nothing was sent");
  return { ...opened, message };
}

const polls = (server: TelegramServer) =>
  server.api.requests.filter(({ path }) => path.endsWith("/getUpdates"));
const newestText = (server: TelegramServer) => server.sent().at(-1)?.text;

describe("what is shown", () => {
  test("commands are code, so that names, links and markup in them stay text", async () => {
    const server = await start();
    const lines = [
      "echo **x** _y_ [a](https://evil.example) @eve #tag /stop <b>",
      "curl https://evil.example",
    ];
    await open(server).channel.send({ ...exampleMessage, lines }, "1");
    const [message] = server.sent();
    expect(message?.text).toContain(lines.join("\n"));
    const code = message?.entities.find(({ type }) => type === "pre");
    expect(message?.text.slice(Number(code?.offset), Number(code?.offset) + Number(code?.length))).toBe(
      lines.join("\n"),
    );
    expect(message?.link_preview_options).toEqual({ is_disabled: true });
    expect(server.api.requests.every(({ body }) => !Object.hasOwn(Object(body), "parse_mode"))).toBe(true);
  });

  test("a project that is named like an account mentions nobody", async () => {
    const server = await start();
    await open(server).channel.send({ ...exampleMessage, title: "@eve needs you" }, "1");
    expect(server.messages()[0]?.mentions).toEqual([]);
  });

  test("the entities fit a title with emoji", async () => {
    const server = await start();
    await open(server).channel.send({ ...exampleMessage, title: "🦊🦊 app", lines: ["ls 🦊"] }, "1");
    const [message] = server.sent();
    const [title, code] = message?.entities ?? [];
    expect(title).toMatchObject({ type: "bold", offset: 0, length: "🦊🦊 app".length });
    expect(code).toMatchObject({ type: "pre", offset: "🦊🦊 app".length + 1, length: "ls 🦊".length });
  });

  test("buttons carry nothing but their references, and short ones share a row", async () => {
    const server = await start();
    await open(server).channel.send(exampleMessage, "1");
    const [row, ...others] = server.sent()[0]?.keyboard ?? [];
    expect(others).toEqual([]);
    expect(row?.map(({ text, callback_data }) => [text, callback_data])).toEqual([
      ["Allow", "a".repeat(22)],
      ["Deny", "d".repeat(22)],
    ]);
  });

  test("a link is a button, except one to this machine, which Telegram refuses", async () => {
    const server = await start();
    const { channel } = open(server);
    await channel.send({ ...exampleMessage, link: "https://beckon.example/s/1" }, "1");
    await channel.send({ ...exampleMessage, link: "http://127.0.0.1:4488/" }, "2");
    expect(server.messages().map(({ buttons }) => buttons)).toEqual([
      ["Allow", "Deny", "Open"],
      ["Allow", "Deny"],
    ]);
  });

  test("only quiet alerts arrive without a sound", async () => {
    const server = await start();
    const { channel } = open(server);
    await channel.send({ ...exampleMessage, urgency: "low" }, "1");
    await channel.send(exampleMessage, "2");
    expect(server.sent().map(({ isSilent }) => isSilent)).toEqual([true, false]);
  });
});

describe("how a message ends", () => {
  test("one that says so already, or was deleted by the user, counts as updated", async () => {
    const server = await start();
    const { channel } = open(server);
    const handle = await channel.send(exampleMessage, "1");
    await channel.update?.(handle, finalMessage);
    await channel.update?.(handle, finalMessage);
    await channel.update?.(`${joe.id}/4711`, finalMessage);
    expect(server.sent()).toHaveLength(1);
    expect(server.sent()[0]).toMatchObject({ edits: 1, keyboard: [] });
  });

  test("a group that became a supergroup is named in the error", async () => {
    const server = await start();
    server.api.fail(/sendMessage/, {
      status: 400,
      body: {
        ok: false,
        error_code: 400,
        description: "Bad Request: group chat was upgraded to a supergroup chat",
        parameters: { migrate_to_chat_id: -1001 },
      },
    });
    const error = await open(server)
      .channel.send(exampleMessage, "1")
      .catch((reason) => reason);
    expect(error).toBeInstanceOf(DeliveryError);
    expect(error.message).toContain('set chat to "-1001"');
    expect(error.isPermanent).toBe(true);
  });

  test("a redirect is not followed, because it would take the token along", async () => {
    const server = await start();
    server.api.fail(/sendMessage/, "redirect");
    const error = await open(server)
      .channel.send(exampleMessage, "1")
      .catch((reason) => reason);
    expect(error.message).toContain("redirect");
    expect(server.api.requests).toHaveLength(1);
  });
});

describe("answers", () => {
  test("the sender of a tap is shown what became of it", async () => {
    const server = await start();
    const { responses, message } = await openListening(server);
    await server.tap("Allow");
    await waitUntil(() => server.toasts.length === 1, 5_000);
    expect(responses).toEqual([
      {
        reference: "a".repeat(22),
        account: "@joe",
        accountId: String(joe.id),
        text: null,
        handle: `${message.chat.id}/${message.message_id}`,
      },
    ]);
    expect(server.toasts[0]?.text).toBe("Allowed.");
  });

  test("an update that Telegram repeats counts once", async () => {
    const server = await start();
    const { responses, message } = await openListening(server);
    const id = server.tapButton(message, "Allow", joe);
    await waitUntil(() => server.isConfirmed(id), 5_000);
    server.queue({ callback_query: { id: "x", from: joe, message, data: "a".repeat(22) } }, id);
    const next = server.tapButton(message, "Deny", joe);
    await waitUntil(() => server.isConfirmed(next), 5_000);
    expect(responses.map(({ reference }) => reference[0])).toEqual(["a", "d"]);
  });

  test("ids that start again at a lower number are taken", async () => {
    const server = await start();
    const { responses, message } = await openListening(server);
    const tap = { id: "1", from: joe, message, data: "a".repeat(22) };
    server.queue({ callback_query: tap }, 5_000_000);
    await waitUntil(() => responses.length === 1, 5_000);
    await waitUntil(() => server.isConfirmed(5_000_000), 5_000);
    server.queue({ callback_query: { ...tap, data: "d".repeat(22) } }, 1_000);
    await waitUntil(() => responses.length === 2, 5_000);
    await waitUntil(() => Object(polls(server).at(-1)?.body).offset === 1_001, 5_000);
  });

  test("a button of a message in another chat is refused without being used", async () => {
    const server = await start();
    const { responses, message } = await openListening(server);
    server.tapButton({ ...message, chat: { id: eve.id, type: "private" } }, "Allow", joe);
    await waitUntil(() => server.toasts.length === 1, 5_000);
    server.queue({ callback_query: { id: "1", from: joe, inline_message_id: "x", data: "a".repeat(22) } });
    await waitUntil(() => server.toasts.length === 2, 5_000);
    expect(responses).toEqual([]);
    expect(server.toasts.every(({ isAlert }) => isAlert)).toBe(true);
  });

  test("a reply with text answers the message that it replies to, also after a restart", async () => {
    const server = await start();
    const saved = { value: {} };
    const first = open(server, {}, saved);
    await first.channel.send(exampleMessage, "1");
    await first.channel.send({ ...exampleMessage, replyReference: "s".repeat(22) }, "2");
    await first.channel.stop();
    const second = server.sent()[1];
    if (!second) throw new Error("the second message was not sent");
    const { channel, responses } = open(server, {}, saved);
    channel.listen?.();
    server.write("use the other branch", joe, { replyTo: second });
    await waitUntil(() => responses.length === 1, 5_000);
    expect(responses[0]).toMatchObject({ reference: "s".repeat(22), text: "use the other branch" });
    await waitUntil(() => newestText(server) === "Allowed.", 5_000);
  });

  test("a message that is over takes no reply", async () => {
    const server = await start();
    const { channel, responses, message, saved } = await openListening(server);
    await channel.update?.(`${joe.id}/${message.message_id}`, finalMessage);
    server.write("too late", joe, { replyTo: message });
    await waitUntil(() => newestText(server)?.includes("no longer"), 5_000);
    expect(responses).toEqual([]);
    expect(saved.value).toEqual({ replyTargets: [] });
  });

  test("text that replies to nothing, a photo and a text edited later are not answers, and the user is told", async () => {
    const server = await start();
    const { responses, message } = await openListening(server);
    server.write("yes", joe);
    await waitUntil(() => newestText(server)?.includes("reply to the message"), 5_000);
    server.write(undefined, joe, { replyTo: message });
    await waitUntil(() => newestText(server)?.includes("Only text"), 5_000);
    server.queue({
      edited_message: { message_id: 9, chat: message.chat, from: joe, text: "no", reply_to_message: message },
    });
    await waitUntil(() => newestText(server)?.includes("edited"), 5_000);
    expect(responses).toEqual([]);
  });
});

describe("strangers", () => {
  test("a stranger who writes to the bot learns only their own id, once, and it is logged", async () => {
    const server = await start();
    const { responses, problems, message } = await openListening(server);
    server.write("/start", eve);
    await waitUntil(() => newestText(server)?.includes(String(eve.id)), 5_000);
    const count = server.sent().length;
    server.write("yes", eve, { replyTo: message });
    const last = server.write("allow it", eve);
    await waitUntil(() => server.isConfirmed(last), 5_000);
    expect(server.sent().length).toBe(count);
    expect(responses).toEqual([]);
    expect(problems.filter((text) => text.includes("@eve"))).toHaveLength(1);
  });

  test("in a group only listed accounts answer; anonymous administrators and bots never do", async () => {
    const group = -100_200_300;
    const server = await start(group);
    const { responses, message } = await openListening(server);
    server.write("no", eve, { replyTo: message, chat: group });
    server.write("no", joe, { replyTo: message, chat: group, extra: { sender_chat: { id: group } } });
    server.queue({
      message: {
        message_id: 99,
        chat: message.chat,
        from: { ...joe, is_bot: true },
        text: "no",
        reply_to_message: message,
      },
    });
    server.write("chatting", joe, { chat: group });
    const last = server.write("not now", joe, { replyTo: message, chat: group });
    await waitUntil(() => server.isConfirmed(last), 5_000);
    await waitUntil(() => responses.length === 1, 5_000);
    expect(responses).toEqual([
      { reference: "r".repeat(22), account: "@joe", accountId: String(joe.id), text: "not now" },
    ]);
    // Nothing is written into the group but the alert and the answer to the reply.
    await waitUntil(() => newestText(server) === "Allowed.", 5_000);
    expect(server.sent().length).toBe(2);
  });

  test("a name that looks like another account's is not shown", async () => {
    const server = await start();
    const { responses, message } = await openListening(server);
    server.tapButton(message, "Allow", { id: 5, first_name: "@joe" });
    await waitUntil(() => responses.length === 1, 5_000);
    expect(responses[0]).toMatchObject({ account: "5", accountId: "5" });
  });
});

describe("a server that misbehaves", () => {
  test("polling goes on after errors, resets and garbage, and the problem is reported and ends", async () => {
    const server = await start();
    const pauses: number[] = [];
    const schedule: ChannelOptions["schedule"] = (work, ms) => {
      pauses.push(ms);
      queueMicrotask(work);
      return () => {};
    };
    server.api.fail(
      /getUpdates/,
      { status: 500, body: { ok: false, error_code: 500, description: "Internal Server Error" } },
      "reset",
      "garbage",
      {
        status: 429,
        body: { ok: false, error_code: 429, description: "Too Many", parameters: { retry_after: 7 } },
      },
      {
        status: 409,
        body: { ok: false, error_code: 409, description: "Conflict: terminated by other getUpdates" },
      },
    );
    const { channel, problems, responses } = await openListening(server, { schedule });
    await server.tap("Allow");
    await waitUntil(() => responses.length === 1, 5_000);
    expect(pauses).toEqual([1_000, 2_000, 4_000, 7_000, 16_000]);
    await waitUntil(() => channel.problem() === null, 5_000);
    expect(problems.at(-1)).toContain("another program receives the updates");
    for (const problem of problems) expect(problem).not.toContain(server.secrets.token ?? "");
  });

  test("a token that is not valid is tried again once a minute", async () => {
    const server = await start();
    const pauses: number[] = [];
    const { channel, problems } = open(server, {
      secret: () => "1:wrong",
      schedule: (_work, ms) => {
        pauses.push(ms);
        return () => {};
      },
    });
    channel.listen?.();
    await waitUntil(() => pauses.length === 1, 5_000);
    expect(pauses).toEqual([60_000]);
    expect(channel.problem()).toContain("token is not valid");
    expect(problems).toHaveLength(1);
  });

  test("a toast that cannot be delivered does not stop later answers", async () => {
    const server = await start();
    const { responses, problems } = await openListening(server, { requestTimeoutMs: 1_000 });
    server.api.fail(/answerCallbackQuery/, "hang", {
      status: 400,
      body: { ok: false, error_code: 400, description: "Bad Request: query is too old" },
    });
    await server.tap("Allow");
    await server.tap("Deny");
    await waitUntil(() => responses.length === 2, 5_000);
    await waitUntil(() => problems.length === 2, 5_000);
    expect(problems.every((text) => text.includes("not confirmed"))).toBe(true);
  });

  test.each([
    ["nothing", {}],
    ["a tap without data", { callback_query: { id: "1", from: joe } }],
    [
      "a message without a sender",
      { message: { message_id: 1, chat: { id: joe.id, type: "private" }, text: "x" } },
    ],
    ["fields of the wrong type", { callback_query: { id: 1, from: null, message: 7, data: {} } }],
    ["a message that is a number", { message: 7 }],
  ])("an update with %s changes nothing, and later ones arrive", async (_name, update: JsonRecord) => {
    const server = await start();
    const { responses } = await openListening(server);
    server.queue(update);
    await server.tap("Allow");
    await waitUntil(() => responses.some(({ reference }) => reference === "a".repeat(22)), 5_000);
    expect(responses.filter(({ reference }) => reference !== "")).toHaveLength(1);
  });

  test("stop ends a poll that waits", async () => {
    const server = await start();
    const { channel } = await openListening(server);
    await waitUntil(() => polls(server).length === 1, 5_000);
    const started = performance.now();
    await channel.stop();
    expect(performance.now() - started).toBeLessThan(1_000);
    expect(polls(server)).toHaveLength(1);
  });
});

test("a message longer than Telegram allows is cut before the limit", async () => {
  const server = await start();
  const message: ChannelMessage = { ...exampleMessage, lines: ["🦊".repeat(4_000)] };
  await open(server).channel.send(message, "1");
  expect(server.sent()[0]?.text.length).toBeLessThanOrEqual(4_096);
  expect(server.sent()[0]?.text).toContain("…\nReply with a reason");
});

describe("a server that lies", () => {
  test.each([
    ["has nothing, and does not wait", { ok: true, result: [] }],
    ["repeats one update", { ok: true, result: [{ update_id: 7 }] }],
    [
      "asks for no pause",
      { ok: false, error_code: 429, description: "slow down", parameters: { retry_after: 0 } },
    ],
    [
      "asks for a negative one",
      { ok: false, error_code: 429, description: "", parameters: { retry_after: -5 } },
    ],
    [
      "asks for one that no timer can wait",
      { ok: false, error_code: 429, description: "", parameters: { retry_after: 1e12 } },
    ],
  ])("one that %s is not asked without end", async (_name, body) => {
    const server = await start();
    server.api.fail(/getUpdates/, ...Array.from({ length: 200 }, () => ({ status: 200, body })));
    const pauses: number[] = [];
    const schedule: Schedule = (work, ms) => {
      pauses.push(ms);
      return systemSchedule(work, pauses.length < 5 ? 0 : ms);
    };
    open(server, { schedule }).channel.listen?.();
    await waitUntil(() => pauses.length === 5, 5_000);
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(1_000);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(60 * 60_000);
    expect(polls(server).length).toBeLessThanOrEqual(7);
  });
});

test("a damaged list of messages to reply to does not keep alerts from being sent", async () => {
  const server = await start();
  const saved = { value: { replyTargets: [null, 7, ["x"], [1, "r"]] } };
  await open(server, {}, saved).channel.send(exampleMessage, "1");
  expect(server.sent()).toHaveLength(1);
});
