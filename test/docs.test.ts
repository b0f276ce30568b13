/** The documentation matches the code. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { createHooks } from "../src/agents/claude/setup/registration.ts";
import { settings } from "../src/core/config/config.ts";
import { addHooks } from "../src/settings-file/hooks.ts";
import { repo } from "./repo.ts";

const read = (path: string): string => readFileSync(join(repo, path), "utf8");
const pages = ["*.md", "docs/**/*.md"].flatMap((pattern) => [...new Bun.Glob(pattern).scanSync(repo)]).sort();

test("docs/configuration.md has every setting with its default and meaning", () => {
  const page = read("docs/configuration.md");
  const rows = settings.map(
    ({ key, default: value, description }) => `| \`${key}\` | \`${JSON.stringify(value)}\` | ${description}`,
  );
  expect(rows.filter((row) => !page.includes(row))).toEqual([]);
});
test("docs/install.md has the hooks that --install writes", () => {
  const shown = /```json\n([\s\S]*?)\n```/.exec(read("docs/install.md"))?.[1] ?? "";
  const binary = "/home/YOU/.local/bin/beckon";
  const hooks = createHooks({ version: "999.0.0", binary, home: null, platform: "linux" }, true);
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
