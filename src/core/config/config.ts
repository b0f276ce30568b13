/**
 * What users choose: settings in config.json (this file), preferences set with a click (preferences.ts), quiet hours, and the
 * rules for what is allowed without asking.
 *
 * The schema below is the only description of the settings: type, default, check, error message, template and docs follow it.
 */
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Errors } from "@sinclair/typebox/errors";
import { Check } from "@sinclair/typebox/value";
import { isRecord, type JsonRecord } from "../json.ts";
import { limits } from "../limits.ts";
import { findClosest } from "../text/closest.ts";
import { toSingleLine, truncateEnd } from "../text/text.ts";
import { type AutoAllowRules, dropInvalidRules, findRuleMistakes } from "./auto-allow-rules.ts";
import { type ChannelSettings, dropInvalidChannels, findChannelMistakes } from "./channels.ts";

/** What a setting's schema says besides the type. */
interface SettingOptions<Value> {
  readonly default: Value;
  readonly description: string;
  /** Completes the sentence "… must be". */
  readonly expected: string;
  /** Shown in the template where the default does not show the form of a value. */
  readonly example?: Value;
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

const flag = (value: boolean, description: string) =>
  setting(Type.Boolean(), { default: value, description, expected: "true or false" });

const amount = (value: number, unit: string, minimum: number, maximum: number, description: string) =>
  setting(Type.Integer({ minimum, maximum }), {
    default: value,
    description,
    expected: `a number of ${unit} from ${minimum} to ${maximum}`,
  });

const maxProjects = 1_000;
const maxRules = 200;
const timeOfDay = Type.String({ pattern: "^([01]\\d|2[0-3]):[0-5]\\d$" });

const guardMode = Type.Union([Type.Literal("strict"), Type.Literal("warn"), Type.Literal("off")]);
const guardModeExpected = '"strict", "warn" or "off"';
const guardIgnore = Type.Array(Type.String({ minLength: 1, maxLength: limits.maxPathLength }), {
  maxItems: maxRules,
});
const guardStore = Type.Union([Type.Literal("state"), Type.Literal("project")]);
const guardBudget = Type.Union([Type.Integer({ minimum: 1_000, maximum: 100_000_000 }), Type.Null()]);

const configSchema = Type.Object({
  alerts: Type.Object({
    blocked: flag(true, "Alert when a session cannot go on without you."),
    failed: flag(true, "Alert when a turn ends with an error, or a session dies at work."),
    idle: flag(true, "Alert, quietly, when a session has waited a while for your next prompt."),
    finished: flag(false, "Alert, quietly, at the end of every turn."),
    longTurnMinutes: amount(
      5,
      "minutes",
      0,
      1_440,
      "Alert, quietly, at the end of a turn that took longer than this. 0: never.",
    ),
    presentSeconds: amount(
      30,
      "seconds",
      5,
      3_600,
      "Without input for this long you count as away, and the pane in front of you alerts too.",
    ),
    graceMs: amount(
      0,
      "milliseconds",
      0,
      60_000,
      "How long you may take to answer in the terminal before an alert shows.",
    ),
    sound: flag(true, "Play the system's sound with alerts about blocked and failed sessions."),
    unattended: flag(false, "Alert for unattended runs too (headless, SDK)."),
    whileLooking: flag(false, "Alert even while you look at the session's own pane, or at the dashboard."),
  }),
  tray: Type.Object({
    leftClick: setting(Type.Union([Type.Literal("menu"), Type.Literal("nextWaiting")]), {
      default: "menu",
      description:
        "A left click opens the menu or goes, as a middle click does, to the session that has waited longest.",
      expected: '"menu" or "nextWaiting"',
    }),
  }),
  quietHours: setting(
    Type.Union([
      Type.Object({ from: timeOfDay, to: timeOfDay }, { additionalProperties: false }),
      Type.Null(),
    ]),
    {
      default: null,
      description: "No alerts between these local times.",
      expected: '{"from": "22:00", "to": "08:00"} with two different times of day, or null',
      example: { from: "22:00", to: "08:00" },
      isValid: (hours) => hours === null || hours.from !== hours.to,
    },
  ),
  mutedProjects: setting(
    Type.Array(Type.String({ minLength: 1, maxLength: limits.maxPathLength }), { maxItems: maxProjects }),
    {
      default: [],
      description: "Projects that never alert. They stay in the menu.",
      expected: 'a list of project names like ["playground"]',
      example: ["playground"],
    },
  ),
  answering: Type.Object({
    enabled: flag(true, "Let you answer from menu, alerts and command line too."),
    autoAllow: setting(
      Type.Record(
        Type.String(),
        Type.Array(Type.String({ maxLength: limits.maxPathLength }), { maxItems: maxRules }),
        { maxProperties: maxProjects },
      ),
      {
        default: {},
        description:
          "What agents may read without asking you, by project folder. Never for what is marked as dangerous.",
        expected: 'an object like {"/home/me/project": ["Read", "Bash(ls *)"]}',
        example: { "/home/me/project": ["Read", "Bash(ls *)"] },
        findMistakes: findRuleMistakes,
        dropMistakes: dropInvalidRules as (rules: AutoAllowRules) => Record<string, string[]>,
      },
    ),
  }),
  keep: Type.Object({
    completedHours: amount(24, "hours", 0, 8_760, "How long ended sessions are listed."),
    completedMax: amount(
      200,
      "sessions",
      0,
      limits.maxSessions,
      "How many ended sessions are listed at most.",
    ),
    journalDays: amount(7, "days", 1, 365, "How long prompts and commands stay in beckon's own files."),
  }),
  history: setting(
    Type.Union([
      Type.Object(
        {
          days: Type.Integer({ minimum: 1, maximum: 3_650 }),
          maxMb: Type.Integer({ minimum: 10, maximum: 100_000 }),
        },
        { additionalProperties: false },
      ),
      Type.Literal("off"),
    ]),
    {
      default: { days: 30, maxMb: 500 },
      description: "How long and up to which size the history is kept; off keeps and leaves none.",
      expected: '{"days": 30, "maxMb": 500}, or "off"',
      example: { days: 30, maxMb: 500 },
    },
  ),
  stream: Type.Object({
    path: setting(
      Type.Union([
        Type.String({ minLength: 1, maxLength: limits.maxPathLength, pattern: "^(/|[A-Za-z]:[\\\\/])" }),
        Type.Null(),
      ]),
      {
        default: null,
        description: "A file that sessions, turns and skills are appended to, for other tools.",
        expected: "an absolute path, or null",
        example: "/home/me/lifecycle.jsonl",
      },
    ),
  }),
  channels: setting(Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown())), {
    default: {},
    description: "Where alerts go besides your desktop: a phone, a chat. See docs/channels.md.",
    expected: 'an object like {"phone": {"type": "ntfy", "topic": "…"}}',
    example: { phone: { type: "ntfy", topic: "a-name-that-nobody-guesses" } },
    findMistakes: findChannelMistakes,
    dropMistakes: dropInvalidChannels,
  }),
  workGuard: Type.Object({
    mode: setting(guardMode, {
      default: "off",
      description:
        "What happens to edits that belong to no port, a named piece of work: refused, only recorded, or nothing.",
      expected: guardModeExpected,
    }),
    autoCreate: flag(false, "Suggest a port to create in the reason of a refusal."),
    ignore: setting(guardIgnore, {
      default: [],
      description: "Files that never need a port.",
      expected: 'a list of patterns like ["*.md", "docs/**"]',
      example: ["*.md", "docs/**"],
    }),
    store: setting(guardStore, {
      default: "state",
      description:
        "Keep ports in beckon's own folder, or in .beckon/ports.json of the project, which a team can share.",
      expected: '"state" or "project"',
    }),
    context: flag(false, "Tell the agent at the start of a session which port runs, and what it depends on."),
    messages: flag(false, "Show a line in the agent's terminal about the port, and about edits without one."),
    tokenBudget: setting(guardBudget, {
      default: null,
      description:
        "Record when a session's context is fuller than this many tokens. Without it, the model's window counts.",
      expected: "a number of tokens from 1000 to 100000000, or null",
      example: 150_000,
    }),
    projects: setting(
      Type.Record(
        Type.String(),
        Type.Object(
          {
            mode: Type.Optional(guardMode),
            autoCreate: Type.Optional(Type.Boolean()),
            ignore: Type.Optional(guardIgnore),
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
        default: {},
        description: "The same settings for single projects, by folder.",
        expected: 'an object like {"/home/me/project": {"mode": "strict"}}, with absolute paths',
        example: { "/home/me/project": { mode: "strict" } },
        isValid: (projects) => Object.keys(projects).every((folder) => /^(\/|[A-Za-z]:[\\/])/.test(folder)),
      },
    ),
  }),
  // The forwarder reads these two itself, without asking the app.
  autoLaunch: flag(true, "Let a session that starts while beckon is not running start it."),
  allowRemoteUrl: flag(
    false,
    "Let BECKON_URL send your sessions' events to another machine. Counts only in your own config folder.",
  ),
});

type DeepReadonly<T> = T extends object ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> } : T;

