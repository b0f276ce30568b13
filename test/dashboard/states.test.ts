import { describe, expect } from "bun:test";
import type { BrowserContextOptions, Page } from "playwright-core";
import { waitUntil } from "../wait-until.ts";
import { findAccessibilityFaults, listScripts } from "./browser.ts";
import {
  calmDay,
  collidingDay,
  emptyDay,
  firstDay,
  guardedDay,
  historyOffDay,
  hostileDay,
  liveDay,
  manyDay,
  type Sample,
} from "./sample.ts";
import { fitsScreen, type Notices, phone, testPage, useSamplePage } from "./sample-page.ts";

/** The page in all its states, with invented data behind beckon's own server. */
const pages = useSamplePage();

const dark = { colorScheme: "dark" } as const;

interface State extends Notices {
  readonly name: string;
  readonly sample: Sample;
  readonly options?: BrowserContextOptions;
  /** What is on the page. */
  readonly text: string;
  /** What is done then, and what is on the page after it. */
  readonly steps?: readonly (readonly [act: (page: Page) => Promise<unknown>, text: string])[];
}

const failingChannel = "channel phone: ntfy answered 502 (bad gateway)";

const states: readonly State[] = [
  {
    name: "live, with its keys, then stopped",
    sample: liveDay,
    text: "Agents waited 42 min for you today",
    steps: [
      [(page) => page.keyboard.press("?"), "Next, previous"],
      [(page) => page.keyboard.press("Escape").then(() => pages.server().stop()), "beckon has stopped."],
    ],
  },
  {
    name: "dark, with details of a session",
    sample: liveDay,
    options: dark,
    text: "Any of them waiting",
    steps: [
      [
        (page) => page.locator(".row").getByRole("button", { name: "checkout-api" }).click(),
        "14 turns since 08:42",
      ],
    ],
  },
  { name: "on a phone", sample: liveDay, options: phone, text: "deletes without asking (rm -rf)" },
  { name: "ports, dark", sample: guardedDay, options: dark, text: "Log in with a passkey" },
  { name: "ports on a phone", sample: guardedDay, options: phone, text: "Log in with a passkey" },
  {
    name: "two sessions in one file, and one that may be stuck, dark",
    sample: collidingDay,
    options: dark,
    text: "May be stuck: Bash: npm test -- cart failed 3 times",
    steps: [
      [
        (page) => page.locator(".row", { hasText: "May be stuck" }).locator(".link").first().click(),
        "src/cart.ts, src/order.ts and 2 more also changed by claude in checkout-api 1 h ago",
      ],
    ],
  },
  { name: "nothing needs you", sample: calmDay, text: "Nothing needs you" },
  { name: "first run", sample: emptyDay, unconnected: ["Claude Code"], text: "Connect Claude Code" },
  {
    name: "a channel that fails, on a phone",
    sample: liveDay,
    options: phone,
    problems: [failingChannel],
    text: failingChannel,
  },
  { name: "a first day", sample: firstDay, text: "From tomorrow on, days are compared here." },
  { name: "history off", sample: historyOffDay, text: "the history is off" },
  { name: "200 sessions", sample: manyDay, text: "Show 46 more that are ready" },
];

async function checkPage(page: Page, text: string): Promise<void> {
  await page.getByText(text).first().waitFor();
  await pages.check(page);
}

describe("no serious finding of axe-core, no error, nothing wider than the screen:", () => {
  for (const { name, sample, options, text, steps = [], ...notices } of states) {
    testPage(name, async () => {
      const page = await pages.show(sample, options, notices);
      await checkPage(page, text);
      for (const [act, nextText] of steps) {
        await act(page);
        await checkPage(page, nextText);
      }
    });
  }
});

testPage("ports with their state, who works on them, and what they took", async () => {
  const page = await pages.show(guardedDay);
  const rowOf = (id: string) => page.locator("#ports tbody tr", { hasText: id });
  const readRow = (id: string) =>
    rowOf(id)
      .first()
      .innerText()
      .then((text) => text.replaceAll(/\s+/g, " "));
  await rowOf("passkeys").first().waitFor();
  expect(await readRow("passkeys")).toMatch(
    /^passkeys checkout-api Log in with a passkey Running checkout-api .* and 1 more 3h 04m 21m 6.4M \$12.40$/,
  );
  expect(await readRow("session-store")).toMatch(/Running no session now 52m 3m 910k –$/);
  expect(await readRow("logout")).toMatch(/Open needs passkeys, session-store – – – – –$/);
  expect(await readRow("rate-limits")).toMatch(/Ended 50m ago also for tokens of the API/);
  await rowOf("passkeys").first().getByRole("button").click();
  await page.locator(".side").getByText("Port passkeys: Log in with a passkey").waitFor();
  pages.server().setSample({ ...guardedDay, ports: [] });
  await page.clock.fastForward(40_000);
  await page.locator("#ports").waitFor({ state: "detached" });
});

