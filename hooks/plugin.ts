/**
 * bun hooks/plugin.ts     writes the Claude Code plugin anew, from claude.json
 *
 * A plugin's hooks are the same for every version of the CLI. Measured on 2.0.76, 2.1.100 and 2.1.200: of a file that
 * names an event they do not know they take nothing (2.1.325 takes the rest), but the plugin's other files count. So each
 * file has the events that came with one version.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { version } from "../package.json";
import { type HookEntry, hooksFor, hookTable } from "../src/agents/claude/hooks.ts";

/** The CLI reads this one by itself, and refuses a manifest that names it. */
const firstFile = "hooks/hooks.json";
/** As a variable of the shell, not as the CLI's ${…}: that one it puts in as text, whatever the path holds. */
const script = '"$CLAUDE_PLUGIN_ROOT/hooks/beckon.sh"';
const command = `[ -f ${script} ] && sh ${script}; exit 0`;
const description = "Tells beckon, the menu-bar app, what each session is doing and when it needs you";

/** Path in the plugin's folder → text. */
export function pluginFiles(): Map<string, string> {
  const events = new Map<string, HookEntry[]>([[firstFile, []]]);
  const oldest = new Set(hooksFor(hookTable.assumedVersion).map(({ event }) => event));
  for (const { since, ...entry } of hookTable.register) {
    const file = oldest.has(entry.event) ? firstFile : `hooks/since-${since}.json`;
    events.set(file, [...(events.get(file) ?? []), entry]);
  }
  const manifest = {
    name: "beckon",
    version,
    description,
    author: { name: "beckon" },
    license: "MIT",
    hooks: [...events.keys()].filter((file) => file !== firstFile).map((file) => `./${file}`),
  };
  return new Map([
    [".claude-plugin/plugin.json", text(manifest)],
    ...[...events].map(([file, entries]) => [file, text({ hooks: hooksOf(entries) })] as const),
  ]);
}

function hooksOf(entries: readonly HookEntry[]): object {
  const groups = entries.map(({ event, matcher, timeout, async }) => {
    const hook = { type: "command", command, timeout, ...(async && { async }) };
    return [event, [{ ...(matcher !== undefined && { matcher }), hooks: [hook] }]] as const;
  });
  return Object.fromEntries(groups);
}

const text = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;

if (import.meta.main) {
  for (const [path, content] of pluginFiles())
    writeFileSync(join(import.meta.dir, "claude-plugin", path), content);
}
