/** Tests that drive the real CLI, and compare what beckon showed with the CLI's own status. */
import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { judge, type Verdict } from "../replay/judge.ts";
import type { Shown } from "../replay/replay.ts";
import { cliVersion, testWithCli } from "./cli.ts";
import { openSandbox, type Sandbox, type SandboxOptions } from "./sandbox.ts";

/** Includes the hook, the status file, and looking at what beckon shows every 30 ms. */
const withinMs = 600;

const verdicts: Verdict[] = [];

export function formatSummary(): string {
  const sum = (of: "right" | "all") => verdicts.reduce((n, verdict) => n + verdict[of], 0);
  return `real CLI, within ${withinMs} ms: ${sum("right")} of ${sum("all")} status changes shown right, ${verdicts.length} scenarios`;
}

type Drive = (sandbox: Sandbox) => Promise<void>;

const timeoutMs = 60_000;

/** The texts by which the CLI's dialogs are recognised. */
export const dialog = {
  permission: /Do you want to proceed/,
  question: /Enter to select/,
  plan: /Would you like to proceed/,
  form: /What is your name/,
  /** Shown at /exit while a shell or a subagent runs. The next dialog waits behind it. */
  leaving: /Background work is running/,
};

/**
 * testScenario: beckon runs all the time. It must show every status change of the CLI in time, and exactly these dialogs.
 * testWithoutErrors: there must be no hook error on the screen, and no warning in beckon's logs. testScenario checks that too.
 * testDriven: only runs `drive`.
 */
export function createCliTests(...versions: readonly string[]) {
  const test = testWithCli(...(versions.length > 0 ? versions : [cliVersion]));
  return {
    testScenario: (title: string, dialogs: readonly string[], drive: Drive, options?: SandboxOptions) =>
      test(title, () => runJudged(title, dialogs, drive, options), timeoutMs),
    testWithoutErrors: (title: string, drive: Drive, options?: SandboxOptions, withinMs = timeoutMs) =>
      test(title, () => runInSandbox(title, withoutErrors(drive), options), withinMs),
    testDriven: (title: string, drive: Drive, options?: SandboxOptions, withinMs = timeoutMs) =>
      test(title, () => runInSandbox(title, drive, options), withinMs),
  };
}

export async function runInSandbox(title: string, drive: Drive, options?: SandboxOptions): Promise<void> {
  const sandbox = await openSandbox(options);
  try {
    await drive(sandbox);
    if (recordTo) writeRows(join(recordTo, createFileName(title)), sandbox.recorder.recording(title).rows);
  } catch (error) {
    await saveFailure(title, sandbox);
    throw error;
  } finally {
    await sandbox.close();
  }
}

function runJudged(
  title: string,
  dialogs: readonly string[],
  drive: Drive,
  options?: SandboxOptions,
): Promise<void> {
  const driveAndJudge = async (sandbox: Sandbox): Promise<void> => {
    await sandbox.beckon.start();
    await drive(sandbox);
    await sandbox.dwell();
    const { recorder } = sandbox;
    recorder.mark("end");
    const verdict = judge(recorder.recording(title), recorder.shown, withinMs, { isLive: true });
    verdicts.push(verdict);
    expect(verdict.wrong).toEqual([]);
    expect(verdict.all).toBeGreaterThan(0);
    expect(listDialogs(recorder.shown)).toEqual([...dialogs].sort());
  };
  return runInSandbox(title, withoutErrors(driveAndJudge), options);
}

/** The dialogs that were shown, one per ask id, with its last text. Unattended sessions have none. */
function listDialogs(shown: readonly Shown[]): string[] {
  const texts = new Map<string, string>();
  for (const { sessionId, asks, attended } of shown.flatMap(({ sessions }) => sessions)) {
    for (const { id, kind, tool, summary } of attended === false ? [] : asks) {
      if (kind !== "idle") texts.set(`${sessionId} ${id}`, `${kind} ${tool}: ${summary}`);
    }
  }
  return [...texts.values()].sort();
}

export const withoutErrors =
  (drive: Drive): Drive =>
  async (sandbox) => {
    await drive(sandbox);
    expect(await sandbox.readHookErrors()).toEqual([]);
    expect(sandbox.beckon.readWarnings()).toEqual([]);
  };

/** RECORD_TO=FOLDER saves the rows of every scenario, as a new recording for test/fixtures/recordings or to debug it. */
const recordTo = process.env.RECORD_TO;

/** Saves the recording with what was shown, and prints the screen. */
async function saveFailure(title: string, sandbox: Sandbox): Promise<void> {
  const file = join(tmpdir(), `beckon-failed-${createFileName(title)}`);
  const shown = sandbox.recorder.shown.map((row) => ({ ...row, src: "shown" }));
  writeRows(file, [...sandbox.recorder.recording(title).rows, ...shown]);
  const screen = await sandbox.readScreen().catch(String);
  console.log(`The recording is in ${file}. The screen:\n${screen.replaceAll(/\n{2,}/g, "\n")}`);
}

const createFileName = (title: string): string =>
  `${title.toLowerCase().replaceAll(/\W+/g, "-").slice(0, 60)}.jsonl`;

function writeRows(file: string, rows: readonly { readonly ms: number }[]): void {
  const lines = rows.toSorted((a, b) => a.ms - b.ms).map((row) => `${JSON.stringify(row)}\n`);
  writeFileSync(file, lines.join(""));
}
