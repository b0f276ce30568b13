/**
 * Channels: alerts and answers outside of this machine, on a phone or in a chat. One folder per service behind the interface of
 * channel.ts. This file is the table of services. A client is loaded only if a channel of its type is configured, and nothing of
 * this room is loaded if none is.
 */
import type { ChannelSettings } from "../core/config/channels.ts";
import { channelFieldNames } from "../core/config/channels.ts";
import { findClosest } from "../core/text/closest.ts";
import { truncateEnd } from "../core/text/text.ts";
import type { ReadSecret, Service, ServiceSettings } from "./channel.ts";
import { discord } from "./discord/index.ts";
import { ntfy } from "./ntfy/index.ts";
import { pushover } from "./pushover/index.ts";
import { type ChannelSecrets, nameSecretVariable } from "./secrets.ts";
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

/** The names of the service's fields that are secrets; none if there is no such service. */
export const listSecretFields = (type: string): readonly string[] =>
  (findService(type)?.settings ?? []).flatMap(({ isSecret, name }) => (isSecret ? [name] : []));

type Channels = Readonly<Record<string, ChannelSettings>>;

/** The settings have passed the check of the fields that all channels have. */
export function checkAllChannels(
  channels: Channels,
  secrets: ChannelSecrets,
): ReadonlyMap<string, CheckedChannel> {
  const shared = findSharedVariables(channels).filter(({ variable }) => secrets.hasVariable(variable));
  return new Map(
    Object.entries(channels).map(([name, settings]) => {
      const problems = shared.filter((one) => one.names.includes(name)).map(formatSharedVariable);
      return [
        name,
        problems.length > 0
          ? { problems }
          : checkChannel(name, settings, (field) => secrets.get(name, field)),
      ];
    }),
  );
}

export interface SharedVariable {
  readonly variable: string;
  /** The channels' names. */
  readonly names: readonly string[];
  /** "team.botToken", "team-bot.token" */
  readonly secrets: readonly string[];
}

/** Names are made upper case, and "-" becomes "_", so a variable can mean secrets of two channels. One would get the other's. */
export function findSharedVariables(
  channels: Readonly<Record<string, Pick<ChannelSettings, "type">>>,
): readonly SharedVariable[] {
  const rows = Object.entries(channels).flatMap(([name, { type }]) =>
    listSecretFields(type).map((field) => ({ name, field, variable: nameSecretVariable(name, field) })),
  );
  return [...Map.groupBy(rows, ({ variable }) => variable)]
    .filter(([, meanings]) => meanings.length > 1)
    .map(([variable, meanings]) => ({
      variable,
      names: meanings.map(({ name }) => name),
      secrets: meanings.map(({ name, field }) => `${name}.${field}`),
    }));
}

const formatSharedVariable = ({ variable, secrets }: SharedVariable): string =>
  `${variable} could be ${secrets.join(" or ")}: rename one of these channels, or keep their secrets in channel-secrets.json`;

/** `settings` has passed the check of the fields that all channels have. */
export function checkChannel(
  name: string,
  settings: ChannelSettings,
  readSecret: ReadSecret,
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
      const expected = value === fallback ? null : check(value, settings);
      if (expected !== null) problems.push(`${name}.${field} must be ${expected}`);
    }
    if (!isSecret) values[field] = value;
  }
  problems.push(
    ...findUnknownFields(name, settings, service),
    ...findWrongAccounts(name, settings, service),
    ...findContradictions(name, settings, service, values, readSecret),
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
  readSecret: ReadSecret,
): string[] {
  return [
    ...findSendContradictions(name, settings, service, values, readSecret),
    ...findAnswerContradictions(name, settings, service, values, readSecret),
  ];
}

/** Who may write prompts can have anything done: never everybody who can read an alert. */
function findSendContradictions(
  name: string,
  { send, accounts }: ChannelSettings,
  service: Service,
  values: ServiceSettings,
  readSecret: ReadSecret,
): string[] {
  if (!send) return [];
  if (!service.canAnswer(values, readSecret))
    return [`${name}.send must be false: ${service.name} cannot take prompts with these settings`];
  if (service.hasAccounts)
    return accounts.length > 0 ? [] : [`${name}.send needs accounts: the ids of those who may write prompts`];
  return service.isClosed?.(values, readSecret)
    ? []
    : [
        `${name}.send needs an access token: ${service.name} does not say who writes, so only topics that others cannot read take prompts`,
      ];
}

function findAnswerContradictions(
  name: string,
  settings: ChannelSettings,
  service: Service,
  values: ServiceSettings,
  readSecret: ReadSecret,
): string[] {
  if (settings.answers === "off") return [];
  if (!service.canAnswer(values, readSecret))
    return [`${name}.answers must be "off": ${service.name} cannot take answers with these settings`];
  if (settings.detail !== "full")
    return [`${name}.answers needs "detail": "full": what is not shown in full cannot be answered`];
  if (service.hasAccounts && settings.accounts.length === 0)
    return [`${name}.answers needs accounts: the ids of those who may answer`];
  return [];
}

/** A name instead of an id would never match, and the user would only learn it when an answer is refused. */
function findWrongAccounts(name: string, { accounts }: ChannelSettings, service: Service): string[] {
  return accounts.flatMap((id) => {
    const expected = service.checkAccount?.(id) ?? null;
    return expected === null ? [] : [`${name}.accounts: ${JSON.stringify(id)} must be ${expected}`];
  });
}
