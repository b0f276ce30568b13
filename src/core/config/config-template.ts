/**
 * The config.json that a user without one gets. Every setting is in it, but none is set, so that a later change of a default
 * holds for them too. The texts are members that start with `//`: editors mark comments in a .json file as errors.
 */
import { describeSetting, type Setting, settings } from "./config.ts";

export function createConfigTemplate(version: string): string {
  const parts = [...Map.groupBy(settings, ({ group }) => group)].flatMap(([group, own]) => {
    if (group === null) return own.map((setting) => formatSetting(setting, "  "));
    const inner = own.map((setting) => formatSetting(setting, "    "));
    return [`  "${group}": {\n${inner.join(",\n\n")}\n  }`];
  });
  return `{\n${[formatHeading(version), ...parts].join(",\n\n")}\n}\n`;
}

function formatHeading(version: string): string {
  return [
    `  "// 1": "beckon's settings. It reads this file again whenever you save it.",`,
    `  "// 2": "Names that begin with // do nothing. To set one, take the // away, and change its value.",`,
    `  "// 3": "The values here are the defaults of beckon ${version}, or examples."`,
  ].join("\n");
}

function formatSetting(setting: Setting, indent: string): string {
  const { name, default: value, example } = setting;
  const about = `${describeSetting(setting)}${example === undefined ? "" : " For example:"}`;
  return [
    `${indent}"// about ${name}": ${JSON.stringify(about)}`,
    `${indent}"//${name}": ${JSON.stringify(example ?? value)}`,
  ].join(",\n");
}
