import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { navigation } from "../navigation.ts";
import { hasAll } from "../needs.ts";
import { binary } from "../repo.ts";
import { waitUntil } from "../wait-until.ts";
import { launchBrowser, openPage } from "./browser.ts";

/** Where it is afternoon now: shortly after midnight there, the demo's page would say that nobody has waited today. */
function afternoonZone(): string {
  const hoursAhead = 15 - new Date().getUTCHours();
  return `Etc/GMT${hoursAhead >= 0 ? "-" : "+"}${Math.min(12, Math.abs(hoursAhead))}`;
}

let folder = "";
let child: Bun.Subprocess<"ignore", "pipe", "pipe">;
let printed = "";
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "beckon-demo-test-"));
  printed = "";
  child = Bun.spawn([binary, "demo", "--print"], {
    cwd: folder,
    env: {
      PATH: process.env.PATH ?? "",
      HOME: folder,
      TMPDIR: folder,
      BECKON_PORT: String(20_000 + Math.floor(Math.random() * 40_000)),
      BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0",
      TZ: afternoonZone(),
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  (async () => {
    for await (const chunk of child.stdout) printed += new TextDecoder().decode(chunk);
  })();
  await waitUntil(() => printed.includes("?code="), 20_000);
});
afterEach(async () => {
  if (child.exitCode === null) child.kill("SIGKILL");
  await child.exited;
  rmSync(folder, { recursive: true, force: true });
});

const readUrl = () => /http:\S+/.exec(printed)?.[0] ?? "";

test("Ctrl-C ends the demo, and nothing of it is left", async () => {
  expect((await fetch(readUrl(), { headers: navigation })).status).toBe(200);
  expect(readdirSync(folder).some((name) => name.startsWith("beckon-demo-"))).toBe(true);
  child.kill("SIGINT");
  expect(await child.exited).toBe(0);
  expect(readdirSync(folder)).toEqual([]);
  expect(await child.stderr.text()).toBe("");
});

test.skipIf(!hasAll(["chromium"]))(
  "the demo's page lives: it asks, takes answers, and finds the past",
  async () => {
    const browser: Browser = await launchBrowser();
    try {
      const { page, faults } = await openPage(browser, readUrl());
      const card = page.locator(".ask", { hasText: "checkout-api" });
      const allow = card.locator('[data-do="allow"]');
      await allow.waitFor();
      await card.getByText("deletes without asking").waitFor();
      await page.locator(".ask", { hasText: "Which database" }).waitFor();
      await allow.click();
      await allow.click();
      await card.getByText("Allowed. It goes on.").waitFor();
      await page.locator(".lane .s-waiting").first().waitFor();
      await page
        .getByText(/Agents waited \d+ min for you today/)
        .first()
        .waitFor();
      await page.getByRole("link", { name: "History" }).first().click();
      await page.getByLabel("Search history by text").fill("migrate");
      await waitUntil(
        async () => (await page.locator(".story").innerText()).includes("Allowed by you, on this page"),
        10_000,
      );
      expect(faults).toEqual([]);
      if (process.env.PICTURE) await page.screenshot({ path: process.env.PICTURE, fullPage: true });
    } finally {
      await browser.close();
    }
  },
  30_000,
);
