/** beckon's hooks in the text of an agent's settings: added, removed and listed. Everything else stays byte for byte. */
import type { Node } from "jsonc-parser";
import { readNumber } from "../core/json.ts";
import { formatAsShell, type HookCommand, isOwnCommand } from "./hook-command.ts";
import {
  appendMembers,
  applyEdits,
  detectLayout,
  type Edit,
  endOf,
  type FormatMember,
  findProperty,
  formatProperty,
  formatValue,
  isBlank,
  type Json,
  type JsonLayout,
  type JsonProperty,
  lineIndent,
  listItems,
  listProperties,
  parseSettings,
  readSpaceBeforeFill,
  removeMembers,
  replaceContent,
  SettingsError,
} from "./json-text.ts";

export { SettingsError };

/** A hook without its command. */
export interface HookForm {
  readonly event: string;
  /** Absent: every tool, source and type. */
  readonly matcher?: string;
  /** What the agent calls the hook. Absent for agents that have no names for hooks. */
  readonly name?: string;
  /** In the agent's unit. */
  readonly timeout: number;
  readonly async: boolean;
}

/** A hook that should be in the settings. */
export interface WantedHook extends HookForm, HookCommand {}

/** A hook of beckon's that is in the settings. */
export interface OwnHook {
  readonly event: string;
  /** Null: every tool, source and type. */
  readonly matcher: string | null;
  /** Absent if it has none. */
  readonly name?: string;
  /** As text for a shell, also if it runs without one. */
  readonly command: string;
  /** In the agent's unit. Null: the agent's default. */
  readonly timeout: number | null;
  readonly async: boolean;
}

export interface HooksChange {
  /** The same string if nothing changes. */
  readonly text: string;
  /** Events that got an entry. */
  readonly added: readonly string[];
  /** Events that lost an entry. A replaced entry is in both lists. */
  readonly removed: readonly string[];
}

/**
 * beckon's hooks that are not `isManaged` stay as they are.
 *
 * Text that is null or blank means that there are no settings yet. removeHooks then turns the result into `{}`, because the
 * text does not say whether there was a file; the installer's backup does.
 */
export function addHooks(
  text: string | null,
  wanted: readonly WantedHook[],
  isManaged: (hook: OwnHook) => boolean = () => true,
): HooksChange {
  const foreign = wanted.find((hook) => !isOwnCommand(hook));
  if (foreign) throw new Error(`beckon would not recognise this hook as its own: ${formatAsShell(foreign)}`);
  const before = text === null || isBlank(text) ? "{}\n" : text;
  const { bom, body, root } = parseSettings(before);
  checkShape(body, root, new Set(wanted.map(({ event }) => event)));

  const plan = planChanges(
    findOwnEntries(root).filter(({ hook }) => isManaged(hook)),
    wanted,
  );
  const replacements = [...plan.replaced].map(([entry, hook]) => replaceEntry(body, root, entry.node, hook));
  const updated = applyEdits(body, [...replacements, ...removeEntries(body, root, plan.removed)]);
  const after = bom + insertHooks(updated, plan.missing);
  verifyHooks(after, wanted, isManaged);
  const removed = [...plan.replaced.keys(), ...plan.removed];
  return {
    text: after === before && text !== null ? text : after,
    added: uniqueEvents([...plan.replaced.values(), ...plan.missing]),
    removed: uniqueEvents(removed.map(({ hook }) => hook)),
  };
}

export function removeHooks(text: string): HooksChange {
  if (isBlank(text)) return { text, added: [], removed: [] };
  const { bom, body, root } = parseSettings(text);
  const entries = findOwnEntries(root);
  if (entries.length === 0) return { text, added: [], removed: [] };
  const after = bom + applyEdits(body, removeEntries(body, root, new Set(entries)));
  verifyHooks(after, []);
  return { text: after, added: [], removed: uniqueEvents(entries.map(({ hook }) => hook)) };
}

export const listOwnHooks = (text: string): readonly OwnHook[] =>
  isBlank(text) ? [] : findOwnEntries(parseSettings(text).root).map(({ hook }) => hook);

/** Whether the settings set nothing, so that a file that the installer made can be removed. */
export const isEmptySettings = (text: string): boolean =>
  isBlank(text) || listProperties(parseSettings(text).root).length === 0;

interface OwnHookEntry {
  readonly hook: OwnHook;
  /** As it stands in the file. */
  readonly written: HookCommand;
  readonly node: Node;
  /** It has no other fields than an OwnHook. */
  readonly isPlain: boolean;
}

/** The events that count, each with its list of groups. */
function listEvents(root: Node): JsonProperty[] {
  const hooks = findProperty(root, "hooks")?.value;
  if (!hooks) return [];
  const byName = new Map(listProperties(hooks).map((event) => [event.key, event]));
  return [...byName.values()];
}

