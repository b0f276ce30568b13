/** The named entries of a setting in config.json, such as channels and machines: written and removed, and nothing else changed. */
import { version } from "../../package.json";
import { createConfigTemplate } from "../core/config/config-template.ts";
import { removeMember, setMember } from "./config-edit.ts";
import { rewriteSettings } from "./index.ts";
import { isBlank, type Json } from "./json-text.ts";

/** The setting that the entry belongs to. */
export type EntrySetting = "channels" | "machines";
export type EntryFields = Readonly<Record<string, Json>>;

/** Throws an error for the user, and then has changed nothing. The file may be a link, as in a repository of dotfiles. */
export async function writeEntry(
  path: string,
  home: string,
  setting: EntrySetting,
  name: string,
  fields: EntryFields,
): Promise<void> {
  await rewriteSettings(path, ({ text }) => ({ text: setEntry(text ?? "", setting, name, fields) }), {
    home,
  });
}

/** False if there is no such entry. Throws an error for the user, and then has changed nothing. */
export async function deleteEntry(
  path: string,
  home: string,
  setting: EntrySetting,
  name: string,
): Promise<boolean> {
  const decide = ({ text }: { readonly text: string | null }) => {
    const without = dropEntry(text ?? "", setting, name);
    return without === null ? null : { text: without };
  };
  return (await rewriteSettings(path, decide, { home })) !== null;
}

/** The text of config.json without this entry; null if it has none of that name. */
export const dropEntry = (text: string, setting: EntrySetting, name: string): string | null =>
  removeMember(text, [setting, name]);

/** The text of config.json with this entry. One of that name is replaced in place. */
export const setEntry = (text: string, setting: EntrySetting, name: string, fields: EntryFields): string =>
  setMember(isBlank(text) ? createConfigTemplate(version) : text, [setting, name], fields);
