import { afterEach, beforeEach, expect, test } from "bun:test";
import { pushover } from "../../src/channels/pushover/index.ts";
import { exampleMessage, finalMessage, openService } from "./fixture.ts";
import { type PushoverServer, startPushoverServer } from "./servers/pushover.ts";

let server: PushoverServer;
beforeEach(async () => {
  server = await startPushoverServer();
});
afterEach(() => server.stop());

const open = (settings: Record<string, unknown> = {}) =>
  openService(pushover, server, { settings: { ...server.settings, ...settings } });

test.each([
  ["urgent", {}, 1],
  ["urgent", { priority: "normal" }, 0],
  ["normal", {}, 0],
  ["low", {}, -1],
  ["normal", { priority: "emergency" }, 0],
] as const)(
  "a message that is %s, with the settings %j, has priority %p",
  async (urgency, settings, priority) => {
    const { channel } = await open(settings);
    await channel.send({ ...exampleMessage, urgency }, "id-1");
    expect(server.received[0]).toMatchObject({ priority, title: exampleMessage.title, message: "npm test" });
    expect(server.repeating.size).toBe(0);
  },
);

test("an emergency repeats until the ask ends", async () => {
  const { channel } = await open({ priority: "emergency" });
  const handle = await channel.send(exampleMessage, "id-1");
  expect(server.received[0]).toMatchObject({ priority: 2, retry: 60, expire: 3_600 });
  expect(server.repeating.size).toBe(1);
  await channel.update?.(handle, exampleMessage);
  expect(server.repeating.size).toBe(1);
  await channel.update?.(handle, finalMessage);
  expect(server.repeating.size).toBe(0);
  expect(server.received).toHaveLength(1);
});

test("an emergency that was confirmed on the phone is not a problem of the channel", async () => {
  const { channel } = await open({ priority: "emergency" });
  const handle = await channel.send(exampleMessage, "id-1");
  await channel.update?.(handle, finalMessage);
  await channel.update?.(handle, finalMessage);
  expect(server.repeating.size).toBe(0);
});

test("a message without lines is sent with its title as text", async () => {
  const { channel } = await open();
  await channel.send({ ...exampleMessage, lines: [] }, "id-1");
  expect(server.received[0]?.message).toBe(exampleMessage.title);
});

test("device, sound and a link are passed on, and nothing is read as HTML", async () => {
  const { channel } = await open({ device: "pixel", sound: "bike" });
  await channel.send({ ...exampleMessage, lines: ["<b>x</b>"], link: "https://example.com/a" }, "id-1");
  const [message] = server.received;
  expect(message).toMatchObject({
    device: "pixel",
    sound: "bike",
    url: "https://example.com/a",
    message: "<b>x</b>",
  });
  expect(message).not.toHaveProperty("html");
});

test("a refusal names the reason that Pushover gives, and no key", async () => {
  const { channel } = await openService(pushover, server, {
    secrets: { ...server.secrets, user: "x".repeat(30) },
  });
  await expect(channel.send(exampleMessage, "id-1")).rejects.toThrow("user identifier is invalid");
  await expect(channel.send(exampleMessage, "id-1")).rejects.not.toThrow("xxxx");
});

test("without a token nothing is sent, and the error says what is missing", async () => {
  const { channel } = await openService(pushover, server, { secrets: {} });
  await expect(channel.send(exampleMessage, "id-1")).rejects.toMatchObject({
    message: "the user key of Pushover is not set",
    isPermanent: true,
  });
  expect(server.requests).toEqual([]);
});

test("after an error of Pushover's own, beckon waits at least 5 seconds", async () => {
  const { channel } = await open();
  server.misbehave("error", 1);
  await expect(channel.send(exampleMessage, "id-1")).rejects.toMatchObject({
    retryAfterMs: 5_000,
    isPermanent: false,
  });
});
