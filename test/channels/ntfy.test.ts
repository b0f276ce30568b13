import { afterEach, beforeEach, expect, test } from "bun:test";
import { ntfy } from "../../src/channels/ntfy/index.ts";
import { createBody } from "../../src/channels/ntfy/message.ts";
import { createVirtualTime } from "../virtual-time.ts";
import { waitUntil } from "../wait-until.ts";
import { exampleMessage, openService } from "./fixture.ts";
import { type NtfyServer, startNtfyServer } from "./servers/ntfy.ts";

let server: NtfyServer;
beforeEach(async () => {
  server = await startNtfyServer();
});
afterEach(() => server.stop());

test("what blocks a session rings, its end is quiet, and a tap opens the address of the settings", async () => {
  const settings = { ...server.settings, click: "ssh://desk" };
  const { channel } = await openService(ntfy, server, { settings });
  const handle = await channel.send(exampleMessage, "id-1");
  await channel.update?.(handle, { ...exampleMessage, lines: ["Allowed"], buttons: [], isFinal: true });
  expect(server.published()).toMatchObject([
    { priority: 5, tags: ["bell"], click: "ssh://desk", sequenceId: "id-1" },
    { priority: 1, tags: ["white_check_mark"], sequenceId: "id-1", actions: [] },
  ]);
});

test("a button writes to the reply topic, with the token that may only do that", async () => {
  const secrets = { ...server.secrets, replyToken: "tk_reply" };
  const { channel } = await openService(ntfy, server, { secrets });
  await channel.send(exampleMessage, "id-1");
  const [sent] = server.published();
  expect(sent?.actions[0]).toMatchObject({
    action: "http",
    method: "POST",
    headers: { Authorization: "Bearer tk_reply" },
  });
  expect(JSON.stringify(sent)).not.toContain(server.secrets.token);
});

test("text of any kind is published: all of it if the row says that it fits, and cut otherwise", async () => {
  const { channel } = await openService(ntfy, server);
  for (const [n, piece] of ['"', "\\", "x", "äöü", "🦊", "\n"].entries()) {
    for (const bytes of [2_000, 3_900, 4_100, 20_000]) {
      const text = `${piece.repeat(Math.ceil(bytes / Buffer.byteLength(piece)))}end`;
      const message = { ...exampleMessage, lines: [text] };
      await channel.send(message, `id-${n}-${bytes}`);
      if (ntfy.fits(message)) expect(server.published().at(-1)?.message).toContain(text);
    }
    expect(ntfy.fits({ ...exampleMessage, lines: [piece.repeat(400)] })).toBe(true);
  }
});

test("answers that were published while beckon was down are read once it is back, and only once", async () => {
  const saved = { value: {} };
  const first = await openService(ntfy, server, { saved });
  first.channel.listen?.();
  await server.publishReply("A".repeat(22));
  await waitUntil(() => first.responses.length === 1, 5_000);
  await first.channel.stop();
  await server.publishReply("B".repeat(22));
  const second = await openService(ntfy, server, { saved });
  second.channel.listen?.();
  await waitUntil(() => second.responses.length === 1, 5_000);
  expect(second.responses[0]?.reference).toBe("B".repeat(22));
  await second.channel.stop();
});

test("why answers cannot be received is said in plain words", async () => {
  const problemOf = async (settings: object, secrets: Record<string, string>) => {
    const { channel } = await openService(ntfy, server, {
      settings: { ...server.settings, ...settings },
      secrets,
    });
    channel.listen?.();
    await waitUntil(() => channel.problem() !== null, 10_000);
    const problem = channel.problem();
    await channel.stop();
    return problem;
  };
  const [refused, unreachable] = await Promise.all([
    problemOf({}, { token: "tk_wrong" }),
    problemOf({ server: "http://127.0.0.1:9" }, {}),
  ]);
  expect(refused).toBe("answers cannot be received: ntfy answered 403");
  expect(unreachable).toBe("answers cannot be received: 127.0.0.1:9 cannot be reached");
});

test("a server that is silent for too long is connected to again", async () => {
  const time = createVirtualTime();
  const { channel } = await openService(ntfy, server, { schedule: time.schedule });
  channel.listen?.();
  await waitUntil(() => server.listenerCount() === 1, 5_000);
  const connected = server.connectedCount();
  await time.advance(100_000);
  await waitUntil(async () => {
    await time.advance(1_000);
    return server.connectedCount() > connected;
  }, 5_000);
  expect(channel.problem()).toBeNull();
  await channel.stop();
});

test("a message with buttons has no text for machines", () => {
  const target = {
    server: "https://ntfy.sh",
    topic: "t",
    replyTopic: "answers",
    replyToken: null,
    click: null,
  };
  const { json } = createBody({ ...exampleMessage, replyReference: "r".repeat(22) }, target, "1");
  const { message } = JSON.parse(json);
  expect(exampleMessage.buttons.length).toBeGreaterThan(0);
  expect(message).not.toMatch(/Publish|rrrr|answers/);
});
