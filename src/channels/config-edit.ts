/** Writes a channel into config.json or removes it, and changes nothing else in it. */
import { version } from "../../package.json";
import { createConfigTemplate } from "../core/config/config-template.ts";
import { removeMember, setMember } from "../user-files/config-edit.ts";
import { rewriteSettings } from "../user-files/index.ts";
import { isBlank, type Json } from "../user-files/json-text.ts";

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
export const dropChannel = (text: string, name: string): string | null =>
  removeMember(text, ["channels", name]);

/** The text of config.json with this channel. A channel of that name is replaced in place. */
export const setChannel = (text: string, name: string, fields: ChannelFields): string =>
  setMember(isBlank(text) ? createConfigTemplate(version) : text, ["channels", name], fields);
