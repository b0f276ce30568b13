/**
 * What users choose: settings in config.json (this file), preferences set with a click (preferences.ts), quiet hours, and the
 * rules for what is allowed without asking.
 *
 * The schema below is the only description of the settings: type, default, check, error message, template, docs, `beckon config`
 * and the settings panel follow it.
 */
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Errors } from "@sinclair/typebox/errors";
import { Check } from "@sinclair/typebox/value";
import { isRecord, type JsonRecord } from "../json.ts";
import { limits } from "../limits.ts";
import { findClosest } from "../text/closest.ts";
import { toSingleLine, truncateEnd } from "../text/text.ts";
import { type AutoAllowRules, dropInvalidRules, findRuleMistakes } from "./auto-allow-rules.ts";
import { type ChannelSettings, dropInvalidChannels, findChannelMistakes, literals } from "./channels.ts";
import { dropInvalidMachines, findMachineMistakes, type MachineSettings } from "./machines.ts";
import { readRedisUrl } from "./redis-url.ts";
import { type Control, describeNumber, type SectionId, timeOfDayPattern } from "./setting-view.ts";

/** What a setting's schema says besides the type. */
interface SettingOptions<Value> {
  readonly default: Value;
  /** Its name for users, and one or two sentences about it. */
  readonly title: string;
  readonly description: string;
  readonly section: SectionId;
  readonly control: Control;
  /** Completes the sentence "… must be". */
  readonly expected: string;
  /** Shown in the template where the default does not show the form of a value. */
  readonly example?: Value;
  /** A variable that is stronger than the file. */
  readonly variable?: string;
  /**
   * What turning it on gives to others. The page may turn it off but not on, because programs that can send requests as the page does
   * may not be able to write the file (SECURITY.md).
   */
  readonly grants?: string;
  /** A check that JSON Schema cannot express. */
  readonly isValid?: (value: Value) => boolean;
  /** Names the parts of a valid value that are wrong, and returns the value without them. */
  readonly findMistakes?: (value: Value) => readonly string[];
  readonly dropMistakes?: (value: Value) => Value;
}

const setting = <Schema extends TSchema>(
  schema: Schema,
  options: SettingOptions<Static<Schema>>,
): Schema => ({
  ...schema,
  ...options,
});

/** What the settings of one section have in common with others: the words, and little else. */
interface Words {
  readonly title: string;
  readonly description: string;
  readonly grants?: string;
}

const flag = (section: SectionId, value: boolean, words: Words) =>
  setting(Type.Boolean(), {
    ...words,
    section,
    default: value,
    expected: "true or false",
    control: { kind: "switch" },
  });

const amount = (
  section: SectionId,
  value: number,
  { unit, min, max }: { readonly unit: string; readonly min: number; readonly max: number },
  words: Words,
) =>
  setting(Type.Integer({ minimum: min, maximum: max }), {
    ...words,
    section,
    default: value,
    expected: `a number of ${unit} from ${min} to ${max}`,
    control: { kind: "number", unit, min, max },
  });

const choices = <const Value extends string>(labels: Readonly<Record<Value, string>>) =>
  literals(Object.keys(labels) as Value[]);

const maxProjects = 1_000;
const maxRules = 200;
const absolutePath = Type.String({
  minLength: 1,
  maxLength: limits.maxPathLength,
  pattern: "^(/|[A-Za-z]:[\\\\/])",
});
const timeOfDay = Type.String({ pattern: timeOfDayPattern.source });

const guardModes = { strict: "Refuse", warn: "Record", off: "Off" };
const guardMode = choices(guardModes);
const guardIgnore = Type.Array(Type.String({ minLength: 1, maxLength: limits.maxPathLength }), {
  maxItems: maxRules,
});
const guardStores = { state: "beckon's folder", project: "The project" };
const guardStore = choices(guardStores);
const collisionModes = { show: "Show", warn: "Tell the agent", ask: "Ask me", refuse: "Refuse" };
const collisionMode = choices(collisionModes);
const tokenRange = { min: 1_000, max: 100_000_000 };
const guardBudget = Type.Union([
  Type.Integer({ minimum: tokenRange.min, maximum: tokenRange.max }),
  Type.Null(),
]);
const percent = { unit: "percent", min: 0, max: 100 };
const dayRange = { min: 1, max: 3_650 };
const megabyteRange = { min: 10, max: 100_000 };
const updateModes = { off: "Off", tell: "Tell me" };
/** With "pluggedIn", never on battery. */
const awakeChoices = { off: "Off", pluggedIn: "Plugged in", always: "Always" };
const leftClicks = { menu: "Menu", nextWaiting: "Next session" };

