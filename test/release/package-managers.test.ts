import { describe, expect, test } from "bun:test";
import { parse } from "node:path";
import { repository, version } from "../../package.json";
import { fillManagerFiles } from "../../src/release/manager-files.ts";
import { describeFile } from "../../src/release/manifest.ts";
import { archivesOf, targets } from "../../src/release/targets.ts";
import { fillTemplate } from "../../src/release/template.ts";
import { repositoryUrl } from "../../src/update/address.ts";

const files = targets.flatMap(archivesOf).map((name) => describeFile(name, Buffer.from(name)));
const values = {
  version,
  description: "Know which coding agent needs you",
  publisher: "the beckon authors",
  homepage: repositoryUrl,
  releaseUrl: `${repositoryUrl}/releases/download/v${version}`,
  date: "2026-11-18",
};
const filled = new Map(fillManagerFiles(values, files));

describe("the files of package managers", () => {
  test("have no gap, and name this version", () => {
    for (const [name, text] of filled) {
      expect(text, name).not.toContain("{{");
      expect(text, name).toContain(version);
    }
  });

  test("name only files of the release, each with its own checksum", () => {
    const byHash = new Map(files.map(({ sha256, name }) => [sha256, name]));
    for (const [name, text] of filled) {
      const hashes = [...text.matchAll(/\b[0-9a-f]{64}\b/g)].map(([hash]) => byHash.get(hash));
      const urls = [...text.matchAll(/\/releases\/download\/v[^/]+\/([\w.$-]+?\.(?:tar\.[gx]z|zip))/g)]
        .map(([, file]) => file)
        .filter((file) => !file?.includes("$"));
      expect(hashes, name).not.toContain(undefined);
      const known = files.map((file) => file.name);
      for (const file of urls) expect(known, name).toContain(file ?? "");
      // Each address stands beside its checksum; scoop says the address once more for its updates.
      if (urls.length > 0)
        expect([...new Set(urls)].sort(), name).toEqual([...new Set(hashes)].sort() as string[]);
    }
  });

  test("are for every system that each manager knows", () => {
    const count = (name: string) => filled.get(name)?.match(/\b[0-9a-f]{64}\b/g)?.length;
    expect(count("homebrew/beckon.rb")).toBe(4);
    expect(count("nix/flake.nix")).toBe(4);
    expect(count("aur/PKGBUILD")).toBe(2);
    expect(count("aur/.SRCINFO")).toBe(2);
    expect(count("scoop/beckon.json")).toBe(1);
    expect(count("winget/beckon.beckon.installer.yaml")).toBe(1);
  });

  test("agree with each other", () => {
    const read = (name: string) => filled.get(name) ?? "";
    const scoop = JSON.parse(read("scoop/beckon.json"));
    expect(read("winget/beckon.beckon.installer.yaml")).toContain(scoop.architecture["64bit"].hash);
    const sums = (text: string) => [...text.matchAll(/\b[0-9a-f]{64}\b/g)].map(([hash]) => hash).sort();
    expect(sums(read("aur/PKGBUILD"))).toEqual(sums(read("aur/.SRCINFO")));
    for (const hash of sums(read("aur/PKGBUILD"))) expect(read("nix/flake.nix")).toContain(hash);
  });

  test("take the address from package.json alone", async () => {
    const name = repository.replace("github:", "");
    for (const path of new Bun.Glob("src/**/*").scanSync({
      cwd: `${parse(import.meta.dir).dir}/..`,
      dot: true,
    }))
      expect(await Bun.file(`${import.meta.dir}/../../${path}`).text(), path).not.toContain(name);
  });
});

test("a template with a name that nobody knows is an error", () => {
  expect(fillTemplate("{{a}} {{b c}}", { a: "1", "b c": "2" })).toBe("1 2");
  expect(() => fillTemplate("{{x}}", {})).toThrow("unknown {{x}}");
});
