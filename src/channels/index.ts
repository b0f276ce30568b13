/**
 * Channels: alerts and answers outside of this machine, on a phone or in a chat. One folder per service behind the interface of
 * channel.ts. This file is the table of services. A client is loaded only if a channel of its type is configured, and nothing of
 * this room is loaded if none is.
 */
import type { ChannelSettings } from "../core/config/channels.ts";
import { channelFieldNames } from "../core/config/channels.ts";
import { findClosest } from "../core/text/closest.ts";
import { truncateEnd } from "../core/text/text.ts";
import type { Service, ServiceSettings } from "./channel.ts";
import { discord } from "./discord/index.ts";
import { ntfy } from "./ntfy/index.ts";
import { pushover } from "./pushover/index.ts";
import { slack } from "./slack/index.ts";
import { telegram } from "./telegram/index.ts";
import { webhook } from "./webhook/index.ts";

export const services: readonly Service[] = [ntfy, telegram, slack, pushover, discord, webhook];

export function findService(type: string): Service | null {
  return services.find((service) => service.type === type) ?? null;
}

export type CheckedChannel =
  /** `settings` has the service's own fields with their defaults, and the fields that all channels have. */
  | { readonly service: Service; readonly settings: ServiceSettings }
  | { readonly problems: readonly string[] };

/** `settings` has passed the check of the fields that all channels have. */
export function checkChannel(
  name: string,
  settings: ChannelSettings,
  readSecret: (field: string) => string | null,
): CheckedChannel {
  const service = findService(settings.type);
  if (!service) return { problems: [formatUnknownType(name, settings.type)] };
  const values: Record<string, unknown> = { ...settings };
  const problems: string[] = [];
  for (const { name: field, isSecret, default: fallback, check } of service.settings) {
    if (isSecret && settings[field] !== undefined) {
      problems.push(
        `${name}.${field} is a secret and must not be in config.json: run beckon channel add ${name}, or set it in the environment`,
      );
      continue;
    }
    const value = (isSecret ? readSecret(field) : settings[field]) ?? fallback;
    if (value === undefined) problems.push(`${name}.${field} is missing`);
    else if (value !== null || !isSecret) {
      const expected = value === fallback ? null : check(value);
      if (expected !== null) problems.push(`${name}.${field} must be ${expected}`);
    }
    if (!isSecret) values[field] = value;
  }
  problems.push(
    ...findUnknownFields(name, settings, service),
    ...findContradictions(name, settings, service, values),
  );
  return problems.length === 0 ? { service, settings: values } : { problems };
}

function formatUnknownType(name: string, type: string): string {
  const types = services.map((service) => service.type);
  const closest = findClosest(type, types);
  const hint = closest === null ? `use ${types.join(", ")}` : `did you mean ${closest}?`;
  return `${name}.type: there is no service ${JSON.stringify(truncateEnd(type, 40))}: ${hint}`;
}

function findUnknownFields(name: string, settings: ChannelSettings, service: Service): string[] {
  const known = ["type", ...channelFieldNames, ...service.settings.map((one) => one.name)];
  return Object.keys(settings).flatMap((field) => {
    if (known.includes(field)) return [];
    const closest = findClosest(field, known);
    const hint = closest === null ? "see docs/channels.md" : `did you mean ${closest}?`;
    return [`${name}.${truncateEnd(field, 40)} is not a setting of ${service.name}: ${hint}`];
  });
}

function findContradictions(
  name: string,
  settings: ChannelSettings,
  service: Service,
  values: ServiceSettings,
): string[] {
  if (settings.answers === "off") return [];
  if (!service.canAnswer(values))
    return [`${name}.answers must be "off": ${service.name} cannot take answers with these settings`];
  if (settings.detail !== "full")
    return [`${name}.answers needs "detail": "full": what is not shown in full cannot be answered`];
  if (service.hasAccounts && settings.accounts.length === 0)
    return [`${name}.answers needs accounts: the ids of those who may answer`];
  return [];
}
