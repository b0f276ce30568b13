/** Sends doctor's test event through the hook of each registered agent, and looks for it in the app or in the spool. */
import { statSync } from "node:fs";
import type { Agent, Examination } from "../agents/agent.ts";
import type { Finding } from "../agents/finding.ts";
import { limits } from "../core/limits.ts";
import { createProbeId } from "../core/session/probe.ts";
import { findLiveFindings, type LiveFacts, probeText, runHook, runLiveTest } from "../setup/doctor/live.ts";
import type { AppReport, ProbeReport } from "../setup/doctor/report.ts";
import { readSmallFile } from "../storage/files.ts";
import type { Paths } from "../storage/paths.ts";
import { removeLastSpoolLine } from "../storage/spool.ts";
import { readEndpoint } from "../system/endpoint.ts";
import type { Env } from "../system/home.ts";
import { isCompiled } from "../system/launch.ts";
import { createLiveApp } from "./doctor-app.ts";

export interface ExaminedAgent {
  readonly agent: Agent;
  readonly examination: Examination;
}

export interface LiveTestsOptions {
  readonly env: Env;
  readonly paths: Paths;
  readonly agents: readonly ExaminedAgent[];
  /** null if the app is not running or does not answer. */
  readonly report: AppReport | null;
}

interface TestedAgent {
  readonly facts: LiveFacts;
  readonly probe: ProbeReport | null;
}

const hookTimeoutMs = 4_000;

/** If no agent is registered, the first one is tested by calling beckon directly. */
export async function runLiveTests(
  options: LiveTestsOptions,
): Promise<{ readonly findings: readonly Finding[]; readonly probe: ProbeReport | null }> {
  const { agents } = options;
  const registered = agents.filter(({ examination }) => examination.isRegistered);
  const tested = registered.length > 0 ? registered : agents.slice(0, 1);
  const findings: Finding[] = [];
  let probe: ProbeReport | null = null;
  // One after another: two alerts at once would be shown as one.
  for (const one of tested) {
    const result = await testAgent(one, options);
    const about = tested.length > 1 ? `${one.agent.name}: ` : "";
    findings.push(...findLiveFindings(result.facts).map((found) => ({ ...found, text: about + found.text })));
    probe ??= result.probe;
  }
  return { findings, probe };
}

async function testAgent(
  { agent, examination }: ExaminedAgent,
  { env, paths, report }: LiveTestsOptions,
): Promise<TestedAgent> {
  const { liveTest: test } = examination;
  const { path, reason } = test;
  const sessionId = createProbeId(crypto.randomUUID());
  const hook = {
    command: test.command ?? [...ownProgram(), "hook", agent.id],
    env: test.createEnv(env, sessionId, process.pid),
  };
  if (report === null) {
    const before = spoolLength(paths);
    const request = await runHook(hook, test.createRequest(sessionId, probeText), hookTimeoutMs);
    const isSpooled = isInSpool(paths, sessionId);
    if (isSpooled && readEndpoint(paths) === null) removeLastSpoolLine(paths.spool, before, sessionId);
    return { facts: { path, reason, outcome: { kind: "down", request, isSpooled } }, probe: null };
  }
  const app = createLiveApp(paths, report, agent.id);
  const result = await runLiveTest(hook, sessionId, test, app);
  const outcome = { kind: "up" as const, result, shows: app.shows, notifier: report.notifier };
  return { facts: { path, reason, outcome }, probe: result.probe };
}

/** The binary itself; from source, Bun with the file it was started with. */
function ownProgram(): string[] {
  return isCompiled() ? [process.execPath] : [process.execPath, Bun.main];
}

const spoolLength = ({ spool }: Paths): number => statSync(spool, { throwIfNoEntry: false })?.size ?? 0;

function isInSpool({ spool }: Paths, sessionId: string): boolean {
  try {
    return readSmallFile(spool, limits.maxSpoolBytes * 2).includes(sessionId);
  } catch {
    return false;
  }
}
