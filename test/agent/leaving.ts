/** A person leaves while something is asked, and what has to be so then. */
import { expect } from "bun:test";
import type { AnswerLogEntry } from "../../src/answers/log.ts";
import { answerable, hookEnds, isTooLate, type Open, openAsks } from "./answering.ts";
import { manual, type Sandbox, until } from "./sandbox.ts";
import { dialog } from "./scenario.ts";

/** beckon waits 2 s for whoever knows better. */
const patienceMs = 5_000;

/** For startCli: says when the shell is back. */
export const leavable = `${manual}; echo left`;

/**
 * A real /exit with an ask open. At a dialog itself its keys are the dialog's; but typed while the model works and a
 * shell runs, it makes the CLI ask whether to leave, and what the model wants then waits behind that, held by beckon.
 */
export async function asksBehindExit(sandbox: Sandbox): Promise<Open> {
  await sandbox.startCli(leavable);
  await sandbox.type("DO background sleep 60");
  await sandbox.is("shell");
  await sandbox.type("DO after going bash touch x");
  await sandbox.finds("going.awaited");
  await sandbox.type("/exit");
  await sandbox.shows(dialog.leaving);
  await sandbox.does("touch going");
  return await answerable(sandbox);
}

/** The CLI and all that it started are gone, and so is what it asked. null: it was nothing that could be answered. */
export async function isLeft(sandbox: Sandbox, open: Open | null): Promise<void> {
  await sandbox.shows(/^left/m);
  await sandbox.is("gone");
  await hookEnds(sandbox);
  await until(
    "the end of all that it started",
    () => !sandbox.processes().some((line) => /claude/.test(line)),
  );
  await sandbox.showsState("completed");
  expect(openAsks(sandbox)).toEqual([]);
  if (open) await isTooLate(sandbox, open);
}

/** How what was asked ended, in the words of `beckon log`, once so much has ended. */
export async function endsInLog(sandbox: Sandbox, count = 1): Promise<string[]> {
  const patience = performance.now() + patienceMs;
  let ends: string[] = [];
  do {
    const { stdout } = await sandbox.beckon.call("log", "--json");
    const entries = stdout
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as AnswerLogEntry);
    ends = entries.flatMap(({ what, outcome, by }) =>
      what === "answered" ? [by ? `${outcome} (${by})` : outcome] : [],
    );
  } while (ends.length < count && performance.now() < patience);
  return ends;
}
