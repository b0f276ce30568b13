import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Channel } from "../../src/channels/channel.ts";
import { slack } from "../../src/channels/slack/index.ts";
import type { Schedule } from "../../src/core/interfaces/index.ts";
import { waitUntil } from "../wait-until.ts";
import { exampleMessage, finalMessage, type OpenOptions, openService } from "./fixture.ts";
import { addGateway, type GatewayConnection } from "./servers/gateway.ts";
import { startHandshakeServer } from "./servers/handshake.ts";
import { type SlackServer, startSlackServer } from "./servers/slack.ts";

let server: SlackServer;
const opened: Channel[] = [];
beforeEach(async () => {
  server = await startSlackServer();
});
afterEach(async () => {
  for (const channel of opened.splice(0)) await channel.stop();
  await server.stop();
});

async function open({ settings = server.settings, ...options }: OpenOptions = {}) {
  const accounts = [server.accounts.listed];
  const result = await openService(slack, server, { ...options, settings: { accounts, ...settings } });
  opened.push(result.channel);
  return result;
}

async function openListening() {
  const result = await open();
  result.channel.listen?.();
  await waitUntil(() => server.connectionCount() === 1, 5_000);
  return result;
}

test("no compression is accepted, in which a short message could be a GB", async () => {
  const { url, extensions, stop } = startHandshakeServer();
  server.socketUrl = url;
  (await open()).channel.listen?.();
  expect(await extensions).toBeNull();
  await stop();
});

describe("with a webhook", () => {
  const openWebhook = (webhookUrl = server.webhookUrl) =>
    open({ settings: { channel: null }, secrets: { webhookUrl } });

  test("a message arrives without buttons, and cannot be changed", async () => {
    const { channel } = await openWebhook();
    await channel.send(exampleMessage, "id-1");
    expect(server.messages()).toEqual([
      { text: "checkout-api wants to use Bash\nnpm test", buttons: [], mentions: [] },
    ]);
    expect(channel.update).toBeUndefined();
    expect(channel.listen).toBeUndefined();
    expect(slack.canAnswer({ channel: null }, () => null)).toBe(false);
  });

  test("a webhook that was removed is named as the reason, without its address", async () => {
    const { channel } = await openWebhook(server.webhookUrl.replace("secret-part", "other-secret"));
    const error = await channel.send(exampleMessage, "id-1").catch((reason) => reason);
    expect(error).toMatchObject({ isPermanent: true });
    expect(error.message).toContain("the webhook was removed (no_service)");
    expect(error.message).not.toContain("other-secret");
  });

  test.each([
    ["rate-limit", { retryAfterMs: 1_000, isPermanent: false }],
    ["error", { isPermanent: false, isUncertain: false }],
    ["hang", { isUncertain: true }],
    ["lose-answer", { isUncertain: true }],
    ["garbage", { isUncertain: true }],
  ] as const)("%s", async (how, expected) => {
    const { channel } = await openWebhook();
    server.misbehave(how, 1);
    const error = await channel.send(exampleMessage, "id-1").catch((reason) => reason);
    expect(error).toMatchObject(expected);
    expect(error.message).not.toContain("secret-part");
  });
});

test("nothing in a title becomes a mention in the notification", async () => {
  const { channel } = await open();
  await channel.send({ ...exampleMessage, title: "<!everyone> & <@U1>" }, "id-1");
  expect(server.messages()[0]?.mentions).toEqual([]);
  expect(server.messages()[0]?.text).toContain("<!everyone> & <@U1>");
  expect(server.requests[0]?.body).toMatchObject({
    text: "&lt;!everyone&gt; &amp; &lt;@U1&gt;",
    unfurl_links: false,
    link_names: false,
  });
});

test("text that Slack would show otherwise does not count as fully shown", () => {
  expect(slack.fits({ ...exampleMessage, lines: ["a && b < c"] })).toBe(true);
  expect(slack.fits({ ...exampleMessage, lines: ["echo '&lt;'"] })).toBe(false);
  expect(slack.fits({ ...exampleMessage, lines: ["&".repeat(700)] })).toBe(false);
  expect(slack.fits({ ...exampleMessage, lines: ["x".repeat(3_001)] })).toBe(false);
});

test("a message to a user is changed in their direct message", async () => {
  const { channel } = await open({ settings: { ...server.settings, channel: "U0123JOE" } });
  const handle = await channel.send(exampleMessage, "id-1");
  expect(handle).toStartWith("D0123JOE/");
  await channel.update?.(handle, finalMessage);
  expect(server.messages()[0]?.text).toContain("Allowed in the terminal");
});

