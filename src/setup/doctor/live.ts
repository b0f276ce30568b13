/** The live test: an event that goes through the real hook to the state, the icon and a notification, and is removed again. */
import type { Readable } from "node:stream";
import type { LiveTest } from "../../agents/agent.ts";
import { createFindings, type Finding } from "../../agents/finding.ts";
import type { NotifierReport } from "../../core/interfaces/index.ts";
import { waitUntil } from "../../system/schedule.ts";
import type { ProbeReport } from "./report.ts";

export interface HookRun {
  /** null if it had to be killed. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
}

export interface HookCall {
  /** A command for the shell, or an argv. */
  readonly command: string | readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

const maxOutput = 4_096;

/** Runs a hook as the agent does, with an event on stdin. Never throws, and never takes longer than `timeoutMs`. */
export async function runHook(
  { command, env }: HookCall,
  payload: object,
  timeoutMs: number,
  abort = new AbortController(),
): Promise<HookRun> {
  const [program = "", ...args] = typeof command === "string" ? ["/bin/sh", "-c", command] : command;
  const started = performance.now();
  const elapsed = () => performance.now() - started;
  const timer = setTimeout(() => abort.abort(), timeoutMs);
  try {
    const { spawn } = await import("node:child_process");
    // In a process group of its own, so that all of it can be killed.
    const child = spawn(program, args, { cwd: "/", env: { ...env }, detached: process.platform !== "win32" });
    const kill = () => {
      try {
        if (process.platform === "win32" || child.pid === undefined) child.kill("SIGKILL");
        else process.kill(-child.pid, "SIGKILL");
      } catch {
        // It has ended already.
      }
    };
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(payload));
    const stdout = collect(child.stdout);
    const stderr = collect(child.stderr);
    const code = await new Promise<number | null | Error>((resolve) => {
      child.on("error", resolve);
      child.on("close", (status) => resolve(status ?? -1));
      abort.signal.addEventListener("abort", () => resolve(null));
    });
    if (code instanceof Error) return { code: -1, stdout: "", stderr: code.message, ms: elapsed() };
    if (code === null) kill();
    return { code, stdout: stdout(), stderr: stderr(), ms: elapsed() };
  } finally {
    clearTimeout(timer);
  }
}

function collect(stream: Readable): () => string {
  let text = "";
  stream.setEncoding("utf8");
  stream.on("error", () => {});
  stream.on("data", (chunk: string) => {
    if (text.length < maxOutput) text += chunk;
  });
  return () => text.slice(0, maxOutput).trim();
}

/** What doctor can ask the running app about the test session. */
export interface LiveApp {
  hasAsk(sessionId: string): Promise<boolean>;
  /** null if the app does not know the test session. */
  probe(sessionId: string, withReach: boolean): Promise<ProbeReport | null>;
  /** Whether an icon and alerts can be expected at all. */
  readonly shows: { readonly icon: boolean; readonly alerts: boolean };
}

export interface LiveResult {
  readonly request: HookRun;
  /** null if the request did not arrive, so that there was nothing to end. */
  readonly end: HookRun | null;
  /** Milliseconds after the hook was started. null if it did not happen in time. */
  readonly receivedMs: number | null;
  readonly countedMs: number | null;
  readonly alertMs: number | null;
  readonly probe: ProbeReport | null;
  /** True if session and alert were removed again. null if nothing arrived. */
  readonly isRemoved: boolean | null;
}

const receiveTimeoutMs = 2_500;
const showTimeoutMs = 2_500;
const removeTimeoutMs = 2_000;
/** How long the alert stays, so that the user can see it. */
const visibleMs = 1_200;
/** The hook of a request waits for the answer until the request is over. */
const requestTimeoutMs = 9_000;
const lastWaitMs = 1_500;
const endTimeoutMs = 3_000;
const pollMs = 40;

export const probeText = "beckon doctor: a test, it goes away by itself";

export async function runLiveTest(
  hook: HookCall,
  sessionId: string,
  test: Pick<LiveTest, "createRequest" | "createEnd">,
  app: LiveApp,
): Promise<LiveResult> {
  const started = performance.now();
  const elapsed = () => performance.now() - started;
  const abort = new AbortController();
  const requesting = runHook(hook, test.createRequest(sessionId, probeText), requestTimeoutMs, abort);
  const isReceived = await waitFor(() => app.hasAsk(sessionId), receiveTimeoutMs);
  const receivedMs = isReceived ? elapsed() : null;
  let countedMs: number | null = null;
  let alertMs: number | null = null;
  let probe: ProbeReport | null = null;
  if (isReceived) {
    await waitFor(async () => {
      probe = (await app.probe(sessionId, false)) ?? probe;
      if (probe?.isCounted) countedMs ??= elapsed();
      if (probe?.alert || probe?.held) alertMs ??= elapsed();
      return (countedMs !== null || !app.shows.icon) && (alertMs !== null || !app.shows.alerts);
    }, showTimeoutMs);
    const visible = Bun.sleep(alertMs === null ? 0 : visibleMs);
    probe = (await app.probe(sessionId, true)) ?? probe;
    await visible;
  }
  const end = isReceived ? await runHook(hook, test.createEnd(sessionId), endTimeoutMs) : null;
  const isRemoved = isReceived
    ? await waitFor(
        async () => !(await app.hasAsk(sessionId)) && (await app.probe(sessionId, false)) === null,
        removeTimeoutMs,
      )
    : null;
  const timer = setTimeout(() => abort.abort(), lastWaitMs);
  const request = await requesting;
  clearTimeout(timer);
  return { request, end, receivedMs, countedMs, alertMs, probe, isRemoved };
}