/** Users share config.json, so no password is in it. What is said here must not repeat one. */
function findStreamUrlMistakes(url: string | null): string[] {
  const read = url === null ? null : readRedisUrl(url);
  if (typeof read === "string") return [read];
  return read === null || read.password === null
    ? []
    : ["has a password: put it into a file, and name that in stream.urlFiles"];
}

const configSchema = Type.Object({
  alerts: Type.Object({
    blocked: flag("alerts", true, {
      title: "A session cannot go on without you",
      description: "Alert when a permission, a question or a plan waits.",
    }),
    failed: flag("alerts", true, {
      title: "A session failed",
      description: "Alert when a turn ends with an error, or a session dies at work.",
    }),
    idle: flag("alerts", true, {
      title: "A session waits for your next prompt",
      description: "Alert, quietly, when it has waited a while.",
    }),
    finished: flag("alerts", false, {
      title: "A turn ended",
      description: "Alert, quietly, at the end of every turn.",
    }),
    longTurnMinutes: amount(
      "alerts",
      5,
      { unit: "minutes", min: 0, max: 1_440 },
      {
        title: "A long turn ended",
        description: "Alert, quietly, at the end of a turn that took longer than this. 0 means never.",
      },
    ),
    quotaPercent: amount("alerts", 0, percent, {
      title: "A quota is nearly used up",
      description:
        "Alert, quietly, when this much of a quota of your subscription is used, and when it is back. 0 means never.",
    }),
    contextPercent: amount("alerts", 0, percent, {
      title: "A context is nearly full",
      description: "Alert, quietly, when a session has used this much of its context. 0 means never.",
    }),
    presentSeconds: amount(
      "alerts",
      30,
      { unit: "seconds", min: 5, max: 3_600 },
      {
        title: "You count as away",
        description: "After this long without input. Then the pane in front of you alerts too.",
      },
    ),
    graceMs: amount(
      "alerts",
      0,
      { unit: "milliseconds", min: 0, max: 60_000 },
      {
        title: "Wait before an alert",
        description: "How long you may take to answer in the terminal before an alert shows.",
      },
    ),
    sound: flag("alerts", true, {
      title: "Sound",
      description: "The system's sound, for blocked and failed sessions.",
    }),
    unattended: flag("alerts", false, {
      title: "Unattended runs",
      description: "Alert for runs without a terminal too (headless, SDK).",
    }),
    sdkHosts: flag("alerts", false, {
      title: "Apps that run an agent",
      description: "Alert when a program that runs an agent through its SDK shows somebody a dialog.",
    }),
    whileLooking: flag("alerts", false, {
      title: "The pane in front of you",
      description: "Alert even while you look at the session's own pane, or at the dashboard.",
    }),
  }),
  stuck: Type.Object({
    silentMinutes: amount(
      "alerts",
      15,
      { unit: "minutes", min: 0, max: 1_440 },
      {
        title: "A session may be stuck",
        description:
          "Show it, without an alert, when a session works and says nothing for this long. 0 means never.",
      },
    ),
  }),
  tray: Type.Object({
    leftClick: setting(choices(leftClicks), {
      section: "start",
      default: "menu",
      title: "Left click on the icon",
      description:
        "Opens the menu, or goes to the session that has waited longest. On macOS and GNOME it is always the menu.",
      expected: '"menu" or "nextWaiting"',
      control: { kind: "choice", labels: leftClicks },
    }),
  }),
  awake: setting(choices(awakeChoices), {
    section: "start",
    default: "off",
    title: "Keep the machine awake",
    description: "While an agent works, the machine does not sleep by itself. Closing the lid still does.",
    expected: '"off", "pluggedIn" or "always"',
    control: { kind: "choice", labels: awakeChoices },
  }),
  quietHours: setting(
    Type.Union([
      Type.Object({ from: timeOfDay, to: timeOfDay }, { additionalProperties: false }),
      Type.Null(),
    ]),
    {
      section: "quiet",
      default: null,
      title: "Quiet hours",
      description: "No alerts between these local times.",
      expected: '{"from": "22:00", "to": "08:00"} with two different times of day, or null',
      example: { from: "22:00", to: "08:00" },
      control: { kind: "hours" },
      isValid: (hours) => hours === null || hours.from !== hours.to,
    },
  ),
  mutedProjects: setting(
    Type.Array(Type.String({ minLength: 1, maxLength: limits.maxPathLength }), { maxItems: maxProjects }),
    {
      section: "quiet",
      default: [],
      title: "Muted projects",
      description: "They never alert, and stay in the menu.",
      expected: 'a list of project names like ["playground"]',
      example: ["playground"],
      control: { kind: "list", item: "project" },
    },
  ),
  answering: Type.Object({
    enabled: flag("answers", true, {
      title: "Answer from elsewhere",
      description: "Let you answer from menu, alerts, dashboard and command line too.",
      grants: "It lets requests be answered outside of the terminal.",
    }),
    autoAllow: setting(
      Type.Record(
        Type.String(),
        Type.Array(Type.String({ maxLength: limits.maxPathLength }), { maxItems: maxRules }),
        { maxProperties: maxProjects },
      ),
      {
        section: "answers",
        default: {},
        title: "Rules",
        description:
          "What agents may read without asking you, by project folder. Never for what is marked as dangerous.",
        expected: 'an object like {"/home/me/project": ["Read", "Bash(ls *)"]}',
        example: { "/home/me/project": ["Read", "Bash(ls *)"] },
        control: { kind: "file", item: "project" },
        grants: "Rules let agents read without asking you.",
        findMistakes: findRuleMistakes,
        dropMistakes: dropInvalidRules as (rules: AutoAllowRules) => Record<string, string[]>,
      },
    ),
  }),
  history: setting(
    Type.Union([
      Type.Object(
        {
          days: Type.Integer({ minimum: dayRange.min, maximum: dayRange.max }),
          maxMb: Type.Integer({ minimum: megabyteRange.min, maximum: megabyteRange.max }),
        },
        { additionalProperties: false },
      ),
      Type.Literal("off"),
    ]),
    {
      section: "history",
      default: { days: 30, maxMb: 500 },
      title: "History",
      description: "How long and up to which size it is kept. Off keeps none, and removes what there is.",
      expected: '{"days": 30, "maxMb": 500}, or "off"',
      example: { days: 30, maxMb: 500 },
      control: { kind: "retention", days: dayRange, maxMb: megabyteRange },
    },
  ),
  keep: Type.Object({
    completedHours: amount(
      "history",
      24,
      { unit: "hours", min: 0, max: 8_760 },
      { title: "Ended sessions", description: "How long they stay in the list." },
    ),
    completedMax: amount(
      "history",
      200,
      { unit: "sessions", min: 0, max: limits.maxSessions },
      { title: "Number of ended sessions", description: "How many of them stay in the list at most." },
    ),
    journalDays: amount(
      "history",
      7,
      { unit: "days", min: 1, max: 365 },
      { title: "Journal", description: "How long prompts and commands stay in beckon's own files." },
    ),
  }),
  stream: Type.Object({
    path: setting(Type.Union([absolutePath, Type.Null()]), {
      section: "history",
      default: null,
      title: "Stream for other tools",
      description: "A file that sessions, turns and skills are appended to, for other tools.",
      expected: "an absolute path, or null",
      example: "/home/me/lifecycle.jsonl",
      control: { kind: "file", item: null },
      grants: "It names a file that beckon writes to.",
      variable: "BECKON_STREAM_PATH",
    }),
    url: setting(Type.Union([Type.String(), Type.Null()]), {
      section: "history",
      default: null,
      title: "Stream on a server",
      description: "A server of Redis that gets the same lines, not encrypted, for programs elsewhere.",
      expected: "an address like redis://user@host:6379/0, or null",
      example: "redis://user@host:6379/0",
      control: { kind: "file", item: null },
      grants: "It names a server that gets your prompts.",
      findMistakes: findStreamUrlMistakes,
      dropMistakes: (url) => (findStreamUrlMistakes(url).length === 0 ? url : null),
    }),
    urlFiles: setting(
      Type.Object(
        {
          password: Type.Optional(absolutePath),
          ca: Type.Optional(absolutePath),
          cert: Type.Optional(absolutePath),
          key: Type.Optional(absolutePath),
        },
        { additionalProperties: false },
      ),
      {
        section: "history",
        default: {},
        title: "Files for that server",
        description: "With its password, its authority, and the certificate and key of this machine.",
        expected: 'an object like {"password": "/home/me/.redis-password"}, with absolute paths',
        example: { password: "/home/me/.redis-password" },
        control: { kind: "file", item: "file" },
        grants: "It names files that beckon reads.",
      },
    ),
    maxEntries: amount(
      "history",
      100_000,
      { unit: "lines", min: 100, max: 100_000_000 },
      { title: "Lines on that server", description: "About how many it keeps. The oldest go first." },
    ),
  }),
  channels: setting(Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown())), {
    section: "phone",
    default: {},
    title: "Phones and chats",
    description: "To add one: beckon channel add phone. More is in docs/channels.md.",
    expected: 'an object like {"phone": {"type": "ntfy", "topic": "…"}}',
    example: { phone: { type: "ntfy", topic: "a-name-that-nobody-guesses" } },
    control: { kind: "file", item: "channel" },
    grants: "A channel sends what sessions do to another place, and can take answers from there.",
    findMistakes: findChannelMistakes,
    dropMistakes: dropInvalidChannels,
  }),
  machines: setting(Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown())), {
    section: "machines",
    default: {},
    title: "Other machines",
    description:
      "Their sessions are shown here too. To add one: beckon machine add devbox. More is in docs/machines.md.",
    expected: 'an object like {"devbox": {"ssh": "user@host"}}',
    example: { devbox: { ssh: "user@host" } },
    control: { kind: "file", item: "machine" },
    grants: "It names a command that beckon runs.",
    findMistakes: findMachineMistakes,
    dropMistakes: dropInvalidMachines,
  }),
  fleet: Type.Object({
    hours: amount(
      "machines",
      72,
      { unit: "hours", min: 1, max: 8_760 },
      { title: "Fleet", description: "How long the server of a fleet keeps what this machine has said." },
    ),
    entries: amount(
      "machines",
      10_000,
      { unit: "changes", min: 1_000, max: 1_000_000 },
      { title: "Changes of a fleet", description: "How many changes the server keeps, about: 4 KB each." },
    ),
  }),
  workGuard: Type.Object({
    mode: setting(guardMode, {
      section: "guard",
      default: "off",
      title: "Edits without a port",
      description:
        "Refuse edits that belong to no port, a named piece of work; only record them; or do nothing.",
      expected: '"strict", "warn" or "off"',
      control: { kind: "choice", labels: guardModes },
    }),
    autoCreate: flag("guard", false, {
      title: "Suggest a port",
      description: "Name a port to create in the reason of a refusal.",
    }),
    ignore: setting(guardIgnore, {
      section: "guard",
      default: [],
      title: "Files without a port",
      description: "They never need one, wherever the guard is on.",
      expected: 'a list of patterns like ["*.md", "docs/**"]',
      example: ["*.md", "docs/**"],
      control: { kind: "list", item: "pattern" },
    }),
    collisions: setting(collisionMode, {
      section: "guard",
      default: "show",
      title: "Two sessions in one file",
      description:
        "Before an edit of a file that another session has changed. Where an agent cannot ask you, its model is told.",
      expected: '"show", "warn", "ask" or "refuse"',
      control: { kind: "choice", labels: collisionModes },
    }),
    store: setting(guardStore, {
      section: "guard",
      default: "state",
      title: "Where ports are kept",
      description: "In beckon's own folder, or in .beckon/ports.json of the project, which a team can share.",
      expected: '"state" or "project"',
      control: { kind: "choice", labels: guardStores },
    }),
    context: flag("guard", false, {
      title: "Tell the agent",
      description: "At the start of a session: which port runs, and what it depends on.",
    }),
    messages: flag("guard", false, {
      title: "Lines in the terminal",
      description: "A line in the agent's terminal about the port, and about edits without one.",
    }),
    tokenBudget: setting(guardBudget, {
      section: "guard",
      default: null,
      title: "A full context",
      description:
        "Record when a session's context has more tokens than this. Without it, the model's window counts.",
      expected: `a number of tokens from ${tokenRange.min} to ${tokenRange.max}, or null`,
      example: 150_000,
      control: { kind: "number", unit: "tokens", ...tokenRange, isOptional: true },
    }),
    projects: setting(
      Type.Record(
        Type.String(),
        Type.Object(
          {
            mode: Type.Optional(guardMode),
            autoCreate: Type.Optional(Type.Boolean()),
            ignore: Type.Optional(guardIgnore),
            collisions: Type.Optional(collisionMode),
            store: Type.Optional(guardStore),
            context: Type.Optional(Type.Boolean()),
            messages: Type.Optional(Type.Boolean()),
            tokenBudget: Type.Optional(guardBudget),
          },
          { additionalProperties: false },
        ),
        { maxProperties: maxProjects },
      ),
      {
        section: "guard",
        default: {},
        title: "Single projects",
        description: "The same settings for single projects, by folder.",
        expected: 'an object like {"/home/me/project": {"mode": "strict"}}, with absolute paths',
        example: { "/home/me/project": { mode: "strict" } },
        control: { kind: "file", item: "project" },
        isValid: (projects) => Object.keys(projects).every((folder) => /^(\/|[A-Za-z]:[\\/])/.test(folder)),
      },
    ),
  }),
  updates: setting(choices(updateModes), {
    section: "start",
    default: "off",
    title: "Newer versions",
    description:
      "Ask once a day whether there is a newer beckon, and say so in the menu. Nothing is installed by itself.",
    expected: '"off" or "tell"',
    control: { kind: "choice", labels: updateModes },
  }),
  // The forwarder reads these two itself, without asking the app.
  autoLaunch: flag("start", true, {
    title: "Start with a session",
    description: "Let a session that starts while beckon is not running start it.",
  }),
  allowRemoteUrl: flag("start", false, {
    title: "Events to another machine",
    description:
      "Let BECKON_URL send your sessions' events to another machine. Counts only in your own config folder.",
    grants: "It lets events leave this machine.",
  }),
});

