/**
 * The settings of channels, as far as they are the same for every service. A channel has more fields, which its service checks
 * (src/channels).
 */
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Check } from "@sinclair/typebox/value";
import { limits } from "../limits.ts";
import { truncateEnd } from "../text/text.ts";
import { timeOfDayPattern } from "./setting-view.ts";

/** What can be sent: the kinds of asks, and the other alerts. */
const alertTypes = ["permission", "question", "plan", "elicitation", "failed", "idle", "finished"] as const;

export const literals = <const Value extends string>(values: readonly Value[]) =>
  Type.Union(values.map((value) => Type.Literal(value)));

const timeOfDay = Type.String({ pattern: timeOfDayPattern.source });
const texts = (maxItems: number) =>
  Type.Array(Type.String({ minLength: 1, maxLength: limits.maxPathLength }), { maxItems });

interface ChannelField {
  readonly schema: TSchema;
  readonly default: unknown;
  /** Completes the sentence "… must be". */
  readonly expected: string;
  readonly description: string;
}

const field = <Schema extends TSchema>(
  schema: Schema,
  value: Static<Schema>,
  expected: string,
  description: string,
) => ({ schema, default: value, expected, description });

/** `type` and the fields of the service come besides these. */
const channelFields = {
  detail: field(
    literals(["minimal", "summary", "full"]),
    "summary",
    '"minimal", "summary" or "full"',
    "How much of a session leaves this machine.",
  ),
  answers: field(
    literals(["off", "safe", "all"]),
    "off",
    '"off", "safe" or "all"',
    "Which requests can be answered from there. Needs detail full.",
  ),
  send: field(
    Type.Boolean(),
    false,
    "true or false",
    "Whether a reply to a session that is done is its next prompt. Needs accounts.",
  ),
  always: field(
    Type.Boolean(),
    false,
    "true or false",
    "Whether a request can also be allowed for good from there. Needs answers, and a service with accounts.",
  ),
  when: field(
    literals(["away", "always"]),
    "away",
    '"away" or "always"',
    "away: at once if you are not at the desk. always: whether you are or not.",
  ),
  afterSeconds: field(
    Type.Integer({ minimum: 0, maximum: 86_400 }),
    120,
    "a number of seconds from 0 to 86400",
    "How long an alert waits for you at the desk first.",
  ),
  awaySeconds: field(
    Type.Integer({ minimum: 5, maximum: 3_600 }),
    120,
    "a number of seconds from 5 to 3600",
    "Without input for this long, or with the screen locked, you are away.",
  ),
  hours: field(
    Type.Union([
      Type.Object({ from: timeOfDay, to: timeOfDay }, { additionalProperties: false }),
      Type.Null(),
    ]),
    null,
    '{"from": "08:00", "to": "22:00"} with two different times of day, or null',
    "Nothing is sent outside of these local times.",
  ),
  projects: field(
    Type.Union([texts(1_000), Type.Record(Type.String(), Type.String(), { maxProperties: 1_000 })]),
    [],
    'a list of project names like ["checkout-api"], or for Discord an object like {"/home/me/project": "channel id"}',
    "Only sessions of these projects; empty for all.",
  ),
  asks: field(
    Type.Array(literals(alertTypes), { maxItems: alertTypes.length }),
    ["permission", "question", "plan", "elicitation", "failed"],
    `a list of ${alertTypes.join(", ")}`,
    "What is sent.",
  ),
  accounts: field(
    texts(100),
    [],
    'a list of account ids like ["12345678"]',
    "Who may answer and write prompts. Empty: nobody, except where the service has no accounts.",
  ),
} satisfies Readonly<Record<string, ChannelField>>;

export const channelFieldNames: readonly string[] = Object.keys(channelFields);

type Fields = typeof channelFields;

export type ChannelSettings = {
  readonly [Name in keyof Fields]: Readonly<Static<Fields[Name]["schema"]>>;
} & { readonly type: string } & Readonly<Record<string, unknown>>;

export type ChannelDetail = ChannelSettings["detail"];

const nameForm = /^[A-Za-z][A-Za-z0-9-]{0,31}$/;
const maxChannels = 20;

/** Completes the sentence about a name that is not one. */
export const wrongName = `cannot be the name of a channel: use up to 32 letters, digits and "-", with a letter first, like phone`;

/** The log names the channel of an answer, and these mean another place there. */
const reservedNames: ReadonlySet<string> = new Set([
  "terminal",
  "menu",
  "notification",
  "page",
  "api",
  "rule",
]);

export const isChannelName = (name: string): boolean =>
  nameForm.test(name) && !reservedNames.has(name.toLowerCase());

type RawChannels = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Names what is wrong with the channels. Fields of the services are not checked here. */
export function findChannelMistakes(channels: RawChannels): string[] {
  const names = Object.keys(channels).filter((name) => !name.startsWith("//"));
  const tooMany =
    names.length > maxChannels ? [`there are ${names.length}, but at most ${maxChannels} are used`] : [];
  return [...tooMany, ...names.flatMap((name) => findMistakesOf(name, channels[name] ?? {}))];
}

function findMistakesOf(name: string, channel: Readonly<Record<string, unknown>>): string[] {
  const shown = truncateEnd(JSON.stringify(name), 40);
  if (!isChannelName(name)) return [`${shown} ${wrongName}`];
  const mistakes = Object.entries(channelFields).flatMap(([own, { schema, expected }]) =>
    channel[own] === undefined || isValid(own, schema, channel[own])
      ? []
      : [`${name}.${own} must be ${expected}`],
  );
  return [
    ...(typeof channel.type === "string" ? [] : [`${name}.type must name a service, like "ntfy"`]),
    ...mistakes,
  ];
}

function isValid(name: string, schema: TSchema, value: unknown): boolean {
  if (!Check(schema, value)) return false;
  if (name !== "hours" || value === null) return true;
  const { from, to } = value as { readonly from: string; readonly to: string };
  return from !== to;
}

/** Leaves out channels with a mistake, and adds the defaults to the others. */
export function dropInvalidChannels(channels: RawChannels): Record<string, Record<string, unknown>> {
  const valid = Object.entries(channels)
    .filter(([name, channel]) => !name.startsWith("//") && findMistakesOf(name, channel).length === 0)
    .slice(0, maxChannels);
  const defaults = Object.fromEntries(Object.entries(channelFields).map(([name, of]) => [name, of.default]));
  return Object.fromEntries(
    valid.map(([name, channel]) => {
      const set = Object.entries(channel).filter(
        ([own, value]) => !own.startsWith("//") && value !== undefined,
      );
      return [name, { ...defaults, ...Object.fromEntries(set) }];
    }),
  );
}
