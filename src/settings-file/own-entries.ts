/** Where in an agent's settings beckon's own entries are. */
import type { Node } from "jsonc-parser";
import { readHookArguments, readHookCommand } from "./hook-command.ts";
import { itemsOf, type Property, propertiesOf, property } from "./text.ts";

export interface OwnHook {
  readonly event: string;
  /** Null: every tool, source and type. */
  readonly matcher: string | null;
  readonly command: string;
  /** In seconds; null: the agent's own. */
  readonly timeout: number | null;
  readonly async: boolean;
}

export interface OwnHookEntry {
  readonly hook: OwnHook;
  readonly node: Node;
  /** It says nothing beyond what an OwnHook has. */
  readonly isPlain: boolean;
}

/** The events that count, each with the list of its groups, if it is one. */
export function eventsOf(root: Node): Property[] {
  const hooks = property(root, "hooks")?.value;
  if (!hooks) return [];
  const byName = new Map(propertiesOf(hooks).map((event) => [event.key, event]));
  return [...byName.values()];
}

/** In any group of any event, whatever else is wrong with the file. */
export const ownEntries = (root: Node): OwnHookEntry[] =>
  eventsOf(root).flatMap((event) =>
    itemsOf(event.value).flatMap((group) =>
      itemsOf(property(group, "hooks")?.value).flatMap((node) => {
        const found = readEntry(node);
        return found
          ? [{ ...found, hook: { event: event.key, matcher: matcherOf(group), ...found.hook } }]
          : [];
      }),
    ),
  );

/** "" and "*" mean the same as none. */
function matcherOf(group: Node): string | null {
  const matcher: unknown = property(group, "matcher")?.value.value;
  return typeof matcher !== "string" || matcher === "*" || matcher === "" ? null : matcher;
}

function readEntry(node: Node) {
  const known = ["type", "command", "timeout", "async"];
  const value = (key: string): unknown => property(node, key)?.value.value;
  const [type, program, timeout] = [value("type"), value("command"), value("timeout")];
  if (typeof program !== "string" || (type !== "command" && type !== undefined)) return null;
  const command = commandOf(program, property(node, "args")?.value);
  if (command === null) return null;
  const keys = propertiesOf(node).map(({ key }) => key);
  return {
    node,
    isPlain:
      type === "command" && keys.every((key) => known.includes(key)) && new Set(keys).size === keys.length,
    hook: {
      command,
      timeout: typeof timeout === "number" ? timeout : null,
      async: value("async") === true,
    },
  };
}

/** The entry's command if it is ours; with `args` there is no shell, and each is one word. */
function commandOf(program: string, args: Node | undefined): string | null {
  if (!args) return readHookCommand(program) ? program : null;
  const words = itemsOf(args).map((item): unknown => item.value);
  const isText = (word: unknown): word is string => typeof word === "string";
  if (!words.every(isText) || !readHookArguments([program, ...words])) return null;
  return [program, ...words].join(" ");
}
