/**
 * The page in a real browser: how long an event takes to be seen, and what the page costs with 200 sessions and 100,000 events
 * behind it, in the browser and in beckon.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { launchBrowser, openPage } from "../dashboard/browser.ts";
import { waitUntil } from "../wait-until.ts";
import { preparePrograms, type Receiver, residentMb, startBeckon, withFolder } from "./processes.ts";
import { percentile } from "./rounds.ts";

const sessions = Number(process.env.BENCH_SESSIONS ?? 200);
const events = Number(process.env.BENCH_EVENTS ?? 100_000);
const shown = 200;
const targetShownMs = 100;

const cwd = (session: number) => `/home/dev/project-${session % 40}`;
const createEvent = (n: number, session: number): object => {
  const common = { session_id: `session-${session}`, cwd: cwd(session) };
  const tool = {
    tool_name: "Bash",
    tool_input: { command: `npm test -- ${n}` },
    tool_use_id: `t-${Math.floor(n / 2 / sessions)}-${session}`,
  };
  if (n < sessions) return { ...common, hook_event_name: "UserPromptSubmit", prompt: `task ${n}` };
  return Math.floor(n / sessions) % 2 === 1
    ? { ...common, ...tool, hook_event_name: "PreToolUse" }
    : { ...common, ...tool, hook_event_name: "PostToolUse" };
};

/** A day of events, as hooks leave them behind while beckon is not running. */
function writeSpool(state: string): void {
  const now = Date.now();
  const step = (10 * 60 * 60 * 1_000) / events;
  const lines = Array.from({ length: events }, (_, n) => {
    const meta = { id: `bench-${n}`, at: Math.floor(now - (events - n) * step), attended: true };
    return JSON.stringify({ provider: "claude", _meta: meta, payload: createEvent(n, n % sessions) });
  });
  writeFileSync(join(state, "spool.jsonl"), `${lines.join("\n")}\n`, { mode: 0o600 });
}

const request = (app: Receiver, path: string, body?: object) =>
  fetch(`http://127.0.0.1:${app.port}${path}`, {
    headers: {
      authorization: app.authorization.replace(/^Authorization: /, ""),
      "content-type": "application/json",
    },
    ...(body ? { method: "POST", body: JSON.stringify(body) } : {}),
  });

async function createPageUrl(app: Receiver): Promise<string> {
  return ((await (await request(app, "/api/page/code", {})).json()) as { url: string }).url;
}

/** From the moment at which a hook's event is sent to its text on the screen. */
async function measureShown(app: Receiver, page: Page): Promise<number[]> {
  await page.evaluate(`globalThis.seen = new Map();
    new MutationObserver(() => {
      const text = document.querySelector("#sessions").textContent;
      for (const [mark] of text.matchAll(/mark-\\d+-/g)) if (!seen.has(mark)) seen.set(mark, Date.now());
    }).observe(document.body, { childList: true, subtree: true, characterData: true })`);
  const figures: number[] = [];
  for (let n = 0; n < shown; n++) {
    const mark = `mark-${n}-`;
    const sentAt = Date.now();
    await request(app, "/api/hook", {
      session_id: "session-0",
      cwd: cwd(0),
      hook_event_name: "StopFailure",
      error: mark,
      last_assistant_message: mark,
    });
    await waitUntil(() => page.evaluate(`seen.has("${mark}")`), 5_000);
    figures.push(Number(await page.evaluate(`seen.get("${mark}")`)) - sentAt);
  }
  return figures;
}

const round = (value: number): number => Math.round(value * 10) / 10;

const browser = await launchBrowser();
const isMet = await withFolder(async (folder) => {
  const [program] = preparePrograms(folder);
  if (!program) throw new Error("nothing was built");
  const state = join(folder, "state");
  const first = await startBeckon(program.binary, state);
  await first.stop("SIGTERM");
  writeSpool(state);
  const app = await startBeckon(program.binary, state);
  const startedMs = performance.now();
  await waitUntil(async () => !(await Bun.file(join(state, "spool.jsonl")).exists()), 300_000);
  console.log(
    `${events} events of ${sessions} sessions read in ${round((performance.now() - startedMs) / 1_000)} s`,
  );
  await Bun.sleep(5_000);
  const idleMb = residentMb(app.pid);

  const { page } = await openPage(browser, await createPageUrl(app));
  await page.locator(".row").nth(50).waitFor();
  await page.locator(".hist tbody tr").first().waitFor();
  const paint = JSON.parse(
    String(
      await page.evaluate(`JSON.stringify({
        first: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? null,
        requests: performance.getEntriesByType("resource").map(({ name, duration }) => [new URL(name).pathname, Math.round(duration)]),
      })`),
    ),
  );
  const cdp = await page.context().newCDPSession(page);
  const readHeapMb = async () => {
    await cdp.send("HeapProfiler.collectGarbage");
    const { usedSize } = await cdp.send("Runtime.getHeapUsage");
    return usedSize / 1e6;
  };
  console.log(`first paint ${round(paint.first)} ms`);
  for (const [path, ms] of paint.requests) console.log(`  ${path} ${ms} ms`);
  console.log(`the page's heap: ${round(await readHeapMb())} MB`);
  const figures = await measureShown(app, page);
  const [p50, p99] = [percentile(figures, 0.5), percentile(figures, 0.99)];
  console.log(`event sent → shown: p50 ${p50} ms, p99 ${p99} ms (target: p50 at most ${targetShownMs} ms)`);
  console.log(`the page's heap after ${shown} events: ${round(await readHeapMb())} MB`);
  console.log(
    `beckon: ${round(idleMb)} MB before the page was opened, ${round(residentMb(app.pid))} MB with it`,
  );
  await page.context().close();
  await app.stop("SIGTERM");
  return p50 <= targetShownMs;
});
await browser.close();
process.exit(isMet ? 0 : 1);
