/** What every service of the table must do, through its real client, against a local server that misbehaves. */
import { afterEach, describe, expect, test } from "bun:test";
import { type Channel, DeliveryError, type Service } from "../../src/channels/channel.ts";
import { waitUntil } from "../wait-until.ts";
import { exampleMessage, finalMessage, openService } from "./fixture.ts";
import type { FakeService } from "./servers/fake-service.ts";

export interface ServiceContract {
  readonly service: Service;
  readonly start: () => Promise<FakeService>;
}

/** For servers that hang. Others get time enough for a loaded machine. */
const hangTimeoutMs = 300;

export function testService({ service, start }: ServiceContract): void {
  describe(service.name, () => {
    const channels: Channel[] = [];
    const servers: FakeService[] = [];
    afterEach(async () => {
      for (const channel of channels.splice(0)) await channel.stop();
      for (const server of servers.splice(0)) await server.stop();
    });

    async function openChannel(requestTimeoutMs = 10_000, beforeReply: () => Promise<void> = async () => {}) {
      const server = await start();
      servers.push(server);
      const opened = await openService(service, server, { requestTimeoutMs, beforeReply });
      channels.push(opened.channel);
      return { server, ...opened };
    }

    const canAnswer = ({ settings, secrets }: FakeService) =>
      service.canAnswer(settings, (name) => secrets[name] ?? null);

    /** A channel that has received the user's first tap. null if the service takes no answers. */
    async function openAnswered() {
      const opened = await openChannel();
      const { server, channel, responses } = opened;
      if (!canAnswer(server)) return null;
      channel.listen?.();
      await channel.send(exampleMessage, "id-1");
      await server.tap("Deny");
      await waitUntil(() => responses.length === 1, 5_000);
      return opened;
    }

    const failure = async (work: Promise<unknown>): Promise<DeliveryError> => {
      const error = await work.then(
        () => null,
        (reason: unknown) => reason,
      );
      expect(error).toBeInstanceOf(DeliveryError);
      return error as DeliveryError;
    };

    test("its settings have checks that accept what a user would enter", async () => {
      const { server } = await openChannel();
      for (const { name, check, isSecret } of service.settings) {
        const value = isSecret ? server.secrets[name] : server.settings[name];
        if (value !== undefined) expect(check(value, server.settings)).toBeNull();
        expect(check([{ not: "valid" }], server.settings)).toBeString();
      }
    });

    test("a message arrives with its text and buttons", async () => {
      const { server, channel } = await openChannel();
      await channel.send(exampleMessage, "id-1");
      const [message, ...others] = server.messages();
      expect(others).toEqual([]);
      expect(message?.text).toContain("checkout-api wants to use Bash");
      expect(message?.text).toContain("npm test");
      expect(message?.buttons.slice(0, 2)).toEqual(canAnswer(server) ? ["Allow", "Deny"] : []);
    });

    test("text from a session cannot format, mention, link or reorder anything", async () => {
      const { server, channel } = await openChannel();
      const lines = [
        "**bold** _x_ `code` ~~s~~ ||spoiler|| <b>x</b> &lt; \\* [a](https://evil.example)",
        "@everyone @here <@123> <!channel> <#C1> @joe",
        "```\n@everyone\n```",
      ];
      await channel.send({ ...exampleMessage, lines }, "id-1");
      const [message] = server.messages();
      for (const line of lines) expect(message?.text).toContain(line);
      expect(message?.mentions).toEqual([]);
    });

    test("text that is too long is cut, and the row says so before it is sent", async () => {
      const { server, channel } = await openChannel();
      const long = { ...exampleMessage, lines: Array.from({ length: 4_000 }, (_, n) => `line ${n} äöü 🦊`) };
      expect(service.fits(exampleMessage)).toBe(true);
      expect(service.fits(long)).toBe(false);
      await channel.send(long, "id-1");
      expect(server.messages()).toHaveLength(1);
      expect(server.messages()[0]?.text).toContain("…");
    });

    test("an update replaces the message and takes its buttons away", async () => {
      const { server, channel } = await openChannel();
      if (!channel.update) return;
      const handle = await channel.send(exampleMessage, "id-1");
      await channel.update(handle, finalMessage);
      expect(server.messages()).toHaveLength(1);
      expect(server.messages()[0]?.text).toContain("Allowed in the terminal");
      expect(server.messages()[0]?.text).not.toContain("npm test");
      expect(server.messages()[0]?.buttons).toEqual([]);
    });

    test("a rate limit is reported with the pause that the service asks for", async () => {
      const { server, channel } = await openChannel();
      server.misbehave("rate-limit", 1);
      const error = await failure(channel.send(exampleMessage, "id-1"));
      expect(error.isPermanent).toBe(false);
      expect(error.retryAfterMs).toBe(1_000);
      await channel.send(exampleMessage, "id-1");
      expect(server.messages()).toHaveLength(1);
    });

    test("an error of the server is temporary, a refusal is permanent", async () => {
      const { server, channel } = await openChannel();
      server.misbehave("error", 1);
      expect((await failure(channel.send(exampleMessage, "id-1"))).isPermanent).toBe(false);
      server.misbehave("refuse", 1);
      expect((await failure(channel.send(exampleMessage, "id-1"))).isPermanent).toBe(true);
      expect(server.messages()).toEqual([]);
    });

    test("a server that hangs does not hang beckon", async () => {
      const { server, channel } = await openChannel(hangTimeoutMs);
      server.misbehave("hang", 1);
      const started = performance.now();
      const error = await failure(channel.send(exampleMessage, "id-1"));
      expect(performance.now() - started).toBeLessThan(hangTimeoutMs * 10);
      expect(error.isUncertain).toBe(true);
      expect(error.message).toContain("did not answer in time");
    });

    test("a connection that breaks, or an answer that makes no sense, is a failure", async () => {
      const { server, channel } = await openChannel();
      for (const how of ["reset", "garbage"] as const) {
        server.misbehave(how, 1);
        await failure(channel.send(exampleMessage, "id-1"));
      }
      expect(server.messages()).toEqual([]);
    });

    test("no error names a secret", async () => {
      const { server, channel } = await openChannel(hangTimeoutMs);
      for (const how of ["rate-limit", "error", "refuse", "hang", "reset", "garbage"] as const) {
        server.misbehave(how, 1);
        const { message } = await failure(channel.send(exampleMessage, "id-1"));
        for (const secret of Object.values(server.secrets)) expect(message).not.toContain(secret);
      }
    });

    test("a message whose answer was lost is shown once, or its fate is reported as uncertain", async () => {
      const { server, channel } = await openChannel();
      server.misbehave("lose-answer", 1);
      const error = await failure(channel.send(exampleMessage, "id-1"));
      if (service.isIdempotent(server.settings, (name) => server.secrets[name] ?? null))
        await channel.send(exampleMessage, "id-1");
      else expect(error.isUncertain).toBe(true);
      expect(server.messages()).toHaveLength(1);
    });

    test("an update whose answer was lost is made again, and the message is there once", async () => {
      const { server, channel } = await openChannel();
      if (!channel.update) return;
      const handle = await channel.send(exampleMessage, "id-1");
      server.misbehave("lose-answer", 1);
      // The service may say at the second time that there is nothing to change.
      const first = await channel.update(handle, finalMessage).catch((error: unknown) => error);
      if (first !== undefined) {
        expect(first).toBeInstanceOf(DeliveryError);
        expect((first as DeliveryError).isPermanent).toBe(false);
        await channel.update(handle, finalMessage);
      }
      expect(server.messages()).toHaveLength(1);
      expect(server.messages()[0]?.text).toContain("Allowed in the terminal");
      expect(server.messages()[0]?.buttons).toEqual([]);
    });

    test("a tap and a reply arrive with their references and the sender", async () => {
      const opened = await openAnswered();
      if (!opened) return;
      const { server, responses } = opened;
      expect(responses[0]).toMatchObject({ reference: "d".repeat(22), text: null });
      expect(responses[0]?.accountId).toBe(server.accounts.listed);
      await server.reply("not on a Friday,\nplease");
      await waitUntil(() => responses.length === 2, 5_000);
      expect(responses[1]).toMatchObject({ reference: "r".repeat(22), text: "not on a Friday,\nplease" });
      if (!service.hasAccounts) return;
      await server.tap("Allow", server.accounts.foreign);
      await waitUntil(() => responses.length === 3, 5_000);
      expect(responses[2]?.accountId).toBe(server.accounts.foreign);
    });

    test("responses arrive after the connection was lost, and each once", async () => {
      const opened = await openAnswered();
      if (!opened) return;
      const { server, responses } = opened;
      server.dropListeners();
      await server.tap("Allow");
      await waitUntil(() => responses.length >= 2, 15_000);
      expect(responses.map(({ reference }) => reference[0])).toEqual(["d", "a"]);
    }, 20_000);

    test("a flood of taps is handled a few at a time, and later ones count again", async () => {
      const { promise: decided, resolve: decide } = Promise.withResolvers<void>();
      const { server, channel, responses } = await openChannel(10_000, () => decided);
      // Without accounts nobody is answered, so a response costs no request.
      if (!canAnswer(server) || !service.hasAccounts) return;
      channel.listen?.();
      await channel.send(exampleMessage, "id-1");
      for (let n = 0; n < 50; n++) await server.forge(String(n).padStart(22, "x"));
      await waitUntil(() => responses.length === 20, 5_000);
      decide();
      // Those that the service still had are dropped or answered; then the user taps.
      await waitUntil(async () => {
        await server.tap("Deny");
        return responses.some(({ reference }) => reference.startsWith("d"));
      }, 5_000);
      expect(responses.length).toBeLessThan(50);
    });

    test("after stop nothing is received", async () => {
      const opened = await openAnswered();
      if (!opened) return;
      const { server, channel, saved, responses } = opened;
      await channel.stop();
      expect(channel.problem()).toBeNull();
      const next = await openService(service, server, { saved });
      channels.push(next.channel);
      next.channel.listen?.();
      // A tap before it is connected is lost.
      await waitUntil(async () => {
        await server.tap("Allow");
        return next.responses.length > 0;
      }, 15_000);
      expect(responses).toHaveLength(1);
    }, 20_000);
  });
}
