/**
 * A setting as the settings panel and `beckon config` show it: its control, its value in words, and what is wrong with a value. It
 * runs in the browser too, so it knows no schema: config.ts has the table.
 */
import { formatCount } from "../text/words.ts";

interface Range {
  readonly min: number;
  readonly max: number;
}

/** What a setting is changed with. */
export type Control =
  | { readonly kind: "switch" }
  /** `isOptional`: it may have no value, which is null. */
  | ({ readonly kind: "number"; readonly unit: string; readonly isOptional?: true } & Range)
  /** Each value, and what users read for it. */
  | { readonly kind: "choice"; readonly labels: Readonly<Record<string, string>> }
  /** Two times of day, or null. */
  | { readonly kind: "hours" }
  /** A list of texts; `item` is what one is called. */
  | { readonly kind: "list"; readonly item: string }
  /** How long and up to which size something is kept, or "off". */
  | { readonly kind: "retention"; readonly days: Range; readonly maxMb: Range }
  /** More than a control can show: it is changed in the file. `item` is what its parts are called, null for a text. */
  | { readonly kind: "file"; readonly item: string | null };

export interface HoursValue {
  readonly from: string;
  readonly to: string;
}

export interface RetentionValue {
  readonly days: number;
  readonly maxMb: number;
}

export const sections = {
  alerts: { title: "Alerts", about: "What alerts you, and how." },
  quiet: { title: "Quiet hours", about: "When nothing may disturb you." },
  phone: {
    title: "Phone and chat",
    about: "Where alerts go besides your desktop. Nothing leaves this machine unless it is listed here.",
  },
  machines: { title: "Machines", about: "Where else your agents run." },
  answers: { title: "Answers and rules", about: "What may be answered away from the terminal." },
  history: {
    title: "History",
    about: "What beckon keeps: prompts, commands, requests and answers. No output of tools.",
  },
  guard: {
    title: "Work guard",
    about: "Every edit belongs to a named piece of work, a port, and no two sessions edit one file.",
  },
  start: { title: "Start and menu", about: "How beckon starts, and what a click on its icon does." },
} as const;

export type SectionId = keyof typeof sections;

/** Where the value in use comes from. */
export type SettingSource =
  | { readonly kind: "default" }
  | { readonly kind: "file"; readonly line: number }
  /** A variable is stronger than the file. */
  | { readonly kind: "environment"; readonly name: string };

/** One setting, as the API sends it. */
export interface SettingView {
  /** `alerts.sound` */
  readonly key: string;
  readonly section: SectionId;
  readonly title: string;
  readonly description: string;
  readonly control: Control;
  /** Completes the sentence "… must be". */
  readonly expected: string;
  /** In use. null for what is changed in the file only: it can contain what nobody else may read. */
  readonly value: unknown;
  readonly default: unknown;
  /** The value in words. */
  readonly shown: string;
  readonly source: SettingSource;
  /** What is wrong with the value in the file; null if nothing is. */
  readonly mistake: string | null;
  /** Why the page may not turn it on; null if it may. */
  readonly grants: string | null;
}

export interface ChannelRow {
  readonly name: string;
  /** Of the service, for users. */
  readonly service: string;
  readonly detail: string;
  readonly answers: string;
  /** Why nothing is sent or received now; null if all is well. */
  readonly problem: string | null;
  /** Wall time; null if nothing was sent since the start. */
  readonly lastSentAt: number | null;
}

/** GET /api/settings */
export interface SettingsView {
  /** Of config.json, with `~` for the home folder. */
  readonly path: string;
  /** Changes with the file. A save names the one that it was made for. */
  readonly version: string;
  /** Why nothing can be saved; null if it can. */
  readonly locked: string | null;
  /** Mistakes in the file that belong to no setting. */
  readonly problems: readonly string[];
  readonly settings: readonly SettingView[];
  readonly channels: readonly ChannelRow[];
  readonly about: readonly {
    readonly name: string;
    readonly value: string;
    readonly source: string | null;
  }[];
}

/** What a save changes: new values, and settings that go back to their defaults. */
export interface SettingChanges {
  readonly set: Readonly<Record<string, unknown>>;
  readonly reset: readonly string[];
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** "on", "5 minutes", "22:00 to 08:00", "none" */
export function formatSettingValue(control: Control, value: unknown): string {
  switch (control.kind) {
    case "switch":
      return value === true ? "on" : "off";
    case "number":
      return value === null ? "none" : `${value} ${control.unit}`;
    case "choice":
      return control.labels[String(value)] ?? String(value);
    case "hours": {
      const { from, to } = (value ?? {}) as Partial<HoursValue>;
      return from === undefined ? "none" : `${from} to ${to}`;
    }
    case "list":
      return Array.isArray(value) && value.length > 0 ? value.join(", ") : "none";
    case "retention": {
      if (!isObject(value)) return "off";
      return `${value.days} days, ${value.maxMb} MB`;
    }
    case "file": {
      if (typeof value === "string") return value;
      const count = isObject(value) ? Object.keys(value).length : 0;
      return count === 0 || control.item === null ? "none" : formatCount(count, control.item);
    }
    default:
      return control satisfies never;
  }
}

const isWhole = (value: unknown, { min, max }: Range): boolean =>
  typeof value === "number" && Number.isInteger(value) && value >= min && value <= max;

export const timeOfDayPattern = /^([01]\d|2[0-3]):[0-5]\d$/;

/** "From 0 to 1440 minutes." */
export const describeNumber = ({
  min,
  max,
  unit,
  isOptional,
}: Extract<Control, { kind: "number" }>): string =>
  `From ${min} to ${max} ${unit}${isOptional ? ", or none" : ""}.`;

/** What is allowed, as a sentence, if this value is not; null if it is. The server decides with the schema. */
export function explainControl(control: Control, value: unknown): string | null {
  switch (control.kind) {
    case "number":
      return (control.isOptional && value === null) || isWhole(value, control)
        ? null
        : describeNumber(control);
    case "hours": {
      if (value === null) return null;
      const { from = "", to = "" } = value as Partial<HoursValue>;
      if (!timeOfDayPattern.test(from) || !timeOfDayPattern.test(to))
        return "Times of day from 00:00 to 23:59.";
      return from === to ? "Two different times of day." : null;
    }
    case "retention": {
      if (!isObject(value)) return null;
      const { days, maxMb } = control;
      if (!isWhole(value.days, days)) return `From ${days.min} to ${days.max} days.`;
      return isWhole(value.maxMb, maxMb) ? null : `From ${maxMb.min} to ${maxMb.max} MB.`;
    }
    default:
      return null;
  }
}
