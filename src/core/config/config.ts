/** What a person can set, and what holds where they set nothing. */
import { limits } from "../limits.ts";
import { type AutoAllowRules, dropInvalidRules, findRuleMistakes } from "./auto-allow-rules.ts";

export interface Config {
  readonly alerts: {
    readonly blocked: boolean;
    readonly failed: boolean;
    readonly idle: boolean;
    readonly finished: boolean;
    /** An ask answered sooner than this shows no alert. */
    readonly graceMs: number;
    readonly sound: boolean;
    /** Also for runs that no person sits at (headless, SDK). */
    readonly unattended: boolean;
    /** Also while the person looks at that very pane. */
    readonly whileLooking: boolean;
  };
  /** Local times, `HH:MM`; may pass midnight. null: none. */
  readonly quietHours: { readonly from: string; readonly to: string } | null;
  readonly mutedProjects: readonly string[];
  readonly answering: {
    readonly enabled: boolean;
    /** What may be read without asking, by the project's folder. */
    readonly autoAllow: AutoAllowRules;
  };
  readonly keep: {
    readonly completedHours: number;
    readonly completedMax: number;
    readonly journalDays: number;
  };
}

export const defaultConfig: Config = {
  alerts: {
    blocked: true,
    failed: true,
    idle: true,
    finished: false,
    graceMs: 0,
    sound: true,
    unattended: false,
    whileLooking: false,
  },
  quietHours: null,
  mutedProjects: [],
  answering: { enabled: true, autoAllow: {} },
  keep: { completedHours: 24, completedMax: 200, journalDays: 7 },
};

/** One line of the settings: for the README, for the file that a person edits, and for the check of it. */
export interface Setting<Value = unknown> {
  readonly key: string;
  /** What is allowed, so that "must be …" reads well. */
  readonly type: string;
  readonly default: Value;
  /** Of a value, where the default shows nothing of its form. */
  readonly example?: Value;
  readonly says: string;
  readonly fits: (value: unknown) => boolean;
  /** Of a value that fits on the whole: which parts of it are mistakes, and what is left without them. */
  mistakes?(value: Value): readonly string[];
  right?(value: Value): Value;
}

function flag(key: string, value: boolean, says: string): Setting<boolean> {
  const fits = (given: unknown) => typeof given === "boolean";
  return { key, type: "true or false", default: value, says, fits };
}

function whole(
  key: string,
  value: number,
  [unit, min, max]: readonly [string, number, number],
  says: string,
): Setting<number> {
  const fits = (given: unknown) => Number.isInteger(given) && Number(given) >= min && Number(given) <= max;
  return { key, type: `a number of ${unit} from ${min} to ${max}`, default: value, says, fits };
}

const timeOfDay = /^([01]\d|2[0-3]):[0-5]\d$/;

function isQuietHours(given: unknown): boolean {
  if (given === null) return true;
  if (typeof given !== "object") return false;
  const { from, to, ...more } = given as Record<string, unknown>;
  const isTime = (time: unknown) => typeof time === "string" && timeOfDay.test(time);
  return isTime(from) && isTime(to) && from !== to && Object.keys(more).length === 0;
}

const maxProjects = 1_000;

function isNames(given: unknown): boolean {
  const isName = (name: unknown) =>
    typeof name === "string" && name !== "" && name.length <= limits.maxPathLength;
  return Array.isArray(given) && given.length <= maxProjects && given.every(isName);
}

const maxRules = 200;

function isRules(given: unknown): boolean {
  if (typeof given !== "object" || given === null || Array.isArray(given)) return false;
  const lists = Object.values(given);
  const isText = (rule: unknown) => typeof rule === "string" && rule.length <= limits.maxPathLength;
  const isList = (list: unknown) => Array.isArray(list) && list.length <= maxRules && list.every(isText);
  return lists.length <= maxProjects && lists.every(isList);
}

const autoAllow: Setting<AutoAllowRules> = {
  key: "answering.autoAllow",
  type: 'an object like {"/home/me/project": ["Read", "Bash(git diff *)"]}',
  default: defaultConfig.answering.autoAllow,
  example: { "/home/me/project": ["Read", "Bash(git diff *)"] },
  says: "What agents may read without asking you, by project folder. Never for what is marked as dangerous.",
  fits: isRules,
  mistakes: findRuleMistakes,
  right: dropInvalidRules,
};

const { alerts, answering, keep } = defaultConfig;

export const settings: readonly Setting[] = [
  flag("alerts.blocked", alerts.blocked, "Alert when a session cannot go on without you."),
  flag("alerts.failed", alerts.failed, "Alert when a turn ends with an error, or a session dies at work."),
  flag("alerts.idle", alerts.idle, "Alert, quietly, when a session has waited a while for your next prompt."),
  flag("alerts.finished", alerts.finished, "Alert, quietly, at the end of every turn."),
  whole(
    "alerts.graceMs",
    alerts.graceMs,
    ["milliseconds", 0, 60_000],
    "How long you may take to answer in the terminal before an alert shows.",
  ),
  flag(
    "alerts.sound",
    alerts.sound,
    "Play the system's sound with alerts about blocked and failed sessions.",
  ),
  flag("alerts.unattended", alerts.unattended, "Alert for unattended runs too (headless, SDK)."),
  flag("alerts.whileLooking", alerts.whileLooking, "Alert even while you look at the session's own pane."),
  {
    key: "quietHours",
    type: '{"from": "22:00", "to": "08:00"} with two different times of day, or null',
    default: defaultConfig.quietHours,
    example: { from: "22:00", to: "08:00" },
    says: "No alerts between these local times.",
    fits: isQuietHours,
  },
  {
    key: "mutedProjects",
    type: 'a list of project names like ["playground"]',
    default: defaultConfig.mutedProjects,
    example: ["playground"],
    says: "Projects that never alert. They stay in the menu.",
    fits: isNames,
  },
  flag("answering.enabled", answering.enabled, "Let you answer from menu, alerts and command line too."),
  autoAllow,
  whole(
    "keep.completedHours",
    keep.completedHours,
    ["hours", 0, 8_760],
    "How long ended sessions are listed.",
  ),
  whole(
    "keep.completedMax",
    keep.completedMax,
    ["sessions", 0, limits.maxSessions],
    "How many ended sessions are listed at most.",
  ),
  whole(
    "keep.journalDays",
    keep.journalDays,
    ["days", 1, 365],
    "How long prompts and commands stay in beckon's own files.",
  ),
  flag("autoLaunch", true, "Let a session that starts while beckon is not running start it."),
  flag(
    "allowRemoteUrl",
    false,
    "Let BECKON_URL send your sessions' events to another machine. Counts only in your own config folder.",
  ),
];