testPage("without ports nothing about them is on the page", async () => {
  const page = await pages.show(liveDay);
  await page.locator(".lane").first().waitFor();
  expect(await page.locator("#ports").count()).toBe(0);
});

testPage("every button, link and field can be reached with Tab", async () => {
  const page = await pages.show(liveDay);
  await page.locator(".lane").nth(3).waitFor();
  const count = Number(
    await page.evaluate(`
      globalThis.controls = [...document.querySelectorAll("button, a[href], input, select")]
        .filter((element) => element.offsetParent !== null && !element.disabled && element.tabIndex >= 0);
      controls.length`),
  );
  expect(count).toBeGreaterThan(50);
  await page.evaluate("document.body.focus(); globalThis.reached = new Set()");
  for (let presses = 0; presses < count + 20; presses++) {
    await page.keyboard.press("Tab");
    await page.evaluate("reached.add(document.activeElement)");
  }
  const missed = await page.evaluate(
    "controls.filter((element) => !reached.has(element)).map((element) => element.outerHTML.slice(0, 120))",
  );
  expect(missed).toEqual([]);
});

testPage("scripts, markup, text that runs backwards and long text are shown as text", async () => {
  const page = await pages.show(hostileDay);
  await page.locator(".ask").nth(3).waitFor();
  await page.locator(".row").getByRole("button").first().click();
  await page.locator(".side .feed").waitFor();
  const counts = await page.evaluate(`({
    images: document.images.length,
    attacked: globalThis.attacked ?? null,
    links: [...document.querySelectorAll("a")].filter((link) => !link.getAttribute("href").startsWith("#")).length,
    text: document.body.textContent.length,
    backwards: /[\\u202a-\\u202e\\u2066-\\u2069]/.test(document.body.textContent),
  })`);
  expect(await listScripts(page)).toEqual(["/shared.js", "/page.js", "/more.js"]);
  expect(counts).toMatchObject({ images: 0, attacked: null, links: 0, backwards: false });
  expect((counts as { text: number }).text).toBeLessThan(200_000);
  expect(await page.locator(".ask").first().innerText()).toContain("<script>");
  expect(await fitsScreen(page)).toBe(true);
  expect(pages.faults()).toEqual([]);
});

testPage("the whole path of a file that would be changed is shown, on a phone too", async () => {
  const heading = `Edit ${"packages/".repeat(12)}.bashrc`;
  const sessions = liveDay.sessions.map((session) => ({
    ...session,
    asks: session.asks.map((ask) =>
      ask.tool === "Edit" && ask.asked ? { ...ask, asked: { ...ask.asked, heading } } : ask,
    ),
  }));
  const page = await pages.show({ ...liveDay, sessions }, phone);
  const shown = page.locator(".diff-file", { hasText: ".bashrc" }).locator("span").first();
  expect(await shown.innerText()).toBe(heading);
  const isWhole = `[...document.querySelectorAll(".diff-file span")].every(
    ({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth,
  )`;
  expect(await page.evaluate(isWhole)).toBe(true);
});

testPage("a session that finished while you were away is marked as new, until you look", async () => {
  const page = await pages.show(liveDay);
  expect(await page.locator(".new").count()).toBe(0);
  const design = page.locator(".row", { hasText: "design-tokens" });
  // It finished two minutes ago; the user left three minutes ago.
  await page.evaluate(
    `document.cookie = "beckon-page-looked-at=${liveDay.now - 180_000}"; dispatchEvent(new Event("focus"))`,
  );
  await design.getByText("new", { exact: true }).waitFor();
  expect(await page.locator(".new").count()).toBe(1);
  await design.getByRole("button", { name: "design-tokens" }).click();
  await waitUntil(async () => (await page.locator(".new").count()) === 0, 2_000);
});

