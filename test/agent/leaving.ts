/** Leaves the CLI while an ask is open, and checks what is left. */
import { expect } from "bun:test";
import type { AnswerLogEntry } from "../../src/streams/answer-log-entry.ts";
import { parseJsonLines } from "../json-lines.ts";
import { type DialogAsk, expectTooLate, listOpenAsks, waitForAsk, waitForHookEnd } from "./answering.ts";
import { defaultMode, type Sandbox, waitFor } from "./sandbox.ts";
import { dialog } from "./scenario.ts";

/** beckon waits 2 s for a better explanation before it logs how an ask ended. */
const timeoutMs = 5_000;

/** Arguments for startCli. `left` on the screen shows that the CLI has exited. */
export const exitEcho = `${defaultMode}; echo left`;

/**
 * Types /exit and opens an ask behind it. In a dialog, /exit would be input of the dialog. Typed while the model works and a
 * background shell runs, it makes the CLI ask whether to leave. The model's next request then waits behind that dialog, and
 * beckon can already answer it.
 */
export async function openAskBehindExit(sandbox: Sandbox): Promise<DialogAsk> {
  await sandbox.startCli(exitEcho);
  await sandbox.typeLine("DO background sleep 60");
  await sandbox.waitForStatus("shell");
  await sandbox.typeLine("DO after going bash touch x");
  await sandbox.waitForFile("going.awaited");
  await sandbox.typeLine("/exit");
  await sandbox.waitForScreen(dialog.leaving);
  await sandbox.runShell("touch going");
  return await waitForAsk(sandbox);
}

/** Waits until the CLI and its processes are gone, then checks that its asks are. `open` is null if beckon could not answer it. */
export async function expectExited(sandbox: Sandbox, open: DialogAsk | null): Promise<void> {
  await sandbox.waitForScreen(/^left/m);
  await sandbox.waitForStatus("gone");
  await waitForHookEnd(sandbox);
  await waitFor(
    "the exit of all processes of the CLI",
    () => !sandbox.listProcesses().some((line) => /claude/.test(line)),
  );
  await sandbox.waitForState("completed");
  expect(listOpenAsks(sandbox)).toEqual([]);
  if (open) await expectTooLate(sandbox, open);
}

/** Waits until `count` asks have ended and returns their outcomes as in `beckon log`. */
export async function readOutcomes(sandbox: Sandbox, count = 1): Promise<string[]> {
  const deadline = performance.now() + timeoutMs;
  let outcomes: string[] = [];
  do {
    const { stdout } = await sandbox.beckon.run("log", "--json");
    outcomes = parseJsonLines<AnswerLogEntry>(stdout).flatMap(({ what, outcome, by }) =>
      what === "answered" ? [by ? `${outcome} (${by})` : outcome] : [],
    );
  } while (outcomes.length < count && performance.now() < deadline);
  return outcomes;
}
