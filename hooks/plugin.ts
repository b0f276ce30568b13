/**
 * bun hooks/plugin.ts     writes the Claude Code plugin from claude.json
 *
 * A plugin's hooks are the same for every version of the CLI. Measured on 2.0.76, 2.1.100 and 2.1.200: a version ignores a
 * whole file if it does not know one of its events (2.1.325 ignores only that event), but reads the plugin's other files. So
 * each file has the events that came with one version. Events that a status file replaces are left out: on newer versions
 * they would cost time or print lines into the terminal.
 */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { version } from "../package.json";
import { eventsKnownTo, type HookRow, hookTable } from "../src/agents/claude/hooks.ts";

/** The CLI reads this file by default, and refuses a manifest that names it. */
const firstFile = "hooks/hooks.json";
/** A variable of the shell, not the CLI's ${…}: the CLI inserts the path as it is, without quoting it. */
const script = '"$CLAUDE_PLUGIN_ROOT/hooks/beckon.sh"';
const command = `[ -f ${script} ] && sh ${script}; exit 0`;
const description = "Reports to beckon, the menu-bar app, what each session is doing and when it needs you";

/** The text of each file, by its path in the plugin's folder. */
export function createPluginFiles(): Map<string, string> {
  const events = new Map<string, HookRow[]>([[firstFile, []]]);
  const oldest = eventsKnownTo(hookTable.assumedVersion);
  for (const row of hookTable.register) {
    if (row.replacedByStatusFile) continue;
    const file = oldest.has(row.event) ? firstFile : `hooks/since-${row.since}.json`;
    events.set(file, [...(events.get(file) ?? []), row]);
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
    [".claude-plugin/plugin.json", formatJson(manifest)],
    ...[...events].map(([file, rows]) => [file, formatJson({ hooks: createHooks(rows) })] as const),
  ]);
}

function createHooks(rows: readonly HookRow[]): object {
  const groups = rows.map(({ event, matcher, timeout, async }) => {
    const hook = { type: "command", command, timeout, ...(async && { async }) };
    return [event, [{ ...(matcher !== undefined && { matcher }), hooks: [hook] }]] as const;
  });
  return Object.fromEntries(groups);
}

const formatJson = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;

if (import.meta.main) {
  const folder = join(import.meta.dir, "claude-plugin");
  for (const name of ["hooks", ".claude-plugin"]) {
    for (const file of new Bun.Glob("*.json").scanSync(join(folder, name))) rmSync(join(folder, name, file));
  }
  for (const [path, content] of createPluginFiles()) writeFileSync(join(folder, path), content);
}