testPage("a click that comes when the cards have just moved answers nothing", async () => {
  const page = await pages.show(liveDay);
  const [first, ...others] = liveDay.sessions;
  await page.locator(".ask").nth(4).waitFor();
  await page.clock.pauseAt(liveDay.now + 30_000);
  pages.server().setSample({
    ...liveDay,
    sessions: [{ ...first, group: "working", asks: [] } as typeof first & object, ...others],
  });
  await page.locator(".ask.over", { hasText: "checkout-api" }).waitFor();
  // The ended card keeps its place for a moment, so nothing moves under the pointer.
  expect(await page.locator(".ask").count()).toBe(5);
  await page.clock.runFor(4_100);
  await page.locator(".asks.settling").waitFor();
  const box = await page.locator(".ask .btn.main").first().boundingBox();
  await page.mouse.click((box?.x ?? 0) + 5, (box?.y ?? 0) + 5);
  expect(pages.server().actions).toEqual([]);
});

testPage("Quiet turns alerts off, and the button says so", async () => {
  const page = await pages.show(liveDay);
  await page.getByRole("button", { name: "Alerts on" }).click();
  await page.getByRole("button", { name: "No alerts until you turn them on" }).click();
  await page.getByRole("button", { name: "Alerts off" }).waitFor();
});

testPage("200 sessions can be filtered", async () => {
  const page = await pages.show(manyDay);
  await page.getByLabel("Filter sessions").fill("retry-queue working");
  await waitUntil(async () => (await page.locator(".row").count()) < 20, 2_000);
  await page.getByLabel("Filter sessions").fill("no such thing");
  await page.getByText("No session matches.").waitFor();
});

const laptop = { viewport: { width: 1280, height: 800 } };

const onlySession = (project: string): Sample => ({
  ...liveDay,
  sessions: liveDay.sessions.filter((session) => session.project === project),
});

/** Labels of the buttons in cards that are not shown in full. */
const findCutButtons = (page: Page) =>
  page.evaluate(`(() => {
    const list = document.querySelector(".inbox").getBoundingClientRect();
    const isCut = (button) => {
      const label = document.createRange();
      label.selectNodeContents(button.firstChild);
      const text = label.getBoundingClientRect();
      const box = button.getBoundingClientRect();
      const card = button.closest(".ask").getBoundingClientRect();
      return text.left < box.left || text.right > box.right || box.right > card.right || box.bottom > list.bottom;
    };
    return [...document.querySelectorAll(".ask button")].filter(isCut).map((button) => button.textContent);
  })()`);

testPage("a card alone in its column shows all its buttons and the rules of Always…", async () => {
  const page = await pages.show(onlySession("infra"), laptop);
  const card = page.locator('.ask[aria-current="true"]');
  await card.getByRole("button", { name: "Always…" }).click();
  await card.getByRole("button", { name: "Allow all edits in this session" }).waitFor();
  expect(await findCutButtons(page)).toEqual([]);
  await card.getByRole("button", { name: "Allow all edits in this session" }).click();
  await waitUntil(() => pages.server().actions.length === 1, 2_000);
  expect(pages.server().actions[0]?.body).toMatchObject({ do: "always", choice: 1 });
});

testPage("selecting a card with the pointer does not move its buttons", async () => {
  const page = await pages.show(liveDay, laptop);
  const card = page.locator(".ask", { hasText: "infra" });
  const button = card.getByRole("button", { name: "Go to terminal" });
  await button.scrollIntoViewIfNeeded();
  const before = await button.boundingBox();
  await card.locator(".ask-sub").click();
  expect(await card.getAttribute("aria-current")).toBe("true");
  expect(await button.boundingBox()).toEqual(before as NonNullable<typeof before>);
});

testPage("the second press that a dangerous command needs is asked for in full", async () => {
  const page = await pages.show(onlySession("checkout-api"), laptop);
  await page.locator('.ask [data-do="allow"]').click();
  await page.getByRole("button", { name: "Press again to allow" }).waitFor();
  expect(await findCutButtons(page)).toEqual([]);
});

testPage("a card whose session is snoozed says until when, not that nothing is asked any more", async () => {
  const sample = onlySession("infra");
  const page = await pages.show(sample);
  await page.locator(".ask").waitFor();
  pages.server().setSample({
    ...sample,
    sessions: sample.sessions.map((session) => ({
      ...session,
      group: "set_aside",
      silence: "snoozed until 07:05",
      silenceKind: "snoozed",
    })),
  });
  await page.locator(".ask.over").waitFor();
  expect(await page.locator(".ask .done").innerText()).toBe("Snoozed until 07:05. It still waits.");
});

testPage("a browser without a valid code gets a page in beckon's style that says what to do", async () => {
  const page = await pages.open(liveDay, { withKey: false, options: phone });
  await page.getByText("beckon open", { exact: true }).waitFor();
  expect(await page.evaluate("getComputedStyle(document.body).margin")).toBe("0px");
  expect(await page.evaluate("document.images[0].naturalWidth > 0")).toBe(true);
  expect(await fitsScreen(page)).toBe(true);
  expect(await findAccessibilityFaults(page)).toEqual([]);
  // The browser itself reports the status 401.
  expect(pages.faults().filter((fault) => !fault.includes("401"))).toEqual([]);
});

