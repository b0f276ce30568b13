/**
 * The settings file of somebody who has none yet: every setting is there to be found, and none of them is set, so that a
 * default which changes later changes for them too. They are notes, not comments: editors mark comments in a .json as errors.
 */
import { type Setting, settings } from "./config.ts";

export function createConfigTemplate(version: string): string {
  const groups = Map.groupBy(settings, ({ key }) => /^(.+)\./.exec(key)?.[1] ?? "");
  const parts = [...groups].flatMap(([group, own]) => {
    if (group === "") return own.map((one) => pair(one, "  "));
    return [`  "${group}": {\n${own.map((one) => pair(one, "    ")).join(",\n\n")}\n  }`];
  });
  return `{\n${[heading(version), ...parts].join(",\n\n")}\n}\n`;
}

function heading(version: string): string {
  return [
    `  "// 1": "beckon's settings. It reads this file again whenever you save it.",`,
    `  "// 2": "Names that begin with // do nothing. To set one, take the // away, and change its value.",`,
    `  "// 3": "The values here are what holds anyway in beckon ${version}, or examples."`,
  ].join("\n");
}

function pair({ key, says, type, default: value, example }: Setting, indent: string): string {
  const name = key.slice(key.indexOf(".") + 1);
  const takes = typeof value === "number" ? ` It is ${type}.` : "";
  const about = example === undefined ? `${says}${takes}` : `${says} For example:`;
  return [
    `${indent}"// about ${name}": ${JSON.stringify(about)}`,
    `${indent}"//${name}": ${JSON.stringify(example ?? value)}`,
  ].join(",\n");
}
