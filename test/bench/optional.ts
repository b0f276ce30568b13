/**
 * What everything costs that not everybody uses: start time, CPU of an event, memory while nothing happens, and the size of the binary.
 * Side by side with the history and without it, with the page open and not, and with collisions, a rule, a queued prompt and a past
 * moment in use and not. `--against BINARY` adds another build.
 *
 * BENCH_ROUNDS and BENCH_IDLE_MS make it shorter; BENCH_PART=start leaves out events and memory.
 */
import { statSync } from "node:fs";
import type { Browser } from "playwright-core";
import { loadPage } from "../../src/dashboard/index.ts";
import { launchBrowser, openPage } from "../dashboard/browser.ts";
import {
  against,
  cpuMsOf,
  prepareSubjects,
  proportionalMb,
  type Receiver,
  residentMb,
  type Subject,
  startBeckon,
  withFolder,
  writeConfig,
} from "./processes.ts";
import { type Case, formatFigures, interleave, meets, percentile, ratio } from "./rounds.ts";

const rounds = Number(process.env.BENCH_ROUNDS ?? 15);
/** After this long beckon and the history's thread have given back what they do not need. */
const calmMs = Number(process.env.BENCH_IDLE_MS ?? 25_000);
const sessions = 20;
const inUse = "everything in use";
const settings = {
  "with history": null,
  "history off": '{"history": "off"}',
  [inUse]: '{"workGuard": {"collisions": "ask"}}',
} as const;

const post = (app: Receiver, path: string, body: object): Promise<Response> =>
  fetch(`http://127.0.0.1:${app.port}${path}`, {
    method: "POST",
    headers: {
      authorization: app.authorization.replace(/^Authorization: /, ""),
      "content-type": "application/json",
    },
    body: JSON.stringify(body),
  });

/** A prompt and a hundred tool calls in each session, so that there is a history. */
async function fill(app: Receiver, events = sessions * 200): Promise<void> {
  for (let n = 0; n < events; n++) {
    const session = n % sessions;
    const common = { session_id: `s${session}`, cwd: `/home/dev/project-${session}` };
    const tool = { tool_name: "Bash", tool_input: { command: `make ${n}` }, tool_use_id: `t${n}` };
    const event =
      n < sessions
        ? { hook_event_name: "UserPromptSubmit", prompt: `task ${n}` }
        : { hook_event_name: "PreToolUse", ...tool };
    await post(app, "/api/hook", { ...common, ...event });
  }
}

/** A build that does not know it says so, which is no fault here. */
async function useAll(app: Receiver): Promise<void> {
  await post(app, "/api/rules/add", { text: "Bash(make check)", project: "/home/dev/project-1" });
  await post(app, `/api/sessions/${encodeURIComponent("claude:s1")}/send`, { text: "go on", when: "idle" });
  await fetch(`http://127.0.0.1:${app.port}/api/moment?at=${Date.now() - 1_000}`, {
    headers: { authorization: app.authorization.replace(/^Authorization: /, "") },
  });
}

async function measureEvents(subjects: readonly Subject[]): Promise<void> {
  const apps = new Map<string, Receiver>();
  for (const { name, binary, home } of subjects) {
    const app = await startBeckon(binary, home);
    if (name.endsWith(inUse)) await useAll(app);
    apps.set(name, app);
  }
  const events = sessions * 100;
  const cases = [...apps].map(
    ([name, app]): Case => ({
      name,
      async run() {
        const before = cpuMsOf(app.pid);
        await fill(app, events);
        return ((cpuMsOf(app.pid) - before) * 1_000) / events;
      },
    }),
  );
  const figures = await interleave(cases, { rounds: Math.ceil(rounds / 3), warmUp: 1 });
  console.log(formatFigures(figures, "µs CPU for an event, one after the other", ["history off"], 0));
  for (const app of apps.values()) await app.stop("SIGTERM");
}

async function measureStart(subjects: readonly Subject[]): Promise<boolean> {
  const cpu = new Map<string, number[]>();
  const cases = subjects.map(
    ({ name, binary, home }): Case => ({
      name,
      async run(round) {
        const app = await startBeckon(binary, home);
        // The history opens its database after the start.
        await Bun.sleep(500);
        if (round >= 0) cpu.set(name, [...(cpu.get(name) ?? []), cpuMsOf(app.pid)]);
        await app.stop("SIGTERM");
        return app.startMs;
      },
    }),
  );
  const figures = await interleave(cases, { rounds, warmUp: 1 });
  console.log(formatFigures(figures, "ms to the first answer", ["history off"], 1));
  for (const [name, values] of figures) console.log(`${name}: p10 ${percentile(values, 0.1).toFixed(1)} ms`);
  console.log(formatFigures(cpu, "ms CPU in the first half second", ["history off"], 0));
  // CPU, because on a busy machine the time to the first answer says more about the other programs.
  const part = ratio(cpu, "with history", "history off");
  return meets("CPU of the start with history, of one without", part, "at most", 1.15);
}

async function measureMemory(subjects: readonly Subject[], browser: Browser): Promise<void> {
  const apps = await Promise.all(
    subjects.map(async ({ name, binary, home }) => ({ name, app: await startBeckon(binary, home) })),
  );
  const print = (moment: string) => {
    for (const { name, app } of apps) {
      const shared = proportionalMb(app.pid);
      const figures = [`${residentMb(app.pid).toFixed(1)} MB resident`];
      if (shared !== null) figures.push(`${shared.toFixed(1)} MB proportional`);
      console.log(`${moment}, ${name}: ${figures.join(", ")}`);
    }
  };
  await Bun.sleep(calmMs);
  print("nothing has happened");
  for (const { name, app } of apps) {
    await fill(app, sessions);
    if (name.endsWith(inUse)) await useAll(app);
  }
  await Bun.sleep(calmMs);
  print("after some events");
  const pages = await Promise.all(
    apps.map(async ({ app }) => {
      const { url } = (await (await post(app, "/api/page/code", {})).json()) as { url: string };
      const { page } = await openPage(browser, url);
      await page.locator(".row").first().waitFor();
      return page;
    }),
  );
  await Bun.sleep(calmMs);
  print("page open");
  for (const page of pages) await page.context().close();
  await Bun.sleep(calmMs);
  print("page closed again");
  for (const { app } of apps) await app.stop("SIGTERM");
}

async function printSizes(subjects: readonly Subject[]): Promise<void> {
  for (const binary of new Set(subjects.map((subject) => subject.binary)))
    console.log(
      `${binary.endsWith(against) ? against : "beckon"}: ${(statSync(binary).size / 1e6).toFixed(1)} MB`,
    );
  const page = await loadPage();
  const sizes = Object.entries(page).map(([name, file]) => {
    const bytes = typeof file === "string" ? Buffer.byteLength(file) : 0;
    return `${name} ${(bytes / 1_000).toFixed(0)} kB`;
  });
  console.log(`the page in it: ${sizes.join(", ")}`);
}

const isMet = await withFolder(async (folder) => {
  const subjects = prepareSubjects(folder, settings, writeConfig);
  await printSizes(subjects);
  for (const { binary, home } of subjects) {
    const app = await startBeckon(binary, home);
    await fill(app);
    await Bun.sleep(1_000);
    await app.stop("SIGTERM");
  }
  const isCheap = await measureStart(subjects);
  if (process.env.BENCH_PART === "start") return isCheap;
  await measureEvents(subjects);
  const browser = await launchBrowser();
  await measureMemory(subjects, browser);
  await browser.close();
  return isCheap;
});
process.exit(isMet ? 0 : 1);
