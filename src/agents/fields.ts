/**
 * How a request is described: its heading, and the fields of a tool call that nothing else shows, each by its name and value, so that
 * none is dropped. Pure.
 */
import type { JsonRecord } from "../core/json.ts";
import { createLabel, type FittedLine } from "../core/text/fit.ts";
import { makeLineVisible } from "../core/text/visible.ts";

/** What the user is shown of a request, before it is fitted. */
export interface Description {
  readonly heading: string;
  readonly isGenericHeading?: true;
  readonly startsWithSubject?: true;
  readonly lines: readonly FittedLine[];
  /** True if the request does not say all of what would happen. */
  readonly isPartial?: boolean;
}

const maxHeadingLength = 120;

/** A heading is cut where it does not fit, so a long subject is shown as a line. `noun` stands for it: "a file". */
export function createHeading(
  verb: string,
  subject: string,
  noun: string,
): Pick<Description, "heading" | "lines"> {
  const shown = subject.length > maxHeadingLength ? null : makeLineVisible(subject);
  return shown !== null && shown.length <= maxHeadingLength
    ? { heading: `${verb} ${shown}`, lines: [] }
    : { heading: `${verb} ${noun}`, lines: [createLabel(noun.replace(/^an? /, ""), subject)] };
}

const maxLabelLength = 60;

/** The fields that are not shown already. */
export function formatFields(fields: JsonRecord, shown: readonly string[]): FittedLine[] {
  const names = Object.keys(fields).filter((name) => !shown.includes(name) && fields[name] !== undefined);
  return names.map((name) => {
    const text = formatJson(fields[name], 0);
    // A label is never wrapped, so a long name becomes part of the text.
    return name.length > maxLabelLength
      ? createLabel("and", `${JSON.stringify(name)}: ${text}`)
      : createLabel(makeLineVisible(name), text);
  });
}

export function formatJson(value: unknown, indent: number): string {
  return isShowable(value) ? (JSON.stringify(value, null, indent) ?? "") : "[nested too deep to be shown]";
}

const maxDepth = 40;

/** JSON that is not nested too deep: a megabyte of nested brackets would be a terabyte once it is indented. */
export function isShowable(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; depth < maxDepth && level.length > 0; depth++) {
    if (level.some((item) => /^(?:bigint|function|symbol)$/.test(typeof item))) return false;
    level = level.flatMap((item) => (typeof item === "object" && item !== null ? Object.values(item) : []));
  }
  return level.length === 0;
}
