import { afterEach, describe, expect, test } from "bun:test";
import type { ChannelOptions } from "../../../src/channels/channel.ts";
import { DeliveryError } from "../../../src/channels/channel.ts";
import { openDiscord } from "../../../src/channels/discord/client.ts";
import { discord } from "../../../src/channels/discord/index.ts";
import type { JsonRecord } from "../../../src/core/json.ts";
import { waitUntil } from "../../wait-until.ts";
import { testService } from "../contract.ts";
import { exampleMessage, finalMessage, openOn } from "../fixture.ts";
import {
  type DiscordServer,
  type DiscordServerOptions,
  eve,
  joe,
  startDiscordServer,
} from "../servers/discord.ts";

describe("with the address of a webhook", () => {
  testService({ service: discord, start: () => startDiscordServer({ isWebhook: true }) });
});

describe("with direct messages", () => {
  testService({ service: discord, start: () => startDiscordServer({ isDirect: true }) });
});

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function start(options: DiscordServerOptions = {}): Promise<DiscordServer> {
  const server = await startDiscordServer(options);
  cleanUps.push(() => server.stop());
  return server;
}

function open(server: DiscordServer, options: Partial<ChannelOptions> = {}, saved?: { value: JsonRecord }) {
  const opened = openOn(openDiscord, server, options, saved);
  cleanUps.push(() => opened.channel.stop());
  return opened;
}

async function openListening(server: DiscordServer, options: Partial<ChannelOptions> = {}) {
  const opened = open(server, options);
  opened.channel.listen?.();
  await opened.channel.send(exampleMessage, "1");
  return opened;
}

const failure = async (work: Promise<unknown>): Promise<DeliveryError> => {
  const error = await work.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(DeliveryError);
  return error as DeliveryError;
};

const suppressEmbeds = 4;
const silent = 4_096;

describe("a message", () => {
  test("mentions nobody, shows no previews, and its buttons carry only references", async () => {
    const server = await start();
    await open(server).channel.send({ ...exampleMessage, lines: ["@everyone https://evil.example"] }, "1");
    const [message] = server.sent();
    expect(message).toMatchObject({
      channel: server.channel,
      allowedMentions: { parse: [] },
      flags: suppressEmbeds,
    });
    expect(message?.buttons.map(({ label, custom_id, style }) => [label, custom_id, style])).toEqual([
      ["Allow", "a".repeat(22), 3],
      ["Deny", "d".repeat(22), 4],
      ["Reply…", `text:${"r".repeat(22)}`, 2],
    ]);
  });

  test("that is quiet arrives without a sound", async () => {
    const server = await start();
    await open(server).channel.send({ ...exampleMessage, urgency: "low" }, "1");
    expect(server.sent()[0]?.flags).toBe(suppressEmbeds | silent);
  });

  test("with many buttons has rows of five", async () => {
    const server = await start();
    const buttons = Array.from({ length: 12 }, (_, n) => ({
      label: `${n}. ${"x".repeat(90)}`,
      reference: `reference-${n}`,
      style: "plain" as const,
    }));
    await open(server).channel.send({ ...exampleMessage, buttons }, "1");
    expect(server.sent()[0]?.buttons).toHaveLength(13);
  });

  test("of a project with a channel of its own goes there", async () => {
    const projects = { "/home/dev": "100000000000000001", "/home/dev/shop": "100000000000000002" };
    const server = await start({ settings: { projects } });
    const { channel } = open(server);
    await channel.send({ ...exampleMessage, folder: "/home/dev/shop/api" }, "1");
    await channel.send({ ...exampleMessage, folder: "/home/dev/shopping" }, "2");
    expect(server.sent().map((message) => message.channel)).toEqual([server.projectChannel, server.channel]);
  });

  test("that the user deleted counts as updated", async () => {
    const server = await start();
    const { channel } = open(server);
    const handle = await channel.send(exampleMessage, "1");
    await channel.update?.(handle.replace(/\d+$/, "500000000000009999"), finalMessage);
    expect(server.sent()[0]?.edits).toBe(0);
  });

  test("a direct channel is opened once and remembered", async () => {
    const server = await start({ isDirect: true });
    const saved = { value: {} };
    await open(server, {}, saved).channel.send(exampleMessage, "1");
    await open(server, {}, saved).channel.send(exampleMessage, "2");
    const opened = server.api.requests.filter(({ path }) => path.endsWith("/users/@me/channels"));
    expect(opened).toHaveLength(1);
    expect(server.sentCount()).toBe(2);
  });

  test("after a token was refused, one that is valid again works without a restart", async () => {
    const server = await start();
    const { channel } = open(server);
    server.api.fail(/POST/, { status: 401, body: { message: "401: Unauthorized", code: 0 } });
    const error = await failure(channel.send(exampleMessage, "1"));
    expect(error).toMatchObject({
      isPermanent: true,
      message: expect.stringContaining("token is not valid"),
    });
    await channel.send(exampleMessage, "1");
    expect(server.sentCount()).toBe(1);
  });

  test("a limit for all requests is obeyed without asking again", async () => {
    const server = await start();
    const { channel } = open(server);
    server.api.fail(/POST/, {
      status: 429,
      body: { message: "You are being rate limited.", retry_after: 30, global: true },
      headers: { "Retry-After": "30", "X-RateLimit-Global": "true" },
    });
    expect((await failure(channel.send(exampleMessage, "1"))).retryAfterMs).toBe(30_000);
    const { retryAfterMs } = await failure(channel.send(exampleMessage, "1"));
    expect(retryAfterMs).toBeGreaterThan(25_000);
    expect(server.api.requests).toHaveLength(1);
  });

  test("a limit of the network in front of Discord, which is not JSON, is a pause and not a refusal", async () => {
    const server = await start();
    server.api.fail(/POST/, { status: 429, body: "error code: 1015", headers: { "Retry-After": "20" } });
    const error = await failure(open(server).channel.send(exampleMessage, "1"));
    expect(error).toMatchObject({ isPermanent: false, retryAfterMs: 20_000 });
  });

  test("a redirect is not followed, because it would take the token along", async () => {
    const server = await start();
    server.api.fail(/POST/, "redirect");
    expect((await failure(open(server).channel.send(exampleMessage, "1"))).message).toContain("redirect");
    expect(server.api.requests).toHaveLength(1);
  });

  test("an answer without the id of the message is not taken for success", async () => {
    const server = await start();
    server.api.fail(/POST/, { status: 200, body: { ok: true } });
    expect((await failure(open(server).channel.send(exampleMessage, "1"))).isUncertain).toBe(true);
  });

  test("without a token and without a webhook, the user is told what is missing", async () => {
    const opening = async () => open(await start(), { secret: () => null });
    await expect(opening()).rejects.toThrow("neither a bot token nor a webhook address is set");
  });
});