export type Config = Omit<DeepReadonly<Static<typeof configSchema>>, "channels"> & {
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
const groups: ReadonlySet<string> = new Set(settings.flatMap(({ group }) => group ?? []));

export function isAllowed({ schema, isValid }: Setting, value: unknown): boolean {
  return Check(schema, value) && (isValid?.(value) ?? true);
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
    if (!known) problems.push(formatUnknownKey(key));
    else if (!isAllowed(known, found))
      problems.push(
        `${key} must be ${known.expected}, not ${formatValue(found)}${locateMistake(known, found)}`,
      );
    else
      problems.push(
        ...(known.findMistakes?.(found) ?? []).map((mistake) => `${key}: ${toSingleLine(mistake)}`),
      );
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
    const value = isSet ? (known.dropMistakes?.(found) ?? found) : known.default;
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

function formatUnknownKey(key: string): string {
  const closest = findClosest(key, [...groups, ...settingsByKey.keys()]);
  const hint = closest === null ? "see the list in docs/configuration.md" : `did you mean ${closest}?`;
  return `${truncateEnd(key, maxValueColumns) || "a key without a name"} is not a setting: ${hint}`;
}

function limitProblems(problems: readonly string[]): readonly string[] {
  const left = problems.length - maxProblems;
  return left > 0 ? [...problems.slice(0, maxProblems), `and ${left} more`] : problems;
}
