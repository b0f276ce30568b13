/** The README says what is there. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { hooksFor } from "../src/agents/claude/hooks.ts";
import { settings } from "../src/core/config/config.ts";
import { table } from "../src/desktop/terminals/index.ts";
import { hookCommand } from "../src/settings-file/hook-command.ts";
import { addHooks } from "../src/settings-file/hooks.ts";

const readme = await Bun.file(join(import.meta.dir, "../README.md")).text();

test.each(settings.map(({ key, default: value }) => [key, JSON.stringify(value)]))(
  "the setting %s is in it, with its default",
  (key, value) => {
    expect(readme).toContain(`| \`${key}\` | \`${value}\` |`);
  },
);

test("every terminal beckon knows is in it, and whether the tests run it", () => {
  const rows = [...table.terminals, ...table.windows];
  const missing = rows.filter(({ name, proven }) => !readme.includes(`| ${name} | ${proven} |`));
  expect(missing.map(({ name, proven }) => `| ${name} | ${proven} |`)).toEqual([]);
});

test("the hooks to copy are the ones that --install writes", () => {
  const shown = /```json\n([\s\S]*?)\n```/.exec(readme)?.[1] ?? "";
  const command = hookCommand({ binary: "/home/YOU/.local/bin/beckon", agent: "claude", home: null });
  const wanted = hooksFor("999.0.0").map((entry) => ({ ...entry, command }));
  expect(JSON.parse(shown)).toEqual(JSON.parse(addHooks(null, wanted).text));
});
