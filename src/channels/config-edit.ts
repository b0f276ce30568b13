/** Writes a channel into config.json or removes it, and changes nothing else in it. */
import { isRecord } from "../core/json.ts";
import { rewriteSettings } from "../user-files/index.ts";
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
  lineIndent,
  listProperties,
  parseSettings,
  removeMembers,
  replaceContent,
} from "../user-files/json-text.ts";

type ChannelFields = Readonly<Record<string, Json>>;

/** Throws an error for the user, and then has changed nothing. The file may be a link, as in a repository of dotfiles. */
export async function writeChannel(
  path: string,
  home: string,
  name: string,
  fields: ChannelFields,
): Promise<void> {
  await rewriteSettings(path, ({ text }) => ({ text: setChannel(text ?? "", name, fields) }), { home });
}

/** False if there is no such channel. Throws an error for the user, and then has changed nothing. */
export async function deleteChannel(path: string, home: string, name: string): Promise<boolean> {
  const decide = ({ text }: { readonly text: string | null }) => {
    const without = dropChannel(text ?? "", name);
    return without === null ? null : { text: without };
  };
  return (await rewriteSettings(path, decide, { home })) !== null;
}

/** The text of config.json without this channel; null if it has none of that name. */
export function dropChannel(text: string, name: string): string | null {
  if (isBlank(text)) return null;
  const { bom, body, root } = parseSettings(text);
  const channels = findProperty(root, "channels")?.value;
  // A key can be there twice.
  const nodes = channels
    ? listProperties(channels).flatMap(({ key, node }) => (key === name ? [node] : []))
    : [];
  if (!channels || nodes.length === 0) return null;
  const isLast = channels.children?.length === nodes.length;
  const edits = isLast ? [replaceContent(channels, "")] : removeMembers(channels, new Set(nodes));
  const edited = bom + applyEdits(body, edits);
  assertOnlyChanged(body, edited.slice(bom.length), name);
  return edited;
}

/** The text of config.json with this channel. A channel of that name is replaced in place. */
export function setChannel(text: string, name: string, fields: ChannelFields): string {
  if (isBlank(text)) return `${JSON.stringify({ channels: { [name]: fields } }, null, 2)}\n`;
  const { bom, body, root } = parseSettings(text);
  const layout = detectLayout(body, root);
  const channels = findProperty(root, "channels")?.value;
  if (channels && channels.type !== "object")
    throw new Error('"channels" in config.json is not an object, so beckon does not change it');
  const known = channels && findProperty(channels, name)?.value;
  const createEdit = (): Edit => {
    if (known) {
      const value = formatValue(fields, layout, lineIndent(body, known.offset));
      return { start: known.offset, end: known.offset + known.length, text: value };
    }
    const container = channels ?? root;
    const [key, value] = channels ? [name, fields] : ["channels", { [name]: fields }];
    return appendMembers(body, container, layout, [(own, indent) => formatProperty(key, value, own, indent)]);
  };
  const edited = bom + applyEdits(body, [createEdit()]);
  assertOnlyChanged(body, edited.slice(bom.length), name);
  return edited;
}

/** A mistake in the edit must not reach the user's file. */
function assertOnlyChanged(before: string, after: string, name: string): void {
  const withoutChannel = (text: string): string => {
    const { channels, ...rest } = JSON.parse(text) as Record<string, unknown>;
    const { [name]: _, ...others } = isRecord(channels) ? channels : {};
    return JSON.stringify([rest, others]);
  };
  if (withoutChannel(before) !== withoutChannel(after))
    throw new Error("the edit of config.json would have changed other settings, so nothing was changed");
}
