import { afterAll, afterEach, beforeAll, expect } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { type AnswerFixture, createAnswerFixture, createRequest, parseDecision } from "../answers/fixture.ts";
import { createPromptEvent } from "../app-fixture.ts";
import { testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";
import { createRepository } from "../workguard/repository.ts";
import { createPageUrl, launchBrowser, listScripts, type OpenedPage, openPage } from "./browser.ts";

/** The page in a real browser, with a real beckon and real hooks that wait for an answer. */
const testPage = testWith("chromium");
let browser: Browser;
beforeAll(async () => {
  if (Bun.which("chromium")) browser = await launchBrowser();
});
afterAll(() => browser?.close());

let fixture: AnswerFixture;
let opened: OpenedPage;
afterEach(async () => {
  await opened?.page.context().close();
  await fixture?.destroy();
});

async function open(): Promise<Page> {
  fixture = createAnswerFixture();
  await fixture.start();
  opened = await openPage(browser, await createPageUrl(fixture));
  return opened.page;
}

const bash = (command: string) => ({ tool_name: "Bash", tool_input: { command } });
const cardOf = (page: Page, text: string) => page.locator(".ask", { hasText: text });

testPage("a session that starts appears without a reload, and after a reload too", async () => {
  const page = await open();
  await page.getByRole("heading", { name: /Waiting for your first session|Connect/ }).waitFor();
  await fixture.postHook(createPromptEvent("s1"));
  await page.locator(".row", { hasText: "proj" }).waitFor();
  expect(page.url()).not.toContain("code");
  await page.reload();
  await page.locator(".row", { hasText: "proj" }).waitFor();
  expect(opened.faults).toEqual([]);
});

testPage("what is used of a quota stands below the list, once for all sessions of an account", async () => {
  const page = await open();
  const resets_at = Math.ceil(Date.now() / 1_000) + 3_600;
  for (const [session_id, used_percentage] of Object.entries({ s1: 82.4, s2: 81 })) {
    await fixture.postHook(createPromptEvent(session_id));
    const payload = { session_id, rate_limits: { five_hour: { used_percentage, resets_at } } };
    await fixture.post({ provider: "claude", payload }, "/api/statusline");
  }
  await page
    .locator("#sessions .quota", { hasText: /^Claude Code: 82% of 5 h, resets [\d:\w ]+$/ })
    .waitFor();
  expect(opened.faults).toEqual([]);
});

testPage(
  "a mistake in the settings, or a channel that fails, is named while the page is open",
  async () => {
    const page = await open();
    await fixture.postHook(createPromptEvent("s1"));
    await page.locator(".row", { hasText: "proj" }).waitFor();
    const channels = { phone: { type: "ntfyy" } };
    writeFileSync(fixture.paths.config, JSON.stringify({ channels }));
    await page.locator(".notices li", { hasText: "channel phone" }).waitFor({ timeout: 15_000 });
    writeFileSync(fixture.paths.config, "{}");
    await page
      .locator(".notices li", { hasText: "channel phone" })
      .waitFor({ state: "detached", timeout: 15_000 });
    expect(opened.faults).toEqual([]);
  },
  60_000,
);

testPage("Allow answers the request that waits, and the card says so and goes", async () => {
  const page = await open();
  const hook = fixture.startHook(createRequest("s1"));
  const card = cardOf(page, "shop-api");
  await card.getByText("npm test", { exact: true }).waitFor();
  expect(await page.title()).toBe("1 needs you · beckon");
  await card.getByRole("button", { name: "Allow", exact: true }).click();
  expect(parseDecision(await hook.printed)).toEqual({ behavior: "allow" });
  await card.getByText("Allowed. It goes on.").waitFor();
  await page.getByText("Nothing needs you", { exact: true }).first().waitFor();
  expect(opened.faults).toEqual([]);
});

testPage("a dangerous command shows its danger first, and needs a second press", async () => {
  const page = await open();
  const hook = fixture.startHook(createRequest("s1", bash("rm -rf ../data && make")));
  const card = cardOf(page, "shop-api");
  const allow = card.locator('[data-do="allow"]');
  await allow.waitFor();
  const parts = await card
    .locator(".danger, .code")
    .evaluateAll((elements) => elements.map(({ className }) => className));
  expect(parts).toEqual(["danger", "code"]);
  expect(await allow.innerText()).toContain("Allow anyway");
  expect(await card.getByRole("button", { name: "Always" }).count()).toBe(0);
  await allow.dblclick();
  expect(await allow.innerText()).toContain("Press again to allow");
  expect(hook.isRunning()).toBe(true);
  await allow.click();
  expect(parseDecision(await hook.printed)).toEqual({ behavior: "allow" });
});

testPage("a click or a key while a card's buttons appear answers nothing", async () => {
  const page = await open();
  await page.getByText("Nothing needs you", { exact: true }).first().waitFor();
  // Presses Allow, and the keys that select the card and deny, the moment they are there: they were meant for something else.
  await page.evaluate(
    `new MutationObserver((_, observer) => {
       const button = document.querySelector('.ask [data-do="allow"]');
       if (button === null) return;
       observer.disconnect();
       globalThis.wasDisabled = button.disabled;
       button.click();
       for (const key of ["j", "d"]) document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
     }).observe(document.body, { childList: true, subtree: true })`,
  );
  const hook = fixture.startHook(createRequest("s1"));
  const allow = cardOf(page, "shop-api").locator('[data-do="allow"]');
  await allow.waitFor();
  expect(await page.evaluate("wasDisabled")).toBe(true);
  expect(await page.locator(".ask .say").count()).toBe(0);
  await allow.click();
  expect(parseDecision(await hook.printed)).toEqual({ behavior: "allow" });
});

testPage("what is not shown in full cannot be allowed", async () => {
  const page = await open();
  const long = Array.from({ length: 30 }, (_, index) => `echo ${index}`).join("\n");
  const hook = fixture.startHook(createRequest("s1", bash(long)));
  const card = cardOf(page, "shop-api");
  const allow = card.locator('[data-do="allow"]');
  await allow.waitFor();
  expect(await allow.isDisabled()).toBe(true);
  await card.getByRole("button", { name: /Show all: \d+ more lines/ }).click();
  expect(await card.locator(".code").innerText()).toBe(long);
  await allow.click();
  expect(parseDecision(await hook.printed)).toEqual({ behavior: "allow" });
  // More than beckon shows anywhere.
  fixture.startHook(createRequest("s2", bash(`${long}\n${long}`)));
  const tooLong = page.locator(".ask", { hasText: "Not all of it can be shown here" });
  await tooLong.getByRole("button", { name: /Show all/ }).click();
  expect(await tooLong.locator('[data-do="allow"]').isDisabled()).toBe(true);
});

testPage("Deny sends what was written to the agent", async () => {
  const page = await open();
  const hook = fixture.startHook(createRequest("s1"));
  const card = cardOf(page, "shop-api");
  await card.getByRole("button", { name: "Deny…" }).click();
  await page.keyboard.type("use pnpm");
  await page.keyboard.press("Enter");
  const decision = parseDecision(await hook.printed);
  expect(decision.behavior).toBe("deny");
  expect(decision.message).toContain("use pnpm");
});

testPage("an edit of a file that Codex is changing is shown with both changes, and can wait", async () => {
  const { folder: cwd, path, write } = createRepository(Date.now() - 60_000, { "a.ts": "one\ntwo\n" });
  const page = await open();
  writeFileSync(fixture.paths.config, JSON.stringify({ workGuard: { collisions: "ask" } }));
  await waitUntil(() => existsSync(fixture.paths.guardScope), 5_000);
  write("a.ts", "one\n2\n");
  const patch = "*** Begin Patch\n*** Update File: a.ts\n@@\n-two\n+2\n*** End Patch";
  const patched = {
    ...{ session_id: "x1", hook_event_name: "PostToolUse", cwd, tool_use_id: "t1" },
    ...{ tool_name: "apply_patch", tool_input: { command: patch }, tool_response: "Success" },
  };
  await fixture.post({ provider: "codex", _meta: { id: crypto.randomUUID() }, payload: patched });
  const edit = { file_path: path("a.ts"), old_string: "one", new_string: "1" };
  const request = { session_id: "s1", cwd, tool_name: "Edit", tool_input: edit };
  const payload = { ...request, hook_event_name: "PreToolUse" };
  const guarded = await fixture.post({ provider: "claude", _meta: {}, payload }, "/api/guard");
  expect(await guarded.text()).toContain("also changed by codex");
  const hook = fixture.startHook(createRequest("s1", request));
  const card = page.locator(".ask", { hasText: "not committed, changed by codex" });
  await card.waitFor();
  expect((await card.locator(".diff .delete").allInnerTexts()).join()).toMatch(/one.*two/s);
  await card.getByRole("button", { name: "Wait…" }).click();
  await page.keyboard.press("Enter");
  const decision = parseDecision(await hook.printed);
  expect(decision.behavior).toBe("deny");
  expect(decision.message).toContain("wait until that change is committed");
});

testPage("several questions are answered together", async () => {
  const page = await open();
  const question = (text: string, multiSelect: boolean) => ({
    question: text,
    header: "",
    multiSelect,
    options: ["Red", "Blue"].map((label) => ({ label, description: `as ${label}` })),
  });
  const questions = [question("Which colour?", false), question("Which sizes?", true)];
  const hook = fixture.startHook(
    createRequest("s1", { tool_name: "AskUserQuestion", tool_input: { questions } }),
  );
  const card = cardOf(page, "Which colour?");
  const send = card.getByRole("button", { name: "Send answers" });
  await send.waitFor();
  expect(await send.isDisabled()).toBe(true);
  await card.getByRole("group", { name: "Which colour?" }).getByRole("button", { name: "Blue" }).click();
  const sizes = card.getByRole("group", { name: "Which sizes?" });
  await sizes.getByRole("button", { name: "Red" }).click();
  await sizes.getByRole("button", { name: "Blue" }).click();
  await send.click();
  const { updatedInput } = parseDecision(await hook.printed);
  expect(updatedInput.answers).toEqual({ "Which colour?": "Blue", "Which sizes?": "Red, Blue" });
});

testPage("an ask that was answered elsewhere takes no second answer", async () => {
  const page = await open();
  const hook = fixture.startHook(createRequest("s1"));
  const allow = cardOf(page, "shop-api").locator('[data-do="allow"]');
  await allow.waitFor();
  const ask = await fixture.waitForAsk("s1");
  // The other answer comes while this one is on its way.
  await page.route("**/answer", async (route) => {
    await fixture.answer("s1", { ask: ask.answerId, do: "deny" });
    await route.continue();
  });
  const response = page.waitForResponse("**/answer");
  await allow.click();
  expect((await response).status()).toBe(409);
  expect(parseDecision(await hook.printed).behavior).toBe("deny");
  await cardOf(page, "shop-api")
    .getByText(/Answered elsewhere|Denied/)
    .first()
    .waitFor();
});

const script = `<script>attacked = true</script><img src=x onerror="attacked = true">`;

testPage("scripts and megabytes in every field of every event are shown as text", async () => {
  const page = await open();
  const megabyte = `${script}\u202e${"x".repeat(1_000_000)}`;
  const cwd = `/home/${script}`;
  const events = [
    createPromptEvent("s1", { cwd, prompt: megabyte }),
    { session_id: "s2", cwd, hook_event_name: "StopFailure", error: megabyte },
    { session_id: "s3", cwd, hook_event_name: "Stop", last_assistant_message: megabyte },
    { session_id: "s3", cwd, hook_event_name: "SubagentStart", agent_id: "a1", agent_type: megabyte },
    {
      session_id: "s3",
      cwd,
      hook_event_name: "PreToolUse",
      tool_name: script,
      tool_input: { x: megabyte },
    },
  ];
  for (const event of events) expect((await fixture.postHook(event)).status).toBe(200);
  const request = createRequest("s1", { cwd, tool_input: { command: script, description: megabyte } });
  fixture.startHook(request);
  const card = cardOf(page, "attacked");
  await card.locator('[data-do="allow"]').waitFor();
  expect(await card.locator(".code").innerText()).toBe(script);
  await page.evaluate('location.hash = "#history"');
  await page.locator(".beat").nth(2).waitFor();
  expect(await page.evaluate("[document.images.length, globalThis.attacked ?? null]")).toEqual([0, null]);
  expect(await listScripts(page)).toEqual(["/shared.js", "/page.js", "/more.js"]);
  expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  expect(opened.faults).toEqual([]);
});

testPage("Go to terminal says how far it got", async () => {
  const page = await open();
  await fixture.postHook(createPromptEvent("s1"));
  const row = page.locator(".row", { hasText: "proj" });
  await row.hover();
  await row.getByRole("button", { name: "Go to terminal" }).click();
  await page.locator(".toast").waitFor();
  expect(await page.locator(".toast").innerText()).toMatch(/terminal/);
});

testPage("Snooze puts a session aside", async () => {
  const page = await open();
  fixture.startHook(createRequest("s1"));
  await cardOf(page, "shop-api").getByRole("button", { name: "Snooze 15 min" }).click();
  await page.getByText("Set aside", { exact: true }).waitFor();
  await page.getByText("Nothing needs you", { exact: true }).first().waitFor();
});

testPage("the search finds what was asked, and how it was answered", async () => {
  const page = await open();
  const hook = fixture.startHook(createRequest("s1", bash("npm run lint")));
  await cardOf(page, "shop-api").locator('[data-do="allow"]').click();
  await hook.printed;
  await fixture.postHook(createPromptEvent("s2", { prompt: "paint the fence" }));
  await page.keyboard.press("/");
  await page.keyboard.type("lint");
  let results = "";
  // A list that is read again is empty for a moment.
  await waitUntil(async () => {
    results = (await page.locator(".thread").allInnerTexts()).join();
    return results.includes("Allowed by you, on this page");
  }, 5_000);
  expect(results).toContain("Asked to run npm run lint");
  expect(results).not.toContain("fence");
  await page.getByLabel("Search history by text").fill("nothing like this");
  await page.getByText("Nothing found for “nothing like this”.").waitFor();
});

testPage(
  "when beckon stops the page says so, locks its answers, and lives again after a restart",
  async () => {
    const page = await open();
    const app = await restartable();
    fixture.startHook(createRequest("s1"));
    const allow = cardOf(page, "shop-api").locator('[data-do="allow"]');
    await allow.waitFor();
    await app.stop();
    await page.getByText("beckon has stopped.").waitFor();
    expect(await allow.isDisabled()).toBe(true);
    expect(await page.title()).toBe("beckon (stopped)");
    await app.start();
    await page
      .getByRole("button", { name: "Try now" })
      .click({ timeout: 2_000 })
      .catch(() => {});
    await page.getByText(/^Live \d/).waitFor();
    await waitUntil(() => allow.isEnabled(), 8_000);
  },
);

/** Stops and starts the fixture's app at the same port. */
async function restartable() {
  const url = new URL(fixture.readUrl());
  return {
    stop: () => fixture.stopApps(),
    start: () => fixture.start({}, { port: Number(url.port) }),
  };
}

testPage("a page whose secrets are gone says how to open it again", async () => {
  const first = await open();
  // Only the tab that beckon opened has the key.
  const page = await first.context().newPage();
  await page.goto(first.url());
  await page.getByText("This page is not connected any more.").waitFor();
  await page.getByText("beckon open").waitFor();
});

testPage("everything works with keys alone: move, open, arm and allow, deny, choose, close", async () => {
  const page = await open();
  const first = fixture.startHook(createRequest("s1"));
  await cardOf(page, "npm test").locator('[data-do="allow"]').waitFor();
  const selected = () => page.locator('[aria-current="true"][data-id]').getAttribute("data-id");
  expect(await selected()).toContain("s1");
  // A card that has just appeared takes no key.
  await page.keyboard.press("a");
  expect(await page.locator(".armed").count()).toBe(0);
  await waitUntil(async () => {
    await page.keyboard.press("a");
    return (await page.locator(".armed").count()) === 1;
  }, 3_000);
  expect(first.isRunning()).toBe(true);
  await page.keyboard.press("a");
  expect(parseDecision(await first.printed)).toEqual({ behavior: "allow" });

  const options = ["Red", "Blue"].map((label) => ({ label, description: "" }));
  const questions = [{ question: "Which colour?", header: "", multiSelect: false, options }];
  const second = fixture.startHook(
    createRequest("s3", { tool_name: "AskUserQuestion", tool_input: { questions } }),
  );
  await cardOf(page, "Which colour?").locator(".opt").first().waitFor();
  for (let presses = 0; presses < 5 && !(await selected())?.includes("s3"); presses++)
    await page.keyboard.press("j");
  await waitUntil(async () => {
    await page.keyboard.press("2");
    return !second.isRunning();
  }, 3_000);
  expect(parseDecision(await second.printed).updatedInput.answers).toEqual({ "Which colour?": "Blue" });

  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });

  await fixture.postHook(createPromptEvent("s2"));
  await page.locator(".row", { hasText: "proj" }).waitFor();
  for (let presses = 0; presses < 5 && !(await selected())?.includes("s2"); presses++)
    await page.keyboard.press("j");
  expect(await selected()).toContain("s2");
  await page.keyboard.press("o");
  await page.getByRole("complementary", { name: "proj" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("complementary").waitFor({ state: "detached" });
  expect(opened.faults).toEqual([]);
});
