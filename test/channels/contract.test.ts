import { expect, test } from "bun:test";
import { findService, services } from "../../src/channels/index.ts";
import { type ServiceContract, testService } from "./contract.ts";
import { startDiscordServer } from "./servers/discord.ts";
import { startNtfyServer } from "./servers/ntfy.ts";
import { startPushoverServer } from "./servers/pushover.ts";
import { startSlackServer } from "./servers/slack.ts";
import { startTelegramServer } from "./servers/telegram.ts";

const starters: Readonly<Record<string, ServiceContract["start"]>> = {
  discord: () => startDiscordServer(),
  ntfy: () => startNtfyServer(),
  pushover: startPushoverServer,
  slack: startSlackServer,
  telegram: () => startTelegramServer(),
};

for (const service of services) {
  const start = starters[service.type];
  if (start) testService({ service, start });
}

test("every service of the table is tested here", () => {
  expect(services.map(({ type }) => type).sort()).toEqual(Object.keys(starters).sort());
  expect(findService("carrier-pigeon")).toBeNull();
});
