/** The local servers that stand in for the services, by type. */
import { startDiscordServer } from "./discord.ts";
import type { FakeService } from "./fake-service.ts";
import { startNtfyServer } from "./ntfy.ts";
import { startPushoverServer } from "./pushover.ts";
import { startSlackServer } from "./slack.ts";
import { startTelegramServer } from "./telegram.ts";
import { startWebhookServer } from "./webhook.ts";

export const serverStarters: Readonly<Record<string, () => Promise<FakeService>>> = {
  discord: () => startDiscordServer(),
  ntfy: () => startNtfyServer(),
  pushover: startPushoverServer,
  slack: startSlackServer,
  telegram: () => startTelegramServer(),
  webhook: startWebhookServer,
};