type DeepReadonly<T> = T extends object ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> } : T;

export type Config = Omit<DeepReadonly<Static<typeof configSchema>>, "channels" | "machines"> & {
  /** By the name that the user gave the machine. */
  readonly machines: Readonly<Record<string, MachineSettings>>;
  /** By the name that the user gave the channel. */
  readonly channels: Readonly<Record<string, ChannelSettings>>;
};

export type LeftClick = Config["tray"]["leftClick"];

export interface Setting extends SettingOptions<unknown> {
  /** `alerts.sound` */
  readonly key: string;
  /** `alerts`; null for a setting at the top level. */
  readonly group: string | null;
  readonly name: string;
  readonly schema: TSchema;
}

export const settings: readonly Setting[] = Object.entries(configSchema.properties).flatMap(
  ([name, schema]): Setting[] => {
    const { properties } = schema as { properties?: Record<string, TSchema> };
    const toSetting = (own: string, group: string | null, of: TSchema): Setting => ({
      ...(of as unknown as SettingOptions<unknown>),
      key: group === null ? own : `${group}.${own}`,
      group,
      name: own,
      schema: of,
    });
    if (!properties) return [toSetting(name, null, schema)];
    return Object.entries(properties).map(([own, of]) => toSetting(own, name, of));
  },
);

