/** A person's settings, checked: what is wrong is named, and its default holds. */
import { findClosest } from "../text/closest.ts";
import { toSingleLine, truncateEnd } from "../text/text.ts";
import { type Config, type Setting, settings } from "./config.ts";

export interface ParsedConfig {
  readonly config: Config;
  /** For people: which key, what is allowed, what stands there. */
  readonly problems: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

const maxProblems = 20;
const maxShown = 40;
const groups: ReadonlySet<string> = new Set(settings.flatMap(({ key }) => key.match(/^.+(?=\.)/)?.[0] ?? []));
const known: ReadonlyMap<string, Setting> = new Map(settings.map((setting) => [setting.key, setting]));

export function parseConfig(value: unknown): ParsedConfig {
  const problems: string[] = [];
  const given = isFields(value) ? flat(value, problems) : new Map<string, unknown>();
  if (!isFields(value)) {
    problems.push(`the settings must be an object like {"alerts": {"sound": false}}, not ${shown(value)}`);
  }
  for (const [key, found] of given) {
    const setting = known.get(key);
    if (!setting) problems.push(unknownKey(key));
    else if (!setting.fits(found)) problems.push(`${key} must be ${setting.type}, not ${shown(found)}`);
    else
      problems.push(
        ...(setting.mistakes?.(found) ?? []).map((mistake) => `${key}: ${toSingleLine(mistake)}`),
      );
  }
  return { config: build(given), problems: few(problems) };
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `{alerts: {sound: false}}` → `alerts.sound`. Keys that begin with `//` are a person's notes. */
function flat(value: Fields, problems: string[]): Map<string, unknown> {
  const isNote = (name: string) => name.startsWith("//") || name === "$schema";
  const rows = Object.entries(value).flatMap(([name, found]): [string, unknown][] => {
    if (isNote(name)) return [];
    if (!groups.has(name)) return [[name, found]];
    if (!isFields(found)) {
      problems.push(`${name} must be an object like ${example(name)}, not ${shown(found)}`);
      return [];
    }
    return Object.entries(found).flatMap(([inner, it]) => (isNote(inner) ? [] : [[`${name}.${inner}`, it]]));
  });
  return new Map(rows);
}

function example(group: string): string {
  const setting = settings.find(({ key }) => key.startsWith(`${group}.`));
  return `{"${setting?.key.slice(group.length + 1)}": ${setting?.default}}`;
}

function build(given: ReadonlyMap<string, unknown>): Config {
  const take = <Value>(key: string): Value => {
    const setting = known.get(key);
    const found = given.get(key);
    if (!given.has(key) || !setting?.fits(found)) return setting?.default as Value;
    return (setting.right?.(found) ?? found) as Value;
  };
  return {
    alerts: {
      blocked: take("alerts.blocked"),
      failed: take("alerts.failed"),
      idle: take("alerts.idle"),
      finished: take("alerts.finished"),
      graceMs: take("alerts.graceMs"),
      sound: take("alerts.sound"),
      unattended: take("alerts.unattended"),
      whileLooking: take("alerts.whileLooking"),
    },
    quietHours: take("quietHours"),
    mutedProjects: take("mutedProjects"),
    answering: { enabled: take("answering.enabled"), autoAllow: take("answering.autoAllow") },
    keep: {
      completedHours: take("keep.completedHours"),
      completedMax: take("keep.completedMax"),
      journalDays: take("keep.journalDays"),
    },
  };
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "this list";
  if (typeof value === "string") return JSON.stringify(truncateEnd(value, maxShown));
  if (typeof value === "object" && value !== null) return "this object";
  return String(value);
}

function unknownKey(key: string): string {
  const like = findClosest(key, [...groups, ...known.keys()]);
  const hint = like === null ? "see the list in docs/configuration.md" : `did you mean ${like}?`;
  return `${truncateEnd(key, maxShown) || "a key without a name"} is not a setting: ${hint}`;
}

function few(problems: readonly string[]): readonly string[] {
  const left = problems.length - maxProblems;
  return left > 0 ? [...problems.slice(0, maxProblems), `and ${left} more`] : problems;
}
