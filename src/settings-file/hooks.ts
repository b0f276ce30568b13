/** An agent's settings as text: hooks put in and taken out, everything else left as it is, byte for byte. */
import type { Node } from "jsonc-parser";
import { append, apply, cut, type Edit, emptied, type Member, refill } from "./edit.ts";
import { isOurCommand } from "./hook-command.ts";
import { type Json, type JsonLayout, layoutOf, lineIndent, write, writeProperty } from "./layout.ts";
import { eventsOf, type OwnHook, type OwnHookEntry, ownEntries } from "./own-entries.ts";
import { checkShape } from "./shape.ts";
import { endOf, isBlank, itemsOf, parseSettings, propertiesOf, property } from "./text.ts";

export type { OwnHook } from "./own-entries.ts";
export { SettingsError } from "./text.ts";

/** One hook as it should stand in the settings. */
export interface WantedHook {
  readonly event: string;
  /** Absent: every tool, source and type. */
  readonly matcher?: string;
  readonly command: string;
  readonly timeout: number;
  readonly async: boolean;
}

export interface Changed {
  /** The same string where nothing changes. */
  readonly text: string;
  readonly added: readonly string[];
  /** Events from which an entry of ours went. One that was replaced is in both lists. */
  readonly removed: readonly string[];
}

/**
 * Null, or a file with nothing but space in it: there are no settings yet. (What removeHooks makes of the result is `{}`
 * then: that there was no file, or an empty one, cannot be told from the text. The installer's backup knows.)
 */
export function addHooks(text: string | null, wanted: readonly WantedHook[]): Changed {
  const stranger = wanted.find(({ command }) => !isOurCommand(command));
  if (stranger) throw new Error(`beckon would not know this hook as its own: ${stranger.command}`);
  const before = text === null || isBlank(text) ? "{}\n" : text;
  const { bom, body, root } = parseSettings(before);
  checkShape(body, root, new Set(wanted.map(({ event }) => event)));

  const plan = planFor(ownEntries(root), wanted);
  const replaced = [...plan.replaced].map(([entry, hook]) => replace(body, root, entry.node, hook));
  const migrated = apply(body, [...replaced, ...removal(body, root, plan.gone)]);
  const after = bom + insert(migrated, plan.missing);
  proveOwn(after, wanted);
  const gone = [...plan.replaced.keys(), ...plan.gone];
  return {
    text: after === before && text !== null ? text : after,
    added: unique([...plan.replaced.values(), ...plan.missing]),
    removed: unique(gone.map(({ hook }) => hook)),
  };
}

export function removeHooks(text: string): Changed {
  if (isBlank(text)) return { text, added: [], removed: [] };
  const { bom, body, root } = parseSettings(text);
  const own = ownEntries(root);
  if (own.length === 0) return { text, added: [], removed: [] };
  const after = bom + apply(body, removal(body, root, new Set(own)));
  proveOwn(after, []);
  return { text: after, added: [], removed: unique(own.map(({ hook }) => hook)) };
}

/** What of ours is there. */
export const ownHooks = (text: string): readonly OwnHook[] =>
  isBlank(text) ? [] : ownEntries(parseSettings(text).root).map(({ hook }) => hook);

/** Nothing is set in it: a file that the installer made can go. */
export const isEmptySettings = (text: string): boolean =>
  isBlank(text) || propertiesOf(parseSettings(text).root).length === 0;

interface Plan {
  readonly replaced: ReadonlyMap<OwnHookEntry, WantedHook>;
  readonly gone: ReadonlySet<OwnHookEntry>;
  readonly missing: readonly WantedHook[];
}

/** What is right stays where it is; what is outdated is made right where it is; the rest comes and goes. */
function planFor(own: readonly OwnHookEntry[], wanted: readonly WantedHook[]): Plan {
  const free = new Set(own);
  const replaced = new Map<OwnHookEntry, WantedHook>();
  const take = (fits: (entry: OwnHookEntry) => boolean): OwnHookEntry | undefined => {
    const found = [...free].find(fits);
    if (found) free.delete(found);
    return found;
  };
  const unmet = wanted.filter((hook) => !take((entry) => isSame(entry, hook)));
  const missing = unmet.filter((hook) => {
    const outdated = take((entry) => isForSame(entry.hook, hook));
    if (outdated) replaced.set(outdated, hook);
    return !outdated;
  });
  return { replaced, gone: free, missing };
}

const isForSame = (hook: OwnHook, wanted: WantedHook): boolean =>
  hook.event === wanted.event && hook.matcher === (wanted.matcher ?? null);

