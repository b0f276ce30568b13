/** The documentation matches the code. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { hooksFor } from "../src/agents/claude/hooks.ts";
import { createHooks } from "../src/agents/setup/hooks-setup.ts";
import { type Callable, namesOf } from "../src/cli/command.ts";
import { commandGroups } from "../src/cli/commands/index.ts";
import { describeSetting, settings } from "../src/core/config/config.ts";
import { type SectionId, sections } from "../src/core/config/setting-view.ts";
import { repositoryUrl } from "../src/update/address.ts";
import { addHooks } from "../src/user-files/hooks.ts";
import { repo } from "./repo.ts";

const read = (path: string): string => readFileSync(join(repo, path), "utf8");
const pages = ["*.md", "docs/**/*.md"].flatMap((pattern) => [...new Bun.Glob(pattern).scanSync(repo)]).sort();

/** One table for each section of the settings panel. */
function createSettingTables(): string {
  const bySection = Map.groupBy(settings, ({ section }) => section);
  const tables = Object.entries(sections).map(([id, { title, about }]) => {
    const rows = (bySection.get(id as SectionId) ?? []).map((setting) => {
      const { key, default: value, control, expected } = setting;
      const form = control.kind === "switch" || control.kind === "number" ? "" : ` (${expected})`;
      return `| \`${key}\` | \`${JSON.stringify(value)}\` | ${describeSetting(setting)}${form} |`;
    });
    return [`### ${title}`, "", about, "", "| key | default | |", "|---|---|---|", ...rows, ""].join("\n");
  });
  return tables.join("\n");
}

test("docs/configuration.md has every setting with its default and meaning (UPDATE_DOCS=1 writes it)", () => {
  const path = "docs/configuration.md";
  const [before = "", rest = ""] = read(path).split(/(?<=^## Settings\n\n)/m);
  const after = rest.slice(rest.indexOf("## Environment variables"));
  const expected = `${before}${createSettingTables()}\n${after}`;
  if (process.env.UPDATE_DOCS) writeFileSync(join(repo, path), expected);
  expect(read(path)).toBe(expected);
});

test("docs/install.md has the hooks that --install writes", () => {
  const shown = /```json\n([\s\S]*?)\n```/.exec(read("docs/install.md"))?.[1] ?? "";
  const binary = "/home/YOU/.local/bin/beckon";
  const options = { version: "999.0.0", binary, home: null, platform: "linux" } as const;
  const hooks = createHooks("claude", hooksFor(options.version), options, true);
  expect(JSON.parse(shown)).toEqual(JSON.parse(addHooks(null, hooks).text));
});

/** As GitHub makes them of headings. */
function anchorsIn(page: string): string[] {
  const headings = [...page.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => heading.toLowerCase());
  return headings.map((heading) => heading.replace(/[^\p{L}\p{N} -]/gu, "").replaceAll(" ", "-"));
}

test.each(pages)("every link in %s leads somewhere", (page) => {
  const links = [...read(page).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)];
  const broken = links.flatMap(([link, path = "", anchor]) => {
    const target = path === "" ? page : relative(repo, join(repo, dirname(page), path));
    if (!existsSync(join(repo, target))) return [link];
    return anchor === undefined || anchorsIn(read(target)).includes(anchor) ? [] : [link];
  });
  expect(broken).toEqual([]);
});

const commands = commandGroups.flat().filter(({ page }) => page);

test("README.md has every command", () => {
  const readme = read("README.md");
  const rows = [...readme.matchAll(/^\| (`beckon.*?) \| /gm)].flatMap(
    ([, cell = ""]) => cell.match(/`[^`]+`/g) ?? [],
  );
  const named = rows.map((code) => code.replace(/^`(?:beckon )?|`$/g, "").split(" ")[0]);
  // Users never type these.
  const expected = commands.map(({ name }) => name).filter((name) => !["run", "hook", "link"].includes(name));
  const isShown = (name: string) => named.includes(name) || named.includes(name.replace(/^--/, ""));
  expect(
    expected.filter((name) => !isShown(name) && !new RegExp(`^ {4}\\S*beckon ${name}$`, "m").test(readme)),
  ).toEqual([]);
});

/** The calls of beckon in code: `beckon status --json`. */
function callsIn(page: string): string[] {
  const code = [...page.matchAll(/`(beckon [^`]+)`|^ {4}(?:\$ )?(beckon .+)$/gm)];
  return code.map(([, span, line]) => (span ?? line ?? "").replace(/ (?:[|>&]|#|-- ).*/s, ""));
}

// The changelog names commands that do not exist.
test.each(pages.filter((page) => page !== "CHANGELOG.md"))(
  "the calls of beckon in %s name commands and options that exist",
  (page) => {
    const wrong = callsIn(read(page)).filter((call) => {
      const [, name = "", word = ""] = call.split(/[ ,\]]+/);
      const command = commands.find((known) => known.name === name || known.aliases?.includes(name));
      if (!command) return true;
      const subcommands: Readonly<Record<string, Callable>> = command.subcommands ?? {};
      const { options = {} } = subcommands[word] ?? command;
      const known = Object.entries(options).flatMap(([option, about]) => namesOf(option, about));
      const used = call.match(/(?<![\w-])--?[a-z][a-z-]*/g) ?? [];
      return used.some((option) => option !== name && !known.includes(option));
    });
    expect(wrong).toEqual([]);
  },
);

test("the address in the docs is that of package.json", () => {
  for (const page of pages)
    for (const [found] of read(page).matchAll(/https:\/\/github\.com\/[\w-]+\/beckon\b/g))
      expect(found, page).toBe(repositoryUrl);
});

test("README.md begins with the demo and one line to install it, and says what a first try needs", () => {
  const readme = read("README.md");
  const at = (text: string) => {
    expect(readme).toContain(text);
    return readme.indexOf(text);
  };
  expect(at("npx beckon demo")).toBeLessThan(at("install.sh | sh"));
  expect(at("install.sh | sh")).toBeLessThan(at("git clone "));
  expect(at("never run on a Mac")).toBeLessThan(at("auto mode there are few such requests"));
  expect(at("auto mode there are few such requests")).toBeLessThan(at("beckon doctor"));
  // Versions of Claude Code differ in what they print without a mode: nothing, or `manual mode on`.
  expect(readme).not.toContain("says nothing of a mode");
  expect(readme).toMatch(
    /Shift\+Tab until the line below the prompt names none of auto, plan and accept\s+edits/,
  );
  expect(at("piece of work")).toBeLessThan(at('"port"'));
  expect(readme).toMatch(/^GNOME on Wayland .*VS Code/m);
});
