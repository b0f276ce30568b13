/**
 * beckon's entries in Kimi Code's config.toml. An unknown event or one more field in any entry switches off all hooks, the user's
 * too, and silently (measured). So only `event`, `matcher`, `command` and `timeout` are written, nothing else in the text changes, and the
 * result is read back: it must have what it had, and beckon's entries, and nothing that Kimi Code does not accept.
 */
import { asRecord } from "../../../core/json.ts";
import { readHookCommand } from "../../../user-files/hook-command.ts";
import { SettingsError } from "../../../user-files/hooks.ts";

/** The events that Kimi Code 2.1.0 accepts (run with all of them). */
const knownEvents: ReadonlySet<unknown> = new Set([
  ...["SessionStart", "SessionEnd", "UserPromptSubmit", "TurnStarted", "PreToolUse", "PostToolUse"],
  ...["PostToolUseFailure", "PermissionRequest", "PermissionResult", "Notification", "Stop", "StopFailure"],
  ...["Interrupt", "SubagentStart", "SubagentStop", "TaskStarted", "PreCompact", "PostCompact"],
]);
const knownFields: ReadonlySet<string> = new Set(["event", "matcher", "command", "timeout"]);

/** The line before beckon's entries. Kimi Code may write the file again without it. */
const mark = "# beckon --install wrote these hooks, and beckon --uninstall removes them.";
const header = /^[ \t]*\[\[[ \t]*hooks[ \t]*\]\][ \t]*\r?$/;
const field = /^[ \t]*(?:event|matcher|command|timeout)[ \t]*=/;

interface TomlHook {
  readonly event: string;
  readonly matcher?: string;
  readonly command: string;
  readonly timeout: number;
}

const parse = (text: string): Readonly<Record<string, unknown>> => {
  try {
    return asRecord(Bun.TOML.parse(text));
  } catch (error) {
    throw new SettingsError(text, 0, `it is not valid TOML (${(error as Error).message})`);
  }
};

const listEntries = (text: string): readonly Readonly<Record<string, unknown>>[] => {
  const { hooks = [] } = parse(text);
  if (!Array.isArray(hooks)) throw new SettingsError(text, 0, "hooks is not a list of tables");
  return hooks.map(asRecord);
};

const readOwn = ({ command }: Readonly<Record<string, unknown>>) =>
  typeof command === "string" ? readHookCommand(command) : null;

export const listOwn = (text: string) =>
  listEntries(text).flatMap((entry) => {
    const called = readOwn(entry);
    return called === null ? [] : [called];
  });

/** Everything in the file but beckon's entries. */
function readOthers(text: string): Readonly<Record<string, unknown>> {
  const others = listEntries(text).filter((entry) => readOwn(entry) === null);
  const { hooks: _, ...rest } = parse(text);
  return others.length === 0 ? rest : { ...rest, hooks: others };
}

function check(before: string, after: string, count: number): string {
  if (!Bun.deepEquals(readOthers(before), readOthers(after)) || listOwn(after).length !== count)
    throw new SettingsError(before, 0, "its hooks have a form in which beckon cannot add or remove its own");
  return after;
}

/** Removes each `[[hooks]]` with its fields if its command calls beckon. A comment or blank line ends it. */
export function removeOwn(text: string): string {
  if (listOwn(text).length === 0) return text;
  const lines = text.split(/(?<=\n)/);
  const kept: string[] = [];
  for (let at = 0; at < lines.length; ) {
    let end = at + 1;
    if (header.test(trimEnd(lines[at]))) while (end < lines.length && field.test(lines[end] ?? "")) end++;
    const part = lines.slice(at, end);
    if (end === at + 1 || !isOwn(part.join(""))) kept.push(...part);
    at = end;
  }
  return check(text, kept.join("").replace(`\n${mark}\n`, ""), 0);
}

const trimEnd = (line = ""): string => line.replace(/\n$/, "");

function isOwn(table: string): boolean {
  try {
    return listOwn(table).length > 0;
  } catch {
    return false;
  }
}

export function addOwn(text: string, hooks: readonly TomlHook[]): string {
  const clean = removeOwn(text);
  for (const entry of listEntries(clean)) {
    const isKnown = knownEvents.has(entry.event) && Object.keys(entry).every((key) => knownFields.has(key));
    if (isKnown) continue;
    const problem =
      "one of its hooks has an event or a field that Kimi Code does not know, so it runs no hooks at all. Correct that first";
    throw new SettingsError(text, 0, problem);
  }
  const tables = hooks.map(({ event, matcher, command, timeout }) => {
    const fields = Object.entries({ event, matcher, command, timeout }).filter(
      ([, value]) => value !== undefined,
    );
    return `[[hooks]]\n${fields.map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`).join("")}`;
  });
  const after = check(text, `${clean}\n${mark}\n${tables.join("")}`, hooks.length);
  const isCurrent = Bun.deepEquals(listEntries(after), listEntries(text));
  return isCurrent ? text : after;
}

/** A file that install created has only the line break before the mark. */
export const isEmpty = (text: string): boolean => text.trim() === "";
