import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { bundlePage } from "../../src/dashboard/bundle.ts";

test("the page stays small, and needs nothing that only a server has", async () => {
  const { script, sharedScript, moreScript, style, html } = await bundlePage();
  // A single import of node:crypto adds half a megabyte of replacements.
  expect(script.length + sharedScript.length).toBeLessThan(140_000);
  expect(moreScript.length).toBeLessThan(38_000);
  expect(style.length).toBeLessThan(66_000);
  for (const file of [script, sharedScript, moreScript])
    expect(file.replace(/^import\{[^}]*\}from"\.\/shared\.js";/, "")).not.toMatch(
      /\bimport\s*["'{*]|\brequire\(/,
    );
  expect(html).not.toMatch(
    /<style|style=|<script(?! type="module" src="\/(?:shared|page)\.js" integrity="sha256-)|\son\w+=/,
  );
});

test("each part of the page has its styles beside it, and all of them are in the page", async () => {
  const folder = join(import.meta.dir, "../../src/dashboard/page");
  const imported = [
    ...(await Bun.file(join(folder, "page.css")).text()).matchAll(/^@import "\.\/(.*)\.css";$/gm),
  ];
  const names = imported.map(([, name = ""]) => name);
  const sheets = [...new Bun.Glob("*.css").scanSync(folder)].map((file) => file.slice(0, -".css".length));
  // A part that most people never open brings its own.
  const scripts = [...new Bun.Glob("*.tsx").scanSync(folder)].map((file) =>
    Bun.file(join(folder, file)).text(),
  );
  const brought = (await Promise.all(scripts)).flatMap((text) => [
    ...text.matchAll(/^import \w+ from "\.\/(.*)\.css" with \{ type: "text" \};$/gm),
  ]);
  const own = brought.map(([, name = ""]) => name);
  expect(own.filter((name) => names.includes(name))).toEqual([]);
  expect(["page", ...names, ...own].sort()).toEqual(sheets.sort());
  const ofThePage = ["base", "phone"];
  const parts = names.filter((name) => !ofThePage.includes(name));
  expect(parts.filter((name) => !existsSync(join(folder, `${name}.tsx`)))).toEqual([]);
  expect((await bundlePage()).style).not.toContain("@import");
});
