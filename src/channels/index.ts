/**
 * Channels: alerts and answers outside of this machine, on a phone or in a chat. One folder per service behind the interface of
 * channel.ts. This file is the table of services. A client is loaded only if a channel of its type is configured, and nothing of
 * this room is loaded if none is.
 */
import type { Service } from "./channel.ts";
import { ntfy } from "./ntfy/index.ts";
import { pushover } from "./pushover/index.ts";
import { slack } from "./slack/index.ts";
import { telegram } from "./telegram/index.ts";

export const services: readonly Service[] = [ntfy, telegram, slack, pushover];

export function findService(type: string): Service | null {
  return services.find((service) => service.type === type) ?? null;
}
