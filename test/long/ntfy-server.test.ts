/** Channels on a real ntfy server, if the program ntfy is installed (2.16 or newer): topics that need tokens, as users are advised. */
import { afterEach, describe, expect } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Channel, type ChannelResponse, DeliveryError } from "../../src/channels/channel.ts";
import { ntfy } from "../../src/channels/ntfy/index.ts";
import { createRequest, parseDecision } from "../answers/fixture.ts";
import { findFreePort } from "../bench/processes.ts";
import { createChannelFixture } from "../channels/app-fixture.ts";
import { exampleMessage, openService } from "../channels/fixture.ts";
import type { FakeService } from "../channels/servers/fake-service.ts";
import { parseJsonLines } from "../json-lines.ts";
import { testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";

interface Published {
  readonly sequence_id: string;
  readonly title: string;
  readonly message: string;
  readonly priority: number;
  readonly actions?: readonly {
    readonly label: string;
    readonly url: string;
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body: string;
  }[];
}

const waitMs = 10_000;
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

async function startNtfy() {
  const folder = mkdtempSync(join(tmpdir(), "beckon-ntfy-"));
  const url = `http://127.0.0.1:${findFreePort()}`;
  const config = join(folder, "server.yml");
  writeFileSync(
    config,
    JSON.stringify({
      "listen-http": url.slice("http://".length),
      "base-url": url,
      "auth-file": join(folder, "user.db"),
      "auth-default-access": "deny-all",
      "cache-file": join(folder, "cache.db"),
      // The test polls more often than a phone does.
      "visitor-request-limit-exempt-hosts": "127.0.0.1",
    }),
  );
  const server = Bun.spawn(["ntfy", "serve", "-c", config], { stdio: ["ignore", "ignore", "ignore"] });
  stops.push(async () => {
    server.kill();
    await server.exited;
    rmSync(folder, { recursive: true });
  });
  const isUp = () =>
    fetch(`${url}/v1/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  await waitUntil(isUp, waitMs);
  /** Its users, and what each may do: read alerts and answers, or only write answers. */
  const run = (...args: string[]): string => {
    const [group = "", ...rest] = args;
    const env = { ...process.env, NTFY_PASSWORD: "not-a-secret-1" };
    const { stdout, stderr } = Bun.spawnSync(["ntfy", group, "-c", config, ...rest], { env });
    return `${stdout}${stderr}`;
  };
  const addUser = (name: string, ...access: readonly (readonly [topic: string, may: string])[]): string => {
    run("user", "add", name);
    for (const [topic, may] of access) run("access", name, topic, may);
    return /tk_\w+/.exec(run("token", "add", name))?.[0] ?? "";
  };
  const token = addUser("desk", ["alerts", "rw"], ["answers", "ro"]);
  const replyToken = addUser("phone", ["answers", "wo"]);

  async function published(): Promise<Published[]> {
    const response = await fetch(`${url}/alerts/json?poll=1&since=all`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    return parseJsonLines(await response.text());
  }
  /** As apps show them: the newest of each sequence. */
  const shown = async () =>
    [...new Map((await published()).map((row) => [row.sequence_id, row])).values()].filter(
      ({ sequence_id }) => sequence_id !== "beckon-refusal",
    );
  const waitForText = (text: string) =>
    waitUntil(async () => (await shown()).some(({ message }) => message.includes(text)), waitMs, text);
  async function tap(label: string): Promise<number> {
    const actions = (await shown()).flatMap((row) => row.actions ?? []);
    const { url: address = "", ...request } = actions.findLast((action) => action.label === label) ?? {};
    return (await fetch(address, request)).status;
  }
  const reply = (text: string) =>
    fetch(`${url}/answers`, {
      method: "POST",
      headers: { Authorization: `Bearer ${replyToken}` },
      body: text,
    });
  const settings = { server: url, topic: "alerts", replyTopic: "answers" };
  return { url, settings, secrets: { token, replyToken }, published, shown, waitForText, tap, reply };
}

type RealServer = Awaited<ReturnType<typeof startNtfy>>;

async function openChannel(server: RealServer): Promise<{ channel: Channel; responses: ChannelResponse[] }> {
  const opened = await openService(ntfy, server as unknown as FakeService);
  stops.push(() => opened.channel.stop());
  return opened;
}

describe("a real ntfy server", () => {
  const testReal = testWith("ntfy");

  testReal("takes messages, replaces them, and passes taps and replies on", async () => {
    const server = await startNtfy();
    const { channel, responses } = await openChannel(server);
    channel.listen?.();
    const handle = await channel.send(exampleMessage, "id-1");
    await channel.send(exampleMessage, "id-1");
    expect(await server.shown()).toMatchObject([
      { title: exampleMessage.title, priority: 5, actions: [{ label: "Allow" }, { label: "Deny" }] },
    ]);
    expect(await server.tap("Deny")).toBe(200);
    await waitUntil(() => responses.length === 1, waitMs);
    await server.reply(`${"r".repeat(22)} not on a Friday,\nplease`);
    await waitUntil(() => responses.length === 2, waitMs);
    expect(responses).toMatchObject([
      { reference: "d".repeat(22), text: null },
      { reference: "r".repeat(22), text: "not on a Friday,\nplease" },
    ]);
    await channel.update?.(handle, {
      ...exampleMessage,
      lines: ["Allowed in the terminal"],
      buttons: [],
      replyReference: null,
      isFinal: true,
    });
    const [last, ...others] = await server.shown();
    expect(others).toEqual([]);
    expect(last).toMatchObject({ message: "Allowed in the terminal", priority: 1 });
    expect(last?.actions ?? []).toEqual([]);
  });

  testReal("takes text of any kind and length", async () => {
    const server = await startNtfy();
    const { channel } = await openChannel(server);
    for (const piece of ['"', "x", "🦊"]) {
      const message = { ...exampleMessage, lines: [piece.repeat(20_000)] };
      await channel.send(message, `id-${piece.codePointAt(0)}`);
    }
    expect(await server.shown()).toHaveLength(3);
  });

  testReal("refuses a wrong token for good", async () => {
    const server = await startNtfy();
    const { channel } = await openChannel({ ...server, secrets: { ...server.secrets, token: "tk_wrong" } });
    const error = await channel.send(exampleMessage, "id-1").catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(DeliveryError);
    expect((error as DeliveryError).isPermanent).toBe(true);
  });

  testReal(
    "a request is allowed with a tap in the real app, and the message says so",
    async () => {
      const server = await startNtfy();
      const fixture = createChannelFixture();
      stops.push(fixture.destroy);
      const accounts = { listed: "", foreign: "" };
      const stop = async () => {};
      const service = { ...server, accounts, stop } as unknown as FakeService;
      fixture.configure({ phone: { type: "ntfy", server: service } });
      await fixture.start();
      const hook = fixture.startHook(createRequest("s1"));
      await server.waitForText("npm test");
      expect(await server.tap("Allow")).toBe(200);
      expect(parseDecision(await hook.printed)).toEqual({ behavior: "allow" });
      await server.waitForText("Allowed by phone");
      expect(await server.shown()).toHaveLength(1);
    },
    30_000,
  );
});
