import { describe, expect, test } from "bun:test";
import { version } from "../../package.json";
import { agents } from "../../src/agents/index.ts";
import { namesOf, shownOptions } from "../../src/cli/command.ts";
import { commandGroups } from "../../src/cli/commands/index.ts";
import { formatManual } from "../../src/release/manual.ts";
import { cutNotes } from "../../src/release/notes.ts";
import { formatNotices, listPackages } from "../../src/release/notices.ts";
import { formatSbom } from "../../src/release/sbom.ts";
import { testWith } from "../needs.ts";
import { readDoc } from "./release-fixture.ts";

const date = new Date("2026-11-18T05:30:42Z");
const manual = formatManual({ commands: commandGroups, agents, version, date });

describe("the manual page", () => {
  test("names every command and every option that users see", () => {
    const text = manual.replaceAll("\\-", "-");
    for (const command of commandGroups.flat().filter(({ page }) => page)) {
      expect(text).toContain(command.name.replace(/^-+/, ""));
      for (const [name, option] of shownOptions(command))
        for (const word of namesOf(name, option)) expect(text).toContain(word);
    }
  });

  testWith("man")("is shown without a complaint", async () => {
    const child = Bun.spawn(["man", "--warnings", "--local-file", "-"], {
      stdin: Buffer.from(manual),
      stdout: "pipe",
      stderr: "pipe",
      env: { ...process.env, MANWIDTH: "100", LC_ALL: "C.UTF-8" },
    });
    const [shown, complaints] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    expect(complaints).toBe("");
    expect(shown).toContain("know which coding agent needs you");
    expect(shown).toContain("beckon status");
  });
});

describe("the notices", () => {
  const packages = listPackages();
  const notices = formatNotices(packages);

  test("name Bun's version, its source, what it links, and every package with its licence", () => {
    expect(notices).toContain(`Bun ${Bun.version}`);
    expect(notices).toContain(`https://github.com/oven-sh/bun/tree/bun-v${Bun.version}`);
    for (const word of ["JavaScriptCore", "tinycc", "SnoreToast", "systray2"])
      expect(notices).toContain(word);
    expect(packages.map(({ name }) => name)).toContain("elysia");
    for (const one of packages) expect(notices).toContain(`${one.name} ${one.version} (${one.licence})`);
    expect(notices.match(/GNU (?:LESSER|LIBRARY) GENERAL PUBLIC LICENSE/g)?.length).toBeGreaterThanOrEqual(3);
  });

  test("do not name what only the tests need", () => {
    expect(packages.map(({ name }) => name)).not.toContain("playwright-core");
  });
});

test("the bill of materials has every package once, with an address and a licence", () => {
  const packages = listPackages();
  const bom = JSON.parse(formatSbom({ version, bunVersion: Bun.version, packages, date }));
  expect(bom).toMatchObject({ bomFormat: "CycloneDX", specVersion: "1.6" });
  const refs = bom.components.map((one: { "bom-ref": string }) => one["bom-ref"]);
  expect(refs.length).toBe(packages.length + 1);
  expect(new Set(refs).size).toBe(refs.length);
  expect(bom.dependencies[0].dependsOn).toEqual(refs);
  for (const { purl, licenses } of bom.components) {
    expect(purl).toMatch(/^pkg:(npm|github)\/[^@]+@[\w.-]+$/);
    expect(licenses[0].license.id).toMatch(/^[\w.-]+$/);
  }
});

describe("the notes of a release", () => {
  const changelog =
    "# Changelog\n\n## 0.2.0 (2026-12-01)\n\nNew.\n\n- one\n\n## 0.1.0\n\nThe first version.\n";

  test("are its section of the changelog", () => {
    expect(cutNotes(changelog, "0.2.0")).toBe("New.\n\n- one\n");
    expect(cutNotes(changelog, "0.1.0")).toBe("The first version.\n");
    expect(() => cutNotes(changelog, "0.2")).toThrow('no section "## 0.2"');
  });

  test("exist for this version", async () => {
    expect(cutNotes(await readDoc("CHANGELOG.md"), version)).not.toBe("\n");
  });
});