const settingsByKey: ReadonlyMap<string, Setting> = new Map(settings.map((one) => [one.key, one]));

export const findSetting = (key: string): Setting | null => settingsByKey.get(key) ?? null;
const groups: ReadonlySet<string> = new Set(settings.flatMap(({ group }) => group ?? []));

export function isAllowed({ schema, isValid }: Setting, value: unknown): boolean {
  return Check(schema, value) && (isValid?.(value) ?? true);
}

/** One line each: which setting, what is allowed, and what the value is. */
export function findValueMistakes(known: Setting, value: unknown): string[] {
  const { key, expected, findMistakes } = known;
  if (!isAllowed(known, value))
    return [`${key} must be ${expected}, not ${formatValue(value)}${locateMistake(known, value)}`];
  return (findMistakes?.(value) ?? []).map((mistake) => `${key}: ${toSingleLine(mistake)}`);
}

/** Its value in these settings. */
export function readSetting(config: Config, { group, name }: Setting): unknown {
  const container = (group === null ? config : config[group as keyof Config]) as JsonRecord;
  return container[name];
}

/** `A long turn ended. Alert, quietly, … 0 means never. From 0 to 1440 minutes.` For the template and the docs. */
export function describeSetting({ title, description, control }: Setting): string {
  const range = control.kind === "number" ? ` ${describeNumber(control)}` : "";
  return `${title}. ${description}${range}`;
}

