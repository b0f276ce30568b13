import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Channel, ChannelMessage } from "../../src/channels/channel.ts";
import { webhook } from "../../src/channels/webhook/index.ts";
import { openService } from "./fixture.ts";
import { startWebhookServer, type WebhookServer } from "./servers/webhook.ts";

let server: WebhookServer;
beforeEach(async () => {
  server = await startWebhookServer();
});
afterEach(() => server.stop());

const message: ChannelMessage = {
  key: "claude:1#1",
  session: "claude:1",
  title: "shop wants to use Bash",
  lines: ['echo "{{title}}"', "second"],
  urgency: "urgent",
  buttons: [],
  replyReference: null,
  replyHint: null,
  isFinal: false,
  link: null,
};
const over: ChannelMessage = { ...message, lines: ["Allowed in the terminal"], isFinal: true };

const open = async (settings: object = {}): Promise<Channel> =>
  (await openService(webhook, server, { settings: { ...settings } })).channel;

test("an alert and its end are posted with an id that stays the same when they are sent again", async () => {
  const channel = await open();
  const handle = await channel.send(message, "a1");
  await channel.send(message, "a1");
  await channel.update?.(handle, over);
  await channel.update?.(handle, over);
  expect(server.requests).toHaveLength(4);
  expect(server.accepted).toEqual([
    {
      event: "opened",
      alert: "a1",
      title: "shop wants to use Bash",
      text: 'echo "{{title}}"\nsecond',
      urgency: "urgent",
    },
    expect.objectContaining({ event: "closed", alert: "a1", text: "Allowed in the terminal" }),
  ]);
});

test("a template is filled in strings only, and text from a session cannot change its form", async () => {
  const channel = await open({
    template: { msg: "{{title}} / {{text}}", list: ["{{event}}", 7, { deep: "{{nothing}}" }] },
  });
  await channel.send(message, "a1");
  expect(server.accepted).toEqual([
    {
      msg: 'shop wants to use Bash / echo "{{title}}"\nsecond',
      list: ["opened", 7, { deep: "{{nothing}}" }],
    },
  ]);
});

test("with another key the receiver refuses it for good", async () => {
  const { channel } = await openService(webhook, server, {
    secrets: { ...server.secrets, key: "another-key-than-theirs" },
  });
  expect(channel.send(message, "a1")).rejects.toMatchObject({
    isPermanent: true,
    message: "the webhook answered 401",
  });
});
