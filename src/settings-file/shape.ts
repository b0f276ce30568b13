/** What an agent would refuse in the very place where we write: said by name and line, and left for the person to mend. */
import type { Node } from "jsonc-parser";
import { eventsOf } from "./own-entries.ts";
import { property, SettingsError } from "./text.ts";

export function checkShape(body: string, root: Node, events: ReadonlySet<string>): void {
  const hooks = property(root, "hooks")?.value;
  if (!hooks) return;
  const want = (node: Node | undefined, type: "object" | "array", path: string, holder: Node): void => {
    if (node?.type === type) return;
    const form = type === "object" ? "an object { }" : "a list [ ]";
    const what = node
      ? `${path} is ${nameOf(node)}, but must be ${form}`
      : `${path} is missing: it must be ${form}`;
    throw new SettingsError(body, (node ?? holder).offset, what);
  };
  want(hooks, "object", "hooks", root);
  for (const { key, value } of eventsOf(root).filter((event) => events.has(event.key))) {
    want(value, "array", `hooks.${key}`, hooks);
    for (const [i, group] of (value.children ?? []).entries()) {
      const path = `hooks.${key}[${i}]`;
      want(group, "object", path, value);
      const matcher = property(group, "matcher")?.value;
      if (matcher && matcher.type !== "string") {
        const what = `${path}.matcher is ${nameOf(matcher)}, but must be a text`;
        throw new SettingsError(body, matcher.offset, what);
      }
      const entries = property(group, "hooks")?.value;
      want(entries, "array", `${path}.hooks`, group);
      for (const [j, entry] of (entries?.children ?? []).entries()) {
        want(entry, "object", `${path}.hooks[${j}]`, group);
      }
    }
  }
}

const names: Readonly<Partial<Record<Node["type"], string>>> = {
  object: "an object { }",
  array: "a list [ ]",
  string: "a text",
  number: "a number",
  boolean: "true or false",
};

const nameOf = ({ type }: Node): string => names[type] ?? type;