export interface ParsedConfig {
  readonly config: Config;
  /** Messages for the user: which setting, what is allowed, and what the file says. */
  readonly problems: readonly string[];
}

/** Every setting that is wrong is reported and keeps its default. The others hold. */
export function parseConfig(value: unknown): ParsedConfig {
  if (!isRecord(value)) {
    const example = '{"alerts": {"sound": false}}';
    const problem = `the settings must be an object like ${example}, not ${formatValue(value)}`;
    return { config: defaultConfig, problems: [problem] };
  }
  const problems: string[] = [];
  const values = flatten(value, problems);
  for (const [key, found] of values) {
    const known = settingsByKey.get(key);
    problems.push(...(known ? findValueMistakes(known, found) : [formatUnknownKey(key)]));
  }
  return { config: createConfig(values), problems: limitProblems(problems) };
}

/** `{alerts: {sound: false}}` → `alerts.sound`. Names that start with `//` are the user's comments. */
function flatten(value: JsonRecord, problems: string[]): Map<string, unknown> {
  const isComment = (name: string) => name.startsWith("//") || name === "$schema";
  const entries = Object.entries(value).flatMap(([name, found]): [string, unknown][] => {
    if (isComment(name)) return [];
    if (!groups.has(name)) return [[name, found]];
    if (!isRecord(found)) {
      problems.push(`${name} must be an object like ${formatExample(name)}, not ${formatValue(found)}`);
      return [];
    }
    return Object.entries(found).flatMap(([own, it]) => (isComment(own) ? [] : [[`${name}.${own}`, it]]));
  });
  return new Map(entries);
}