const waitFor = (isDone: () => Promise<boolean>, atMostMs: number): Promise<boolean> =>
  waitUntil(isDone, { atMostMs, everyMs: pollMs });

export interface LiveFacts {
  /** The settings file whose command was run. null if beckon was called directly. */
  readonly path: string | null;
  /** Why beckon was called directly. null if it was not. */
  readonly reason: string | null;
  readonly outcome:
    | {
        readonly kind: "up";
        readonly result: LiveResult;
        readonly shows: LiveApp["shows"];
        readonly notifier: NotifierReport | null;
      }
    /** The app does not answer: the event must be in the spool. */
    | { readonly kind: "down"; readonly request: HookRun; readonly isSpooled: boolean };
}

const finding = createFindings("live event", "live");
/** Users notice more than that. A first run from a cold disk takes a tenth of a second. */
const slowMs = 500;

export function checkLiveTest({ path, reason, outcome }: LiveFacts): Finding[] {
  const route = path === null ? `beckon hook called directly, because ${reason}` : `the command in ${path}`;
  const request = outcome.kind === "up" ? outcome.result.request : outcome.request;
  const problems =
    path === null ? checkRun(request, "beckon hook", false) : checkRun(request, "the hook", true);
  if (outcome.kind === "down") {
    return [
      ...problems,
      outcome.isSpooled
        ? finding(
            "ok",
            "kept",
            `nothing is lost meanwhile: the test event is in the spool after ${formatMs(request.ms)} (${route})`,
          )
        : finding("fail", "lost", "the test event is neither in beckon nor in the spool", logHint),
    ];
  }
  const { result } = outcome;
  if (result.receivedMs === null) {
    const fix = "Is the folder the same? See hooks and files above. Run: beckon --install";
    return [...problems, finding("fail", "unheard", "beckon did not receive the test event", fix)];
  }
  const isSlow = request.code === 0 && result.receivedMs > slowMs;
  return [
    ...problems,
    isSlow
      ? finding(
          "warn",
          "slow",
          `received after ${formatMs(result.receivedMs)}`,
          "The machine may be busy: run doctor again",
        )
      : finding("ok", "heard", `from hook to state in ${formatMs(result.receivedMs)} (${route})`),
    ...findShown(outcome),
    ...findRemoved(result),
  ];
}

const logHint = "See what the hook reports: beckon status";
const formatMs = (value: number): string => `${Math.max(1, Math.round(value))} ms`;

/** Any exit code but 0 is an error line in the user's terminal, and any output may become text in the model's context. */
function checkRun(run: HookRun, name: string, isRegistered: boolean): Finding[] {
  const findings: Finding[] = [];
  const fix = isRegistered ? "Run: beckon --install" : logHint;
  if (run.code === null) {
    const seconds = Math.round(run.ms / 100) / 10;
    const text = `${name} did not end by itself within ${seconds} s: the agent would wait for it`;
    findings.push(finding("fail", "hangs", text, fix));
  } else if (run.code !== 0) {
    findings.push(finding("fail", "exit", `${name} ended with ${run.code}${quoteOutput(run.stderr)}`, fix));
  }
  if (run.stdout !== "" && run.stdout !== "{}") {
    const text = `${name} printed${quoteOutput(run.stdout)}: the agent would read that`;
    findings.push(finding("fail", "stdout", text, fix));
  }
  return findings;
}

const quoteOutput = (text: string): string => (text === "" ? "" : `: ${text.slice(0, 200)}`);

function findShown({ result, shows, notifier }: Extract<LiveFacts["outcome"], { kind: "up" }>): Finding[] {
  const { probe, countedMs, alertMs } = result;
  const findings: Finding[] = [];
  if (shows.icon) {
    findings.push(
      countedMs === null
        ? finding(
            "fail",
            "uncounted",
            "the icon's menu did not show the test",
            "See beckon's log, or restart it: beckon restart",
          )
        : finding("ok", "counted", `counted by the icon after ${formatMs(countedMs)}`),
    );
  }
  if (!shows.alerts) return findings;
  const namesAlerts = notifier?.namesAlerts === true;
  const handle = probe?.alert?.handle ?? null;
  if (probe?.held != null) {
    findings.push(
      finding("warn", "held", `its alert was not shown: ${probe.held}`, "See notifications below"),
    );
  } else if (!probe?.alert || alertMs === null || (namesAlerts && handle === null)) {
    findings.push(
      finding("fail", "no-alert", "no alert was shown", "See notifications below, and beckon's log"),
    );
  } else {
    const number = handle === null ? "" : ` (number ${handle.split(" ").at(-1)})`;
    findings.push(
      finding("ok", "alert", `alert accepted by the desktop${number} after ${formatMs(alertMs)}`),
    );
  }
  return findings;
}

function findRemoved({ isRemoved, end }: LiveResult): Finding[] {
  if (isRemoved === null) return [];
  if (!isRemoved) {
    return [
      finding("fail", "stays", "the test did not go away after its end", "Restart beckon: beckon restart"),
    ];
  }
  return [
    finding("ok", "gone", "alert and session removed again"),
    ...(end ? checkRun(end, "the hook, at the end,", true) : []),
  ];
}
