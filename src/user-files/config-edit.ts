/** Sets and removes single members in the text of config.json, such as `alerts.sound` or `channels.phone`, and changes nothing else in it. */
import { isRecord } from "../core/json.ts";
import {
  appendMembers,
  applyEdits,
  detectLayout,
  type Edit,
  findProperty,
  formatProperty,
  formatValue,
  isBlank,
  type Json,
  type JsonLayout,
  lineIndent,
  listProperties,
  parseSettings,
  removeMembers,
  replaceContent,
} from "./json-text.ts";

/** A name at the top level, or a group and a name in it. */
export type MemberPath = readonly [name: string] | readonly [group: string, name: string];

const splitPath = (path: MemberPath): { readonly group: string | null; readonly name: string } =>
  path.length === 1 ? { group: null, name: path[0] } : { group: path[0], name: path[1] };

export interface SetMemberOptions {
  /** The whole value on one line. Without it, each part of an object has its own. */
  readonly isCompact?: boolean;
}

/**
 * The text with this member. One that exists is replaced in place, a new one follows the comment `//name`, or stands at the end.
 * Throws SettingsError if the text is not a JSON object, and an error for the user if the group is not one.
 */
export function setMember(
  text: string,
  path: MemberPath,
  value: Json,
  { isCompact = false }: SetMemberOptions = {},
): string {
  const { bom, body, root } = parseSettings(isBlank(text) ? "{}\n" : text);
  const { group, name } = splitPath(path);
  const container = group === null ? root : findProperty(root, group)?.value;
  if (container && container.type !== "object")
    throw new Error(`"${group}" in config.json is not an object, so beckon does not change it`);
  const fit = (layout: JsonLayout): JsonLayout => (isCompact ? { ...layout, eol: null, pad: " " } : layout);
  const layout = detectLayout(body, root);
  const known = container && findProperty(container, name)?.value;
  const createEdit = (): Edit => {
    if (known) {
      const replacement = formatValue(value, fit(layout), lineIndent(body, known.offset));
      return { start: known.offset, end: known.offset + known.length, text: replacement };
    }
    const [place, key, added] =
      container || group === null ? [container ?? root, name, value] : [root, group, { [name]: value }];
    const comment = findProperty(place, `//${key}`)?.node;
    const format = (own: JsonLayout, indent: string) =>
      formatProperty(key, added, place === root && group !== null ? own : fit(own), indent);
    return appendMembers(body, place, layout, [format], comment);
  };
  const edited = bom + applyEdits(body, [createEdit()]);
  assertOnlyChanged(body, edited.slice(bom.length), path);
  return edited;
}

/** The text without this member; null if it has none of that name. */
export function removeMember(text: string, path: MemberPath): string | null {
  if (isBlank(text)) return null;
  const { bom, body, root } = parseSettings(text);
  const { group, name } = splitPath(path);
  const container = group === null ? root : findProperty(root, group)?.value;
  // A key can be there twice.
  const nodes = container
    ? listProperties(container).flatMap(({ key, node }) => (key === name ? [node] : []))
    : [];
  if (!container || nodes.length === 0) return null;
  const isLast = container.children?.length === nodes.length;
  const edits = isLast ? [replaceContent(container, "")] : removeMembers(container, new Set(nodes));
  const edited = bom + applyEdits(body, edits);
  assertOnlyChanged(body, edited.slice(bom.length), path);
  return edited;
}

/** A mistake in the edit must not reach the user's file. */
function assertOnlyChanged(before: string, after: string, path: MemberPath): void {
  const { group, name } = splitPath(path);
  const withoutMember = (text: string): string => {
    const { [group ?? name]: changed, ...rest } = JSON.parse(text) as Record<string, unknown>;
    const { [name]: _, ...others } = group !== null && isRecord(changed) ? changed : {};
    return JSON.stringify([rest, others]);
  };
  if (withoutMember(before) !== withoutMember(after))
    throw new Error("the edit of config.json would have changed other settings, so nothing was changed");
}