describe("answers", () => {
  test("only the sender of a tap sees what became of it, and without mentions", async () => {
    const server = await start();
    const { responses } = await openListening(server);
    await server.tap("Allow");
    await waitUntil(() => server.replies()[0]?.content === "Allowed.", 5_000);
    expect(server.replies()).toEqual([{ content: "Allowed.", isEphemeral: true }]);
    expect(responses).toEqual([
      { reference: "a".repeat(22), account: "@joe", accountId: joe.id, text: null },
    ]);
  });

  test("a stranger gets no dialog to write in", async () => {
    const server = await start();
    const { responses } = await openListening(server);
    await server.forge(`text:${"r".repeat(22)}`, eve.id);
    await waitUntil(() => server.replies().length === 1, 5_000);
    expect(server.dialogs()).toEqual([]);
    expect(responses).toEqual([
      { reference: "r".repeat(22), account: "@eve", accountId: eve.id, text: null },
    ]);
  });

  test("a tap that Discord repeats after a lost connection counts once", async () => {
    const server = await start();
    const { responses } = await openListening(server);
    await waitUntil(() => server.gateway.isReady(), 5_000);
    const interaction = {
      id: "1",
      application_id: "400000000000000001",
      token: "t",
      type: 3,
      data: { custom_id: "a".repeat(22) },
      user: joe,
    };
    server.interact(interaction);
    server.interact(interaction);
    server.interact({ ...interaction, id: "2", data: { custom_id: "d".repeat(22) } });
    await waitUntil(() => responses.some(({ reference }) => reference[0] === "d"), 5_000);
    expect(responses.map(({ reference }) => reference[0])).toEqual(["a", "d"]);
  });

  test("a confirmation that cannot be delivered does not stop later answers", async () => {
    const server = await start();
    const { responses, problems } = await openListening(server, { requestTimeoutMs: 1_000 });
    server.api.fail(
      /interactions/,
      { status: 404, body: { message: "Unknown interaction", code: 10062 } },
      "hang",
    );
    await server.tap("Allow");
    await server.tap("Deny");
    await waitUntil(() => responses.length === 2 && problems.length === 2, 5_000);
    expect(problems.every((text) => text.includes("not confirmed"))).toBe(true);
    for (const problem of problems) expect(problem).not.toContain("interaction-");
  });

  test.each([
    ["no sender", { user: undefined }],
    ["a type that is not known", { type: 99 }],
    ["data of the wrong shape", { data: 7 }],
    ["no token", { token: 7 }],
  ])("an interaction with %s changes nothing, and later ones arrive", async (_name, fields) => {
    const server = await start();
    const { responses } = await openListening(server);
    await waitUntil(() => server.gateway.isReady(), 5_000);
    server.interact({
      id: "1",
      application_id: "1",
      token: "t",
      type: 3,
      data: { custom_id: "x" },
      user: joe,
      ...fields,
    });
    await server.tap("Allow");
    await waitUntil(() => responses.length === 1, 5_000);
    expect(responses[0]?.reference).toBe("a".repeat(22));
  });

  test("a gateway that refuses the token is a problem of a channel that takes answers, and of no other", async () => {
    const server = await start();
    const secret = () => "wrong";
    const { channel } = open(server, { secret });
    channel.listen?.();
    await waitUntil(() => channel.problem()?.includes("token is not valid"), 5_000);
    expect(open(server, { secret, isAnswering: false }).channel.problem()).toBeNull();
  });
});
