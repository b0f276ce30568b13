/** The tables in docs/terminals.md, and the variables in the forwarder without a binary, are generated from core/terminals/. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import {
  listSentVariables,
  listSessionVariables,
  terminals,
  windowSystems,
} from "../../../src/core/terminals/index.ts";
import type { Reach, TerminalDescription } from "../../../src/core/terminals/terminal.ts";
import { repo } from "../../repo.ts";

const reachTexts: Readonly<Record<Reach, string>> = {
  pane: "the pane",
  tab: "the tab",
  single: "the window, which shows one session",
  window: "the window, not the tab",
};

const formatTested = (isTested: boolean): string => (isTested ? "run here" : "by documentation");

function formatReach({ kind, reach, reachOnMac, needs, remark }: TerminalDescription): string {
  if (kind === "login") return remark ?? "";
  const text =
    reachOnMac === undefined
      ? reachTexts[reach]
      : `${reachTexts[reachOnMac]} on macOS; elsewhere ${reachTexts[reach]}`;
  const withNeeds = needs === undefined ? text : `${text} (needs ${needs})`;
  return remark === undefined ? withNeeds : `${withNeeds}. ${remark}`;
}

function formatTables(): string {
  return [
    "| terminal or multiplexer | tested | how far |",
    "|---|---|---|",
    ...terminals.map((row) => `| ${row.name} | ${formatTested(row.isTested)} | ${formatReach(row)} |`),
    "",
    "| window system | tested | |",
    "|---|---|---|",
    ...windowSystems.map(
      ({ name, isTested, remark = "" }) => `| ${name} | ${formatTested(isTested)} | ${remark} |`,
    ),
  ].join("\n");
}

const maxLine = 120;

/** The text of a shell script that sets a variable to these names. */
function formatList(variable: string, names: readonly string[]): string {
  const lines = [`${variable}='`];
  for (const name of names) {
    const longer = `${lines.at(-1)} ${name}`;
    if (lines.length > 1 && longer.length <= maxLine) lines[lines.length - 1] = longer;
    else lines.push(`  ${name}`);
  }
  return [...lines, "'"].join("\n");
}

const updateCommand = "UPDATE_DOCS=1 npx bun test test/core/terminals/docs.test.ts";

test.each([
  [
    "docs/terminals.md",
    /^\| terminal or multiplexer [\s\S]*^\| window system .*(?:\n\|.*)*/m,
    formatTables(),
  ],
  ["hooks/beckon-hook.sh", /^sent_variables='[^']*'/m, formatList("sent_variables", listSentVariables())],
  [
    "hooks/beckon-hook.sh",
    /^session_variables='[^']*'/m,
    formatList("session_variables", listSessionVariables()),
  ],
])(`%s says what the table says (to update it: ${updateCommand})`, async (file, part, text) => {
  const path = join(repo, file);
  const whole = await Bun.file(path).text();
  if (process.env.UPDATE_DOCS)
    await Bun.write(
      path,
      whole.replace(part, () => text),
    );
  expect(part.exec(await Bun.file(path).text())?.[0]).toBe(text);
});

test("the README counts the tested and the untested terminals", async () => {
  const tested = terminals.filter(({ isTested }) => isTested).length;
  const readme = await Bun.file(join(repo, "README.md")).text();
  expect(readme).toContain(
    `${tested} terminals are tested, and ${terminals.length - tested} more follow their documentation, untested`,
  );
});