testPage("sessions of one project and branch have different names in cards, rows and lanes", async () => {
  const [first, ...others] = liveDay.sessions.filter(({ project }) => project === "checkout-api");
  if (!first || others.length > 0) throw new Error("one session expected");
  const twin = { ...first, sessionId: "twin", title: "Write the invoices again" };
  const lanes = liveDay.lanes.lanes.filter(({ key }) => key === `claude:${first.sessionId}`);
  const page = await pages.show({
    ...liveDay,
    sessions: [first, twin],
    lanes: { ...liveDay.lanes, lanes: [...lanes, ...lanes.map((lane) => ({ ...lane, key: "claude:twin" }))] },
  });
  await page.locator(".lane .who .link").nth(1).waitFor();
  for (const place of [".ask-name", ".row .l1", ".lane:not(.axis, .any) .who"]) {
    const names = await page.locator(place).allInnerTexts();
    expect(names).toHaveLength(2);
    expect(new Set(names).size, place).toBe(2);
  }
});

testPage("the number of sessions does not include those that have ended", async () => {
  const page = await pages.show(liveDay);
  const ended = liveDay.sessions.filter(({ group }) => group === "ended").length;
  expect(ended).toBeGreaterThan(0);
  expect(await page.locator("#h-ses").innerText()).toBe(`Sessions ${liveDay.sessions.length - ended}`);
});

testPage("a row warns of a dangerous request, and its button covers no figure of it", async () => {
  const page = await pages.show(liveDay, laptop);
  const row = page.locator(".row", { hasText: "checkout-api" });
  await row.getByText("dangerous:").waitFor({ state: "attached" });
  expect(await page.locator(".row .risky").count()).toBe(1);
  const ready = page.locator(".row", { hasText: "design-tokens" });
  await ready.hover();
  const button = await ready.getByRole("button", { name: "Go to terminal", exact: true }).boundingBox();
  const cost = await ready.locator(".mo").boundingBox();
  const since = await ready.locator(".w").boundingBox();
  if (!button || !cost || !since) throw new Error("not on the page");
  expect(button.x).toBeGreaterThanOrEqual(cost.x + cost.width);
  expect(button.y + button.height).toBeLessThanOrEqual(since.y + since.height);
  const text = await ready.locator(".dg").boundingBox();
  expect(text?.width).toBeGreaterThan(280);
});

testPage("a session and those before its /clear share one lane", async () => {
  const [current] = liveDay.sessions.filter(({ project }) => project === "checkout-api");
  const [lane] = liveDay.lanes.lanes.filter(({ project }) => project === "checkout-api");
  if (!current || !lane) throw new Error("one session expected");
  const cleared = ["a", "b"].map((sessionId) => ({
    ...current,
    sessionId,
    group: "ended" as const,
    asks: [],
  }));
  const page = await pages.show({
    ...liveDay,
    sessions: [current, ...cleared],
    lanes: {
      ...liveDay.lanes,
      lanes: [
        ...["a", "b"].map((id) => ({ ...lane, key: `claude:${id}`, group: "ended" as const })),
        lane,
      ].map((own) => ({ ...own, fingerprint: "one process" })),
    },
  });
  await page.locator(".lane .s-working").first().waitFor();
  expect(await page.locator(".lane .who .link").count()).toBe(1);
});

testPage("the details of a session list its tasks with their states, and open its transcript", async () => {
  const [first] = liveDay.sessions.filter(({ tasks }) => tasks !== null);
  if (!first?.tasks) throw new Error("a session with tasks expected");
  const current = { ...first, transcriptPath: "/home/dev/t.jsonl" };
  const others = liveDay.sessions.filter((session) => session !== first);
  const page = await pages.show({ ...liveDay, sessions: [current, ...others] });
  await page
    .getByRole("button", { name: current.project ?? "" })
    .first()
    .click();
  const rows = page.locator(".side .tasks li");
  await rows.first().waitFor();
  expect(await rows.count()).toBe(first.tasks.total);
  expect(await rows.first().innerText()).toMatch(/Read how it works today\s+done/);
  expect(await page.locator(".side .tasks .in_progress").count()).toBe(1);
  await page.getByRole("button", { name: "Open transcript" }).click();
  await page.getByText("The transcript is open on this machine.").waitFor();
  expect(pages.server().actions.map(({ action }) => action)).toEqual(["transcript"]);
});

