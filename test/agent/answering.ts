/** Opens dialogs of the CLI, answers them through beckon, and checks that they have closed. */
import { expect } from "bun:test";
import type { AskView } from "../../src/core/view/session-view.ts";
import { type Sandbox, waitFor } from "./sandbox.ts";

export interface DialogAsk {
  readonly session: string;
  readonly answerId: string;
}

/** Types the prompt and waits until its dialog is on the screen and beckon can answer it. */
export async function openAsk(sandbox: Sandbox, prompt: string, dialog: RegExp): Promise<DialogAsk> {
  await sandbox.typeLine(prompt);
  await sandbox.waitForScreen(dialog);
  return await waitForAsk(sandbox);
}

export async function waitForAsk(sandbox: Sandbox): Promise<DialogAsk> {
  await waitFor("an answerable ask", () => listAnswerable(sandbox).length > 0);
  return listAnswerable(sandbox)[0] as DialogAsk;
}

export function listAnswerable(sandbox: Sandbox): DialogAsk[] {
  return (sandbox.recorder.shown.at(-1)?.sessions ?? []).flatMap(({ sessionId, asks }) =>
    asks.flatMap(({ answerId }) => (answerId ? [{ session: sessionId, answerId }] : [])),
  );
}

/** Runs `beckon answer` and returns its output. */
export async function answerByCommand(
  sandbox: Sandbox,
  { session }: DialogAsk,
  ...args: readonly string[]
): Promise<string> {
  const { stdout, stderr, code } = await sandbox.beckon.run("answer", session, ...args);
  if (code !== 0) throw new Error(`beckon answer ${args.join(" ")}: ${stderr}`);
  return stdout.trim();
}

export async function answerByApi(
  sandbox: Sandbox,
  { session, answerId }: DialogAsk,
  answer: object,
): Promise<void> {
  const given = { ask: answerId, ...answer };
  const { status, body } = await sandbox.beckon.post(`/api/sessions/${session}/answer`, given);
  if (status !== 200) throw new Error(`the API answers ${status}: ${body}`);
}

export const listHooks = (sandbox: Sandbox): string[] =>
  sandbox.listProcesses().filter((line) => /^\S+\/beckon hook claude$/.test(line));

export const listOpenAsks = (sandbox: Sandbox): readonly AskView[] =>
  sandbox.recorder.shown.at(-1)?.sessions.flatMap((session) => session.asks) ?? [];

/** Waits until the dialog is gone, its hook has exited and beckon shows no ask. */
export async function expectClosed(sandbox: Sandbox, dialog: RegExp, withinMs?: number): Promise<void> {
  await sandbox.waitUntilHidden(dialog);
  await waitForHookEnd(sandbox, withinMs);
  await sandbox.waitForStatus("idle");
  await sandbox.waitForState("active", "interactable");
  expect(listOpenAsks(sandbox)).toEqual([]);
}

export const waitForHookEnd = (sandbox: Sandbox, withinMs?: number): Promise<void> =>
  waitFor("the exit of the waiting hook", () => listHooks(sandbox).length === 0, withinMs);

/** Both the command and the API refuse an answer to an ask that has closed. */
export async function expectTooLate(sandbox: Sandbox, { session, answerId }: DialogAsk): Promise<void> {
  const named = await sandbox.beckon.run("answer", session, "allow", "--ask", answerId);
  expect(named).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("this ask is gone") });
  const { status, body } = await sandbox.beckon.post(`/api/sessions/${session}/answer`, {
    ask: answerId,
    do: "allow",
  });
  expect(status).toBe(409);
  expect(body).toContain("gone");
}

/** The tool results in the last request to the model. */
export const readToolResult = (sandbox: Sandbox): string => sandbox.readRequests().at(-1)?.results ?? "";
