/** Channels in the sandbox of the real CLI: their local servers run inside of it, and beckon is configured to use them. */
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import type { ShownMessage } from "../channels/servers/fake-service.ts";
import { waitUntil } from "../wait-until.ts";
import type { ServerDescription } from "./channel-process.ts";
import type { Sandbox } from "./sandbox.ts";

/** A user's phone or chat, in the sandbox. */
export interface SandboxChannel extends ServerDescription {
  messages(): Promise<readonly ShownMessage[]>;
  sentCount(): Promise<number>;
  tap(label: string, account?: string): Promise<void>;
  reply(text: string, account?: string): Promise<void>;
  replay(): Promise<void>;
  /** Wall time in ms at which the server received the last tap. Only ntfy's local server knows it. */
  lastTapAt(): Promise<number>;
  /** Waits until a message contains the text, and returns how long that took, in ms. */
  waitForText(text: string): Promise<number>;
}

const timeoutMs = 15_000;
const pollMs = 15;
/** Everything is sent at once and can be answered. */
const fields = { detail: "full", answers: "all", when: "always", afterSeconds: 0 };

/** Starts a server for each name and writes beckon's settings, with `more` for each. Call it before beckon is started, or beckon reads them again. */
export async function openChannels<Name extends string>(
  sandbox: Sandbox,
  types: Readonly<Record<Name, string>>,
  more: Readonly<Record<string, unknown>> = {},
): Promise<Record<Name, SandboxChannel>> {
  const names = Object.keys(types) as Name[];
  const opened = await Promise.all(names.map((name) => openChannel(sandbox, types[name])));
  const channels = Object.fromEntries(names.map((name, n) => [name, opened[n]])) as Record<
    Name,
    SandboxChannel
  >;
  const settings = names.map((name) => {
    const { type, settings: own, accounts } = channels[name];
    const listed = accounts.listed === "" ? {} : { accounts: [accounts.listed] };
    return [name, { type, ...own, ...fields, ...listed, ...more }];
  });
  const secrets = names.map((name) => [name, channels[name].secrets]);
  sandbox.writeFile(".config/beckon/channel-secrets.json", JSON.stringify(Object.fromEntries(secrets)));
  const config = { alerts: { finished: more.send === true }, channels: Object.fromEntries(settings) };
  sandbox.writeFile(".config/beckon/config.json", JSON.stringify(config));
  return channels;
}

async function openChannel(sandbox: Sandbox, type: string): Promise<SandboxChannel> {
  const child = sandbox.startOutside([process.execPath, join(import.meta.dir, "channel-process.ts"), type]);
  const lines = createInterface({ input: Readable.fromWeb(child.stdout as never) })[Symbol.asyncIterator]();
  const readLine = async (): Promise<string> => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`the server of ${type} has ended`);
    return value;
  };
  const description = JSON.parse(await readLine()) as ServerDescription;
  let last: Promise<unknown> = Promise.resolve();
  /** One call at a time, because responses have no ids. */
  function call<T>(name: string, ...args: readonly unknown[]): Promise<T> {
    const next = last.then(async () => {
      child.stdin.write(`${JSON.stringify({ call: name, args })}\n`);
      await child.stdin.flush();
      const { result, error } = JSON.parse(await readLine()) as { result: T; error?: string };
      if (error !== undefined) throw new Error(error);
      return result;
    });
    last = next.catch(() => {});
    return next;
  }
  const messages = () => call<readonly ShownMessage[]>("messages");
  return {
    ...description,
    messages,
    sentCount: () => call("sentCount"),
    tap: (label, ...account) => call("tap", label, ...account),
    reply: (text, ...account) => call("reply", text, ...account),
    replay: () => call("replay"),
    lastTapAt: () => call("lastTapAt"),
    waitForText: (text) =>
      waitUntil(
        async () => (await messages()).some((message) => message.text.includes(text)),
        timeoutMs,
        async () => `a message with "${text}", only ${JSON.stringify(await messages())}`,
        pollMs,
      ),
  };
}
