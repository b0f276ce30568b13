import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { waitUntil } from "../wait-until.ts";
import { liveDay, machinesDay, manyMachinesDay } from "./sample.ts";
import { phone, testPage, useSamplePage } from "./sample-page.ts";

/** Other machines on the page, in a real browser, with an invented day behind beckon's own server. */
const pages = useSamplePage();

const readAll = async (page: Page, selector: string): Promise<string[]> =>
  (await page.locator(selector).allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " ").trim());

testPage("without another machine, nothing on the page speaks of machines", async () => {
  const page = await pages.show(liveDay);
  expect(
    await page.locator(".mach, .host, .far-card, [aria-label='Group by'], [aria-label=Machine]").count(),
  ).toBe(0);
});

testPage("a machine that cannot be reached is tried again at a click", async () => {
  const page = await pages.show(machinesDay);
  await page.getByRole("button", { name: "Try now" }).click();
  await waitUntil(() => pages.server().actions.length > 0, 5_000);
  expect(pages.server().actions).toEqual([{ name: "build-box", action: "retry", body: {} }]);
});

testPage(
  "sessions stand under their machines, with since when each is linked, or why it is not",
  async () => {
    const page = await pages.show(machinesDay);
    expect(await readAll(page, ".mach")).toEqual([
      "This machine 3 1 1 3 3",
      "devcontainer container shop-dev 1 1 linked since 09:12",
      "gpu-lab-frankfurt-2.internal.example ssh me@gpu-lab-frankfurt-2.internal.example 1 linked since 11:40",
      "build-box ssh 1 1 Not reachable since 14:02 Try now ssh: connect to host build-box port 22: No route to host. It is tried again by itself.",
    ]);
    const box = page.locator("tbody", { has: page.locator(".mach", { hasText: "build-box" }) });
    expect(await box.locator(".row .do").allInnerTexts()).toEqual([
      "Asked at 13:58: npm publish --dry-run",
      "Was working: Bash: make check-links",
    ]);
    expect(await box.locator(".row .w").allInnerTexts()).toEqual(["3m then", "10m then"]);
  },
);

testPage("what a lost machine asked is shown as last known, is not counted, and has no buttons", async () => {
  const page = await pages.show(machinesDay);
  const card = page.locator(".far-card");
  expect(await card.innerText()).toContain(
    "build-box is not reachable since 14:02. Whether this still waits is not known.",
  );
  expect(await page.locator(".inbox-head").innerText()).toMatch(/Needs you\s+5\s+1 more not reachable/);
  expect(await page.title()).toBe("5 need you · beckon");
  // The only button is the name, which opens the details.
  expect(await card.getByRole("button").allInnerTexts()).toEqual(["billing"]);
  await card.getByRole("button", { name: "billing" }).click();
  const side = page.locator(".side");
  await side.waitFor();
  expect(await side.locator(".side-head").innerText()).toContain("not reachable since 14:02");
  expect(await side.locator(".acts button").allInnerTexts()).toEqual(["Copy id"]);
  expect(await page.locator(".row.far").getByRole("button", { name: "Go to terminal" }).count()).toBe(0);
});

testPage("the list can be grouped by state, where each row names its machine, and stays so", async () => {
  const page = await pages.show(machinesDay);
  await page.getByRole("button", { name: "By state" }).click();
  const infra = page.locator(".row.carded", { hasText: "infra" });
  expect(await infra.locator(".host").first().innerText()).toContain("devcontainer");
  // Which machine is lost is not hidden by the choice.
  expect(await readAll(page, ".mach")).toEqual([
    expect.stringMatching(/^build-box ssh Not reachable since 14:02 Try now /),
  ]);
  await page.reload();
  await page.locator(".row").first().waitFor();
  expect(await page.getByRole("button", { name: "By state" }).getAttribute("aria-pressed")).toBe("true");
});

testPage("the list is narrowed to one machine, and back", async () => {
  const page = await pages.show(machinesDay);
  const pick = page.getByLabel("Machine", { exact: true });
  expect(await pick.locator("option").allInnerTexts()).toEqual([
    "All machines",
    "This machine",
    "build-box",
    "devcontainer",
    "gpu-lab-frankfurt-2.internal.example",
  ]);
  await pick.selectOption("devcontainer");
  expect(await page.locator(".row:not(.kid) .link").allInnerTexts()).toEqual(["infra", "infra"]);
  await pick.selectOption("This machine");
  expect(await page.locator(".mach").allInnerTexts()).toHaveLength(1);
  expect(await page.locator(".row:not(.kid) .link").allInnerTexts()).not.toContain("infra");
  await pick.selectOption("");
  expect(await page.locator(".mach").count()).toBe(4);
});

testPage("of many sessions each machine shows those that wait or failed, and some more", async () => {
  const page = await pages.show(manyMachinesDay);
  const own = page.locator("tbody", { has: page.locator(".mach", { hasText: "This machine" }) });
  expect(await own.locator(".row").count()).toBe(10);
  await own.getByRole("button", { name: /^Show \d+ more, none of them waits$/ }).click();
  expect(await own.locator(".row").count()).toBeGreaterThan(30);
  await page.getByLabel("Filter sessions").fill("frankfurt auth");
  expect(await readAll(page, ".mach > th .cut:first-of-type")).toEqual([
    "gpu-lab-frankfurt-2.internal.example",
  ]);
});

testPage("a machine that is lost takes its card away, and says so", async () => {
  const page = await pages.show({
    ...machinesDay,
    sessions: machinesDay.sessions.filter(({ reachable }) => reachable),
  });
  const card = page.locator(".ask", { hasText: "infra" });
  await card.locator('[data-do="allow"]').waitFor();
  const lost = machinesDay.sessions.map((session) =>
    session.machine !== "devcontainer" || session.group !== "needs_you"
      ? session
      : {
          ...session,
          group: "set_aside" as const,
          reachable: false,
          unreachableSince: machinesDay.now,
          silence: "not reachable since 14:32",
          silenceKind: "unreachable" as const,
        },
  );
  pages.server().setSample({ ...machinesDay, sessions: lost });
  await card.getByText("Not reachable since 14:32.", { exact: true }).waitFor();
  await page.locator(".far-card", { hasText: "infra" }).waitFor();
});

for (const [name, options] of [
  ["1440", {}],
  ["1440, dark", { colorScheme: "dark" as const }],
  ["a phone", phone],
] as const)
  testPage(`machines are accessible, and nothing is wider than the screen: ${name}`, async () => {
    const page = await pages.show(machinesDay, options);
    await pages.check(page);
  });