/** In any group of any event, whatever else is wrong with the file. */
const findOwnEntries = (root: Node): OwnHookEntry[] =>
  listEvents(root).flatMap((event) =>
    listItems(event.value).flatMap((group) =>
      listItems(findProperty(group, "hooks")?.value).flatMap((node) => {
        const entry = readEntry(node);
        return entry
          ? [{ ...entry, hook: { event: event.key, matcher: readMatcher(group), ...entry.hook } }]
          : [];
      }),
    ),
  );

/** "" and "*" mean the same as no matcher. */
function readMatcher(group: Node): string | null {
  const matcher: unknown = findProperty(group, "matcher")?.value.value;
  return typeof matcher !== "string" || matcher === "*" || matcher === "" ? null : matcher;
}

const plainKeys = ["name", "type", "command", "args", "timeout", "async"];

/** Null if the entry is not beckon's. */
function readEntry(node: Node) {
  const value = (key: string): unknown => findProperty(node, key)?.value.value;
  const [type, command, timeout] = [value("type"), value("command"), value("timeout")];
  const name = value("name");
  if (typeof command !== "string" || (type !== "command" && type !== undefined)) return null;
  const args = findProperty(node, "args")?.value;
  const words = listItems(args).map((item): unknown => item.value);
  if (!words.every((word) => typeof word === "string")) return null;
  const written: HookCommand = args ? { command, args: words } : { command };
  if (!isOwnCommand(written)) return null;
  const keys = listProperties(node).map(({ key }) => key);
  return {
    node,
    written,
    isPlain:
      type === "command" &&
      keys.every((key) => plainKeys.includes(key)) &&
      new Set(keys).size === keys.length,
    hook: {
      ...(typeof name === "string" ? { name } : {}),
      command: formatAsShell(written),
      timeout: readNumber(timeout),
      async: value("async") === true,
    },
  };
}

interface ChangePlan {
  readonly replaced: ReadonlyMap<OwnHookEntry, WantedHook>;
  readonly removed: ReadonlySet<OwnHookEntry>;
  readonly missing: readonly WantedHook[];
}

/** Correct entries stay, outdated ones are replaced in place, and the rest is removed or added. */
function planChanges(entries: readonly OwnHookEntry[], wanted: readonly WantedHook[]): ChangePlan {
  const unused = new Set(entries);
  const replaced = new Map<OwnHookEntry, WantedHook>();
  const take = (fits: (entry: OwnHookEntry) => boolean): OwnHookEntry | undefined => {
    const entry = [...unused].find(fits);
    if (entry) unused.delete(entry);
    return entry;
  };
  const incorrect = wanted.filter((hook) => !take((entry) => isCorrect(entry, hook)));
  const missing = incorrect.filter((hook) => {
    const outdated = take((entry) => isForSameEvent(entry.hook, hook));
    if (outdated) replaced.set(outdated, hook);
    return !outdated;
  });
  return { replaced, removed: unused, missing };
}

const isForSameEvent = (hook: OwnHook, wanted: WantedHook): boolean =>
  hook.event === wanted.event && hook.matcher === (wanted.matcher ?? null);

const isCorrect = ({ hook, written, isPlain }: OwnHookEntry, wanted: WantedHook): boolean =>
  isPlain &&
  isForSameEvent(hook, wanted) &&
  written.command === wanted.command &&
  JSON.stringify(written.args) === JSON.stringify(wanted.args) &&
  hook.name === wanted.name &&
  hook.timeout === wanted.timeout &&
  hook.async === wanted.async;

const uniqueEvents = (hooks: readonly { readonly event: string }[]): string[] => [
  ...new Set(hooks.map(({ event }) => event)),
];

const createEntry = ({ name, command, args, timeout, async }: WantedHook): Json => ({
  ...(name === undefined ? {} : { name }),
  type: "command",
  command,
  ...(args ? { args } : {}),
  timeout,
  ...(async ? { async } : {}),
});

const createGroup = (hook: WantedHook): Json => ({
  ...(hook.matcher === undefined ? {} : { matcher: hook.matcher }),
  hooks: [createEntry(hook)],
});

function replaceEntry(body: string, root: Node, node: Node, hook: WantedHook): Edit {
  const [start, end] = [node.offset, endOf(node)];
  const old = body.slice(start, end);
  const fileLayout = detectLayout(body, root);
  const layout: JsonLayout = old.includes("\n")
    ? fileLayout
    : { ...fileLayout, eol: null, pad: old.startsWith("{ ") ? " " : "" };
  return { start, end, text: formatValue(createEntry(hook), layout, lineIndent(body, end - 1)) };
}