const isSame = ({ hook, isPlain }: OwnHookEntry, wanted: WantedHook): boolean =>
  isPlain &&
  isForSame(hook, wanted) &&
  hook.command === wanted.command &&
  hook.timeout === wanted.timeout &&
  hook.async === wanted.async;

const unique = (hooks: readonly { readonly event: string }[]): string[] => [
  ...new Set(hooks.map(({ event }) => event)),
];

const entryFor = ({ command, timeout, async }: WantedHook): Json => ({
  type: "command",
  command,
  timeout,
  ...(async ? { async } : {}),
});

const groupFor = (hook: WantedHook): Json => ({
  ...(hook.matcher === undefined ? {} : { matcher: hook.matcher }),
  hooks: [entryFor(hook)],
});

function replace(body: string, root: Node, node: Node, hook: WantedHook): Edit {
  const [start, end] = [node.offset, endOf(node)];
  const old = body.slice(start, end);
  const file = layoutOf(body, root);
  const layout: JsonLayout = old.includes("\n")
    ? file
    : { ...file, eol: null, pad: old.startsWith("{ ") ? " " : "" };
  return { start, end, text: write(entryFor(hook), layout, lineIndent(body, end - 1)) };
}

function insert(body: string, hooks: readonly WantedHook[]): string {
  if (hooks.length === 0) return body;
  const { root } = parseSettings(body);
  const file = layoutOf(body, root);
  const known = new Map(eventsOf(root).map(({ key, value }) => [key, value]));
  const byEvent = Map.groupBy(hooks, ({ event }) => event);
  const edits: Edit[] = [];
  const events: [string, Json][] = [];
  for (const [event, wanted] of byEvent) {
    const groups = known.get(event);
    const member =
      (hook: WantedHook): Member =>
      (layout, indent) =>
        write(groupFor(hook), layout, indent);
    if (groups) edits.push(append(body, groups, file, wanted.map(member)));
    else events.push([event, wanted.map(groupFor)]);
  }
  if (events.length > 0) {
    const holder = property(root, "hooks")?.value;
    const members = (holder ? events : [["hooks", Object.fromEntries(events)] as const]).map(
      ([key, value]): Member =>
        (layout, indent) =>
          writeProperty(key, value, layout, indent),
    );
    edits.push(append(body, holder ?? root, file, members));
  }
  return apply(body, edits);
}

/** With the groups, events and `hooks` that would be left empty, unless they were there before us. */
function removal(body: string, root: Node, entries: ReadonlySet<OwnHookEntry>): Edit[] {
  const gone = new Set([...entries].map(({ node }) => node));
  const edits: Edit[] = [];
  /** Takes the members that are gone out of what holds them; true: so is that, as a whole. */
  const isGone = (holder: Node | undefined, mayGo: boolean): boolean => {
    const members = (holder?.children ?? []).filter((member) => gone.has(member));
    if (!holder || members.length === 0) return false;
    if (members.length < (holder.children ?? []).length) {
      edits.push(...cut(holder, gone));
      return false;
    }
    const before = emptied(body, holder) ?? (mayGo ? null : "");
    if (before !== null) edits.push(refill(holder, before));
    return before === null;
  };
  for (const { node, value } of eventsOf(root)) {
    for (const group of itemsOf(value)) {
      if (isGone(property(group, "hooks")?.value, isBare(group))) gone.add(group);
    }
    if (isGone(value, isAlone(node))) gone.add(node);
  }
  const hooks = property(root, "hooks");
  if (hooks && isGone(hooks.value, isAlone(hooks.node))) gone.add(hooks.node);
  isGone(root, false);
  return edits;
}

const isBare = (group: Node): boolean =>
  propertiesOf(group).every(({ key }) => key === "hooks" || key === "matcher");

/** Else, without it, an earlier property of the same name would count. */
function isAlone({ parent, children }: Node): boolean {
  const namesakes = parent ? propertiesOf(parent).filter(({ key }) => key === children?.[0]?.value) : [];
  return namesakes.length === 1;
}

/** Before anything is written: an entry that is not as the agent wants it can void all that it stands among. */
function proveOwn(text: string, wanted: readonly WantedHook[]): void {
  const own = ownEntries(parseSettings(text).root);
  const isRight =
    own.length === wanted.length &&
    wanted.every((hook) => own.filter((entry) => isSame(entry, hook)).length === 1);
  if (!isRight) throw new Error("the hooks would not read back as they were meant: nothing was changed");
}
