/** The real app with channels on local servers, and real forwarders that wait for an answer. */
import { appendFileSync, chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Paths } from "../../src/storage/paths.ts";
import { createAnswerFixture } from "../answers/fixture.ts";
import { waitUntil } from "../wait-until.ts";
import type { FakeService } from "./servers/fake-service.ts";

export interface ConfiguredChannel {
  readonly type: string;
  readonly server: FakeService;
  /** Fields that all channels have. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

export type ChannelFixture = ReturnType<typeof createChannelFixture>;

/** Sends everything at once and takes answers, unless the fields say otherwise. */
const eager = { detail: "full", answers: "safe", when: "always", afterSeconds: 0 };

/** Writes the settings of an app: these channels, and what else is given. */
export function writeChannelSettings(
  { config, channelSecrets }: Pick<Paths, "config" | "channelSecrets">,
  channels: Readonly<Record<string, ConfiguredChannel>>,
  more: object = {},
): void {
  const settings = Object.fromEntries(
    Object.entries(channels).map(([name, { type, server, fields = {} }]) => {
      const { listed } = server.accounts;
      return [
        name,
        { type, ...server.settings, ...eager, ...(listed === "" ? {} : { accounts: [listed] }), ...fields },
      ];
    }),
  );
  const secrets = Object.fromEntries(
    Object.entries(channels).map(([name, { server }]) => [name, server.secrets]),
  );
  mkdirSync(dirname(config), { recursive: true });
  writeFileSync(channelSecrets, JSON.stringify(secrets), { mode: 0o600 });
  chmodSync(channelSecrets, 0o600);
  writeFileSync(config, JSON.stringify({ channels: settings, ...more }));
}

export function createChannelFixture() {
  const fixture = createAnswerFixture();
  const servers = new Set<FakeService>();

  function configure(channels: Readonly<Record<string, ConfiguredChannel>>, more: object = {}): void {
    for (const { server } of Object.values(channels)) servers.add(server);
    writeChannelSettings(fixture.paths, channels, more);
  }

  return {
    ...fixture,
    configure,
    /** Leaves an event for the next start, as a hook does while beckon is down. */
    writeSpool(payload: object): void {
      const envelope = { provider: "claude", _meta: { id: crypto.randomUUID() }, payload };
      appendFileSync(fixture.paths.spool, `${JSON.stringify(envelope)}\n`, { mode: 0o600 });
    },
    /** The lines of the app's own log that a channel caused. */
    readChannelLog: (): string[] =>
      fixture
        .read(fixture.paths.log)
        .split("\n")
        .filter((line) => line.includes("channel ")),
    /** Waits until a message has this text. */
    waitForText: (server: FakeService, text: string, timeoutMs = 8_000) =>
      waitUntil(
        () => server.messages().some((message) => message.text.includes(text)),
        timeoutMs,
        `a message with "${text}"`,
      ),
    async destroy(): Promise<void> {
      await fixture.destroy();
      for (const server of servers) await server.stop();
    },
  };
}
