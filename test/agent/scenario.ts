/** Scenarios on the real CLI: driven, and then judged by the CLI's own status. */
import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { judge, type Verdict } from "../replay/judge.ts";
import type { Shown } from "../replay/play.ts";
import { cliVersion, testWithCli } from "./cli.ts";
import { openSandbox, type Sandbox, type SandboxOptions } from "./sandbox.ts";

/** Hooks, file, and the `status` that is asked every 60 ms: what a person would call at once. */
const withinMs = 600;

const verdicts: Verdict[] = [];

export function summary(): string {
  const sum = (of: "right" | "all") => verdicts.reduce((n, verdict) => n + verdict[of], 0);
  return `real CLI, within ${withinMs} ms: ${sum("right")} of ${sum("all")} status changes shown right, ${verdicts.length} scenarios`;
}

type Drive = (sandbox: Sandbox) => Promise<void>;

const timeoutMs = 60_000;

/** What the CLI shows when it asks. */
export const dialog = {
  permission: /Do you want to proceed/,
  question: /Enter to select/,
  plan: /Would you like to proceed/,
  form: /What is your name/,
  /** What it asks at /exit while a shell or a subagent runs: the next dialog waits behind it. */
  leaving: /Background work is running/,
};

/**
 * scenario: beckon runs all the while, shows every change of the CLI's status in time, and these dialogs, each once, by
 * its name. undisturbed: only that nobody complains, neither the CLI on the screen nor beckon in its logs. driven: not
 * even that.
 */
export function scenariosWithCli(...versions: readonly string[]) {
  const test = testWithCli(...(versions.length > 0 ? versions : [cliVersion]));
  return {
    scenario: (title: string, dialogs: readonly string[], drive: Drive, options?: SandboxOptions) =>
      test(title, () => judged(title, dialogs, drive, options), timeoutMs),
    undisturbed: (title: string, drive: Drive, options?: SandboxOptions, withinMs = timeoutMs) =>
      test(title, () => runInSandbox(title, undisturbedBy(drive), options), withinMs),
    driven: (title: string, drive: Drive, options?: SandboxOptions, withinMs = timeoutMs) =>
      test(title, () => runInSandbox(title, drive, options), withinMs),
  };
}

export async function runInSandbox(title: string, drive: Drive, options?: SandboxOptions): Promise<void> {
  const sandbox = await openSandbox(options);
  try {
    await drive(sandbox);
    if (recordTo) write(join(recordTo, fileName(title)), sandbox.recorder.recording(title).rows);
  } catch (error) {
    await keepFailed(title, sandbox);
    throw error;
  } finally {
    await sandbox.close();
  }
}

function judged(
  title: string,
  dialogs: readonly string[],
  drive: Drive,
  options?: SandboxOptions,
): Promise<void> {
  const driveAndJudge = async (sandbox: Sandbox): Promise<void> => {
    await sandbox.beckon.start();
    await drive(sandbox);
    await sandbox.linger();
    const { recorder } = sandbox;
    recorder.mark("end");
    const verdict = judge(recorder.recording(title), recorder.shown, withinMs, { isLive: true });
    verdicts.push(verdict);
    expect(verdict.wrong).toEqual([]);
    expect(verdict.all).toBeGreaterThan(0);
    expect(dialogsIn(recorder.shown)).toEqual([...dialogs].sort());
  };
  return runInSandbox(title, undisturbedBy(driveAndJudge), options);
}

/** The dialogs that were shown, each by its id, with the last text it had. What a machine runs has none. */
function dialogsIn(shown: readonly Shown[]): string[] {
  const texts = new Map<string, string>();
  for (const { sessionId, asks, attended } of shown.flatMap(({ sessions }) => sessions)) {
    for (const { id, kind, tool, summary } of attended === false ? [] : asks) {
      if (kind !== "idle") texts.set(`${sessionId} ${id}`, `${kind} ${tool}: ${summary}`);
    }
  }
  return [...texts.values()].sort();
}

export const undisturbedBy =
  (drive: Drive): Drive =>
  async (sandbox) => {
    await drive(sandbox);
    expect(await sandbox.hookErrors()).toEqual([]);
    expect(sandbox.beckon.complaints()).toEqual([]);
  };

/** RECORD_TO=FOLDER keeps every scenario's rows: a new one for test/fixtures/recordings, or to see what happened. */
const recordTo = process.env.RECORD_TO;

/** For whoever has to find out why: what happened, with what was shown between, and the screen. */
async function keepFailed(title: string, sandbox: Sandbox): Promise<void> {
  const file = join(tmpdir(), `beckon-failed-${fileName(title)}`);
  const shown = sandbox.recorder.shown.map((row) => ({ ...row, src: "shown" }));
  write(file, [...sandbox.recorder.recording(title).rows, ...shown]);
  const screen = await sandbox.screen().catch(String);
  console.log(`${file} has what happened. The screen:\n${screen.replaceAll(/\n{2,}/g, "\n")}`);
}

const fileName = (title: string): string =>
  `${title.toLowerCase().replaceAll(/\W+/g, "-").slice(0, 60)}.jsonl`;

function write(file: string, rows: readonly { readonly ms: number }[]): void {
  const lines = rows.toSorted((a, b) => a.ms - b.ms).map((row) => `${JSON.stringify(row)}\n`);
  writeFileSync(file, lines.join(""));
}
