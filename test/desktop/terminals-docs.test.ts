/** The tables in docs/terminals.md are generated from core/terminals.ts. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import {
  type Reach,
  type TerminalDescription,
  terminals,
  type WindowSystemDescription,
  windowSystems,
} from "../../src/core/terminals.ts";
import { repo } from "../repo.ts";

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
  const terminalRows: readonly TerminalDescription[] = terminals;
  const windowRows: readonly WindowSystemDescription[] = windowSystems;
  return [
    "| terminal or multiplexer | tested | how far |",
    "|---|---|---|",
    ...terminalRows.map((row) => `| ${row.name} | ${formatTested(row.isTested)} | ${formatReach(row)} |`),
    "",
    "| window system | tested | |",
    "|---|---|---|",
    ...windowRows.map(
      ({ name, isTested, remark = "" }) => `| ${name} | ${formatTested(isTested)} | ${remark} |`,
    ),
  ].join("\n");
}

const path = join(repo, "docs/terminals.md");
const tables = /^\| terminal or multiplexer [\s\S]*^\| window system .*(?:\n\|.*)*/m;
const updateCommand = "UPDATE_DOCS=1 npx bun test test/desktop/terminals-docs.test.ts";

test(`docs/terminals.md lists every terminal and how far beckon gets in it (to update it: ${updateCommand})`, async () => {
  const page = await Bun.file(path).text();
  if (process.env.UPDATE_DOCS)
    await Bun.write(
      path,
      page.replace(tables, () => formatTables()),
    );
  expect(tables.exec(await Bun.file(path).text())?.[0]).toBe(formatTables());
});

test("the README counts the tested and the untested terminals", async () => {
  const tested = terminals.filter(({ isTested }) => isTested).length;
  const readme = await Bun.file(join(repo, "README.md")).text();
  expect(readme).toContain(
    `${tested} terminals are tested, and ${terminals.length - tested} more follow their documentation, untested`,
  );
});