function insertHooks(body: string, hooks: readonly WantedHook[]): string {
  if (hooks.length === 0) return body;
  const { root } = parseSettings(body);
  const fileLayout = detectLayout(body, root);
  const known = new Map(listEvents(root).map(({ key, value }) => [key, value]));
  const edits: Edit[] = [];
  const newEvents: [string, Json][] = [];
  for (const [event, wanted] of Map.groupBy(hooks, (hook) => hook.event)) {
    const groups = known.get(event);
    const formatGroup =
      (hook: WantedHook): FormatMember =>
      (layout, indent) =>
        formatValue(createGroup(hook), layout, indent);
    if (groups) edits.push(appendMembers(body, groups, fileLayout, wanted.map(formatGroup)));
    else newEvents.push([event, wanted.map(createGroup)]);
  }
  if (newEvents.length > 0) {
    const container = findProperty(root, "hooks")?.value;
    const properties = container ? newEvents : [["hooks", Object.fromEntries(newEvents)] as const];
    const members = properties.map(
      ([key, value]): FormatMember =>
        (layout, indent) =>
          formatProperty(key, value, layout, indent),
    );
    edits.push(appendMembers(body, container ?? root, fileLayout, members));
  }
  return applyEdits(body, edits);
}

/** Also removes groups, events and `hooks` that would be left empty, unless they were there before beckon. */
function removeEntries(body: string, root: Node, entries: ReadonlySet<OwnHookEntry>): Edit[] {
  const removed = new Set([...entries].map(({ node }) => node));
  const edits: Edit[] = [];
  /** Removes members from their container. Returns true if the container itself must be removed instead. */
  const isLeftEmpty = (container: Node | undefined, mayRemove: boolean): boolean => {
    const members = (container?.children ?? []).filter((member) => removed.has(member));
    if (!container || members.length === 0) return false;
    if (members.length < (container.children ?? []).length) {
      edits.push(...removeMembers(container, removed));
      return false;
    }
    const content = readSpaceBeforeFill(body, container) ?? (mayRemove ? null : "");
    if (content !== null) edits.push(replaceContent(container, content));
    return content === null;
  };
  for (const { node, value } of listEvents(root)) {
    for (const group of listItems(value)) {
      if (isLeftEmpty(findProperty(group, "hooks")?.value, isPlainGroup(group))) removed.add(group);
    }
    if (isLeftEmpty(value, isUniqueKey(node))) removed.add(node);
  }
  const hooks = findProperty(root, "hooks");
  if (hooks && isLeftEmpty(hooks.value, isUniqueKey(hooks.node))) removed.add(hooks.node);
  isLeftEmpty(root, false);
  return edits;
}

const isPlainGroup = (group: Node): boolean =>
  listProperties(group).every(({ key }) => key === "hooks" || key === "matcher");

/** If a key is there twice and the last one is removed, the earlier one would count. */
function isUniqueKey({ parent, children }: Node): boolean {
  const sameKey = parent ? listProperties(parent).filter(({ key }) => key === children?.[0]?.value) : [];
  return sameKey.length === 1;
}

/** Before anything is written: one entry that the agent cannot read can make it ignore the whole file. */
function verifyHooks(
  text: string,
  wanted: readonly WantedHook[],
  isManaged: (hook: OwnHook) => boolean = () => true,
): void {
  const entries = findOwnEntries(parseSettings(text).root).filter(({ hook }) => isManaged(hook));
  const isRight =
    entries.length === wanted.length &&
    wanted.every((hook) => entries.filter((entry) => isCorrect(entry, hook)).length === 1);
  if (!isRight) throw new Error("the hooks would not read back correctly: nothing was changed");
}

/** Throws SettingsError, with line and column, for values that the agent would refuse where beckon wants to write. */
function checkShape(body: string, root: Node, events: ReadonlySet<string>): void {
  const hooks = findProperty(root, "hooks")?.value;
  if (!hooks) return;
  const expectType = (
    node: Node | undefined,
    type: "object" | "array",
    path: string,
    container: Node,
  ): void => {
    if (node?.type === type) return;
    const expected = type === "object" ? "an object { }" : "a list [ ]";
    const what = node
      ? `${path} is ${nameType(node)}, but must be ${expected}`
      : `${path} is missing: it must be ${expected}`;
    throw new SettingsError(body, (node ?? container).offset, what);
  };
  expectType(hooks, "object", "hooks", root);
  for (const { key, value } of listEvents(root).filter((event) => events.has(event.key))) {
    expectType(value, "array", `hooks.${key}`, hooks);
    for (const [i, group] of (value.children ?? []).entries()) {
      const path = `hooks.${key}[${i}]`;
      expectType(group, "object", path, value);
      const matcher = findProperty(group, "matcher")?.value;
      if (matcher && matcher.type !== "string") {
        const what = `${path}.matcher is ${nameType(matcher)}, but must be a text`;
        throw new SettingsError(body, matcher.offset, what);
      }
      const entries = findProperty(group, "hooks")?.value;
      expectType(entries, "array", `${path}.hooks`, group);
      for (const [j, entry] of (entries?.children ?? []).entries()) {
        expectType(entry, "object", `${path}.hooks[${j}]`, group);
      }
    }
  }
}

const typeNames: Readonly<Partial<Record<Node["type"], string>>> = {
  object: "an object { }",
  array: "a list [ ]",
  string: "a text",
  number: "a number",
  boolean: "true or false",
};

const nameType = ({ type }: Node): string => typeNames[type] ?? type;