test.each([
  [
    { botToken: "xoxb-wrong-wrong", appToken: "xapp-1-A1-2-abcdefgh" },
    "the token is not valid (invalid_auth)",
  ],
  [{ appToken: "xapp-1-A1-2-abcdefgh" }, "the bot's token for Slack is not set"],
])("with the secrets %j, the error says what to do", async (secrets, expected) => {
  const { channel } = await open({ secrets });
  await expect(channel.send(exampleMessage, "id-1")).rejects.toThrow(expected);
});

test("without an app-level token, answers are reported as impossible", async () => {
  const { channel } = await open({ secrets: { botToken: server.secrets.botToken ?? "" } });
  expect(channel.listen).toBeUndefined();
  expect(channel.problem()).toContain("app-level token");
});

describe("Socket Mode", () => {
  test("the sender of a tap gets the result, and only they see it", async () => {
    const { channel, responses } = await openListening();
    const handle = await channel.send(exampleMessage, "id-1");
    await server.tap("Allow");
    await waitUntil(() => server.ephemeral.length === 1, 5_000);
    expect(server.ephemeral).toEqual([{ user: server.accounts.listed, text: "Allowed." }]);
    expect(responses[0]).toEqual({
      reference: "a".repeat(22),
      account: "@joe",
      accountId: server.accounts.listed,
      text: null,
      handle,
    });
  });

  test("an envelope that Slack sends again is acknowledged again, and counts once", async () => {
    const { channel, responses } = await openListening();
    await channel.send(exampleMessage, "id-1");
    const event = await server.sendEvent("no");
    await server.sendEnvelope("events_api", { type: "event_callback", event: {} }, event);
    await waitUntil(() => server.acknowledged.filter((id) => id === event).length === 2, 5_000);
    expect(responses).toHaveLength(1);
  });

  test("an event that Slack sends again in another envelope counts once", async () => {
    const { channel, responses } = await openListening();
    await channel.send(exampleMessage, "id-1");
    await server.sendEvent("no", {}, "Ev1");
    const again = await server.sendEvent("no", {}, "Ev1");
    await waitUntil(() => server.acknowledged.includes(again), 5_000);
    expect(responses).toHaveLength(1);
  });

  test.each([
    ["an edited text", { subtype: "message_changed" }],
    ["a text of an app", { bot_id: "B1" }],
    ["a text outside of a thread", { thread_ts: undefined }],
    ["a text in another thread", { thread_ts: "1600000000.000100" }],
    ["a text in another channel", { channel: "C0999ZZZZ" }],
    ["a user without an id", { user: undefined }],
  ])("%s is not an answer", async (_, more) => {
    const { channel, responses } = await openListening();
    await channel.send(exampleMessage, "id-1");
    await server.sendEvent("yes", more);
    // What was sent after it has arrived, so it was read.
    await server.sendEvent("no");
    await waitUntil(() => responses.length > 0, 5_000);
    expect(responses.map(({ text }) => text)).toEqual(["no"]);
  });

  test("people who may not answer can talk in the thread, and are told so once", async () => {
    const { channel, responses } = await openListening();
    await channel.send(exampleMessage, "id-1");
    const { foreign, listed } = server.accounts;
    for (const text of ["what is this?", "I would not"]) await server.sendEvent(text, { user: foreign });
    await server.sendEvent("no", { user: listed });
    await waitUntil(() => responses.some(({ accountId }) => accountId === listed), 5_000);
    expect(responses.map(({ text }) => text)).toEqual(["what is this?", "no"]);
  });

  test("a reply after the ask has ended is not an answer", async () => {
    const { channel, responses } = await openListening();
    const handle = await channel.send(exampleMessage, "id-1");
    await channel.update?.(handle, finalMessage);
    const late = await server.sendEvent("yes");
    await waitUntil(() => server.acknowledged.includes(late), 5_000);
    expect(responses).toEqual([]);
  });

  test("a reply is an answer after a restart too", async () => {
    const before = await openListening();
    await before.channel.send(exampleMessage, "id-1");
    await before.channel.stop();
    const { channel, responses } = await open({ saved: before.saved });
    channel.listen?.();
    await server.sendEvent("no");
    await waitUntil(() => responses.length > 0, 5_000);
    expect(responses[0]).toMatchObject({ reference: "r".repeat(22), text: "no" });
  });

  test.each([
    ["no JSON", "not json"],
    ["a list", "[1, 2]"],
    [
      "an unknown type",
      JSON.stringify({ envelope_id: "e1", type: "slash_commands", payload: { text: "allow" } }),
    ],
    ["a tap without a payload", JSON.stringify({ envelope_id: "e2", type: "interactive" })],
    [
      "actions that are no list",
      JSON.stringify({
        envelope_id: "e3",
        type: "interactive",
        payload: { type: "block_actions", actions: {} },
      }),
    ],
  ])("%s does no harm", async (_, text) => {
    const { channel, responses } = await openListening();
    await channel.send(exampleMessage, "id-1");
    server.sendRaw(text);
    await server.tap("Deny");
    await waitUntil(() => responses.length > 0, 5_000);
    expect(responses).toHaveLength(1);
  });

  test("when Slack announces that it closes the connection, another one is opened first", async () => {
    const { channel, responses } = await openListening();
    await channel.send(exampleMessage, "id-1");
    server.announceDisconnect("refresh_requested");
    // It stays in use until the other one is open.
    await server.tap("Deny");
    await waitUntil(() => responses.length === 1, 5_000);
    await waitUntil(() => server.openedCount() === 2 && server.connectionCount() === 1, 5_000);
    await server.tap("Allow");
    await waitUntil(() => responses.length === 2, 5_000);
    expect(channel.problem()).toBeNull();
  });

  test("a server that closes every connection is not called in a loop", async () => {
    const { channel } = await openListening();
    for (let count = 0; count < 20; count++) server.announceDisconnect("refresh_requested");
    await waitUntil(() => server.openedCount() >= 2, 5_000);
    expect(server.requests.filter(({ path }) => path.endsWith("apps.connections.open")).length).toBeLessThan(
      4,
    );
    await channel.stop();
    await waitUntil(() => server.connectionCount() === 0, 5_000);
  });

  test("a connection that went silent is replaced", async () => {
    const connections: GatewayConnection[] = [];
    let closed = 0;
    const silent = createServer();
    addGateway(silent, {
      onOpen(connection) {
        connections.push(connection);
        connection.send({ type: "hello" });
      },
      onFrame: () => {},
      onClosed: () => {
        closed++;
      },
      acceptsHandshake: () => true,
    });
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    server.socketUrl = `ws://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
    // A hundred times as fast.
    const schedule: Schedule = (work, ms) => {
      const timer = setTimeout(work, ms / 100);
      return () => clearTimeout(timer);
    };
    const { channel, responses } = await open({ schedule });
    channel.listen?.();
    await waitUntil(() => connections.length === 1, 5_000);
    server.socketUrl = null;
    await waitUntil(() => closed === 1 && server.connectionCount() === 1, 5_000);
    await channel.send(exampleMessage, "id-1");
    await server.tap("Deny");
    await waitUntil(() => responses.length === 1, 5_000);
    silent.close();
  });

  test("stop ends a connection that was never greeted", async () => {
    server.isMute = true;
    const { channel } = await open();
    channel.listen?.();
    await waitUntil(() => server.openedCount() === 1, 5_000);
    await channel.stop();
    await waitUntil(() => server.closedCount() === 1, 5_000);
  });

  test.each([
    ["an address of another kind", "https://evil.example/link"],
    ["an address without TLS elsewhere", "ws://evil.example/link"],
    ["no address", "nonsense"],
  ])(
    "%s is not opened",
    async (_, url) => {
      server.socketUrl = url;
      const { channel, problems } = await open();
      channel.listen?.();
      await waitUntil(() => channel.problem() !== null, 5_000);
      expect(channel.problem()).toContain("wss://");
      expect(problems).toHaveLength(1);
      // The next try finds the right address.
      server.socketUrl = null;
      await waitUntil(() => channel.problem() === null && server.connectionCount() === 1, 10_000);
    },
    20_000,
  );

  test("a wrong app-level token is reported as the problem of the channel", async () => {
    const { channel, problems } = await open({
      secrets: { ...server.secrets, appToken: "xapp-wrong-wrong" },
    });
    channel.listen?.();
    await waitUntil(() => channel.problem() !== null, 5_000);
    expect(channel.problem()).toContain("not the right kind of token");
    expect(problems.join()).not.toContain("xapp-wrong");
  });
});