testPage(
  "a day without a session has no legend and no hours to choose; one with a session has both",
  async () => {
    const page = await pages.show({ ...liveDay, lanes: emptyDay.lanes });
    const day = page.locator("#today");
    await day.getByText("Any of them waiting").waitFor();
    expect(await day.locator(".legend, .seg").count()).toBe(0);
    pages.server().setSample(liveDay);
    // The lanes are loaded again now and then.
    await page.clock.fastForward(31_000);
    await day.locator(".legend").waitFor();
    expect(await day.locator(".seg").innerText()).toContain("4 h");
  },
);

testPage("a median is the same in the headline, by day and by project", async () => {
  const { today, days, projects } = liveDay.stats;
  const medianMs = 90_700;
  const page = await pages.show({
    ...liveDay,
    stats: {
      ...liveDay.stats,
      today: { ...today, medianMs },
      days: days.map((day) => ({ ...day, medianMs })),
      projects: projects.map((project) => ({ ...project, medianMs })),
    },
  });
  const waited = page.locator("#waited");
  await waited.getByText("median answer 1m 30s").waitFor();
  expect(await waited.locator("tbody tr").first().locator("td").last().innerText()).toBe("1m 30s");
  await waited.locator(".bars rect.today").hover();
  await page.getByText(/· median answer 1m 30s$/).waitFor();
});

testPage("the lanes of the days before are a click away, and today is one back", async () => {
  const page = await pages.show(liveDay);
  const heading = page.locator("#h-day");
  const range = () => pages.server().laneRanges.at(-1);
  await page.locator(".lane .s-working").first().waitFor();
  expect(await page.getByRole("button", { name: "The day after" }).isDisabled()).toBe(true);
  await page.getByRole("button", { name: "The day before" }).click();
  expect(await heading.innerText()).toBe("Yesterday");
  await waitUntil(() => range()?.to === new Date(2026, 10, 17).getTime(), 3_000);
  expect(range()?.from).toBe(new Date(2026, 10, 16).getTime());
  expect(await page.locator("#today .now").count()).toBe(0);
  await page.getByRole("img", { name: /^checkout-api main, yesterday: / }).waitFor();
  await page.getByRole("button", { name: "The day before" }).click();
  expect(await heading.innerText()).toBe("Sun 15 Nov");
  // Hours are those until now.
  await page.getByRole("button", { name: "4 h" }).click();
  expect(await heading.innerText()).toBe("Today");
  await page.locator("#today .now").first().waitFor({ state: "attached" });
});

testPage(
  "a first day says how long it is, and lists what was asked instead of days and projects",
  async () => {
    const page = await pages.show(firstDay);
    await page.getByText("your first 18 minutes").waitFor();
    expect(await page.locator("#waited .said").innerText()).toContain("Agents waited 1 min for you so far");
    const asks = page.locator(".first-asks li");
    expect(await asks.count()).toBeGreaterThan(1);
    expect(await asks.first().innerText()).toMatch(
      /^\d\d:\d\d\n.+\n(?:Allowed|Denied|Answered|Approved) by you[^“]*(?:“.+”)?$/,
    );
    expect(await page.locator(".first-asks").innerText()).not.toContain("undefined");
    expect(await page.locator("#waited .bars, #waited .pt").count()).toBe(0);
  },
);

testPage(
  "the first waits have labels under them, of which none touch; a phone has no room for them",
  async () => {
    const page = await pages.show(firstDay);
    const lane = (project: string) => page.locator("#today .lane", { hasText: project });
    await lane("notes").locator("text").waitFor();
    expect(await lane("notes").locator("text").allTextContents()).toEqual(["14s"]);
    // Two of its waits are so near to each other that their labels would touch.
    expect(await lane("checkout-api").locator("text").count()).toBe(0);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.reload();
    await lane("notes").locator(".s-waiting").waitFor();
    expect(await page.locator("#today .wait-t").count()).toBe(0);
  },
);

testPage("a day after the first has no labels under its waits", async () => {
  const page = await pages.show(liveDay);
  await page.locator("#today .lane .s-waiting").first().waitFor();
  expect(await page.locator("#today .wait-t").count()).toBe(0);
});

testPage("a demo says in its title and its head that it is one", async () => {
  const page = await pages.show(liveDay, {}, { isDemo: true });
  await page.locator(".brand", { hasText: "demo" }).waitFor();
  expect(await page.title()).toBe("5 need you · beckon demo");
});
