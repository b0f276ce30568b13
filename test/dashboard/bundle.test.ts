import { expect, test } from "bun:test";
import { bundlePage } from "../../src/dashboard/bundle.ts";

test("the page stays small, and needs nothing that only a server has", async () => {
  const { script, style, html } = await bundlePage();
  // A single import of node:crypto adds half a megabyte of replacements.
  expect(script.length).toBeLessThan(130_000);
  expect(style.length).toBeLessThan(60_000);
  expect(script).not.toMatch(/\bimport\s*["'{*]|\brequire\(/);
  expect(html).not.toMatch(/<style|style=|<script(?! type="module" src="\/page.js")|\son\w+=/);
});