function createConfig(values: ReadonlyMap<string, unknown>): Config {
  const config: Record<string, unknown> = {};
  for (const known of settings) {
    const { key, group, name } = known;
    const found = values.get(key);
    const isSet = values.has(key) && isAllowed(known, found);
    const value = isSet ? (known.dropMistakes ? known.dropMistakes(found) : found) : known.default;
    if (group === null) config[name] = value;
    else config[group] = { ...(config[group] as object), [name]: value };
  }
  return config as Config;
}

export const defaultConfig: Config = createConfig(new Map());

const maxProblems = 20;
const maxValueColumns = 40;

function formatExample(group: string): string {
  const first = settings.find((one) => one.group === group);
  return `{"${first?.name}": ${JSON.stringify(first?.default)}}`;
}

function formatValue(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "this list";
  if (typeof value === "string") return JSON.stringify(truncateEnd(value, maxValueColumns));
  if (typeof value === "object" && value !== null) return "this object";
  return String(value);
}

/** Names the first part of a list or an object that is wrong: ` ("/home/me/project", "mode": "strikt")`. */
function locateMistake({ schema }: Setting, value: unknown): string {
  const mistake = Errors(schema, value).First();
  if (!mistake || mistake.path === "") return "";
  const names = mistake.path
    .slice(1)
    .split("/")
    .map((name) =>
      /^\d+$/.test(name)
        ? `number ${Number(name) + 1}`
        : formatValue(name.replaceAll("~1", "/").replaceAll("~0", "~")),
    );
  return ` (${names.join(", ")}: ${formatValue(mistake.value)})`;
}

/** `whereListed` is what to do if no name is close. */
export function formatUnknownKey(key: string, whereListed = "see the list in docs/configuration.md"): string {
  const closest = findClosest(key, [...groups, ...settingsByKey.keys()]);
  const hint = closest === null ? whereListed : `did you mean ${closest}?`;
  return `${truncateEnd(key, maxValueColumns) || "a key without a name"} is not a setting: ${hint}`;
}

function limitProblems(problems: readonly string[]): readonly string[] {
  const left = problems.length - maxProblems;
  return left > 0 ? [...problems.slice(0, maxProblems), `and ${left} more`] : problems;
}
