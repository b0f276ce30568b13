/** What beckon and a person at the terminal do with one dialog, and what has to be so once it is answered. */
import { expect } from "bun:test";
import type { AskSnapshot } from "../../src/core/view/snapshot.ts";
import { type Sandbox, until } from "./sandbox.ts";

export interface Open {
  readonly session: string;
  readonly answerId: string;
}

/** Types it, and waits until its dialog is on the screen and beckon can answer it. */
export async function asks(sandbox: Sandbox, prompt: string, dialog: RegExp): Promise<Open> {
  await sandbox.type(prompt);
  await sandbox.shows(dialog);
  return await answerable(sandbox);
}

export async function answerable(sandbox: Sandbox): Promise<Open> {
  await until("an ask that can be answered", () => answerableIn(sandbox).length > 0);
  return answerableIn(sandbox)[0] as Open;
}

export function answerableIn(sandbox: Sandbox): Open[] {
  return (sandbox.recorder.shown.at(-1)?.sessions ?? []).flatMap(({ sessionId, asks }) =>
    asks.flatMap(({ answerId }) => (answerId ? [{ session: sessionId, answerId }] : [])),
  );
}

/** `beckon answer`: what it says. */
export async function answers(
  sandbox: Sandbox,
  { session }: Open,
  ...words: readonly string[]
): Promise<string> {
  const { stdout, stderr, code } = await sandbox.beckon.call("answer", session, ...words);
  if (code !== 0) throw new Error(`beckon answer ${words.join(" ")}: ${stderr}`);
  return stdout.trim();
}

/** The same as a request to the API. */
export async function posts(sandbox: Sandbox, { session, answerId }: Open, answer: object): Promise<void> {
  const given = { ask: answerId, ...answer };
  const { status, body } = await sandbox.beckon.post(`/api/sessions/${session}/answer`, given);
  if (status !== 200) throw new Error(`the API answers ${status}: ${body}`);
}

export const hooksOf = (sandbox: Sandbox): string[] =>
  sandbox.processes().filter((line) => /^\S+\/beckon hook claude$/.test(line));

export const openAsks = (sandbox: Sandbox): readonly AskSnapshot[] =>
  sandbox.recorder.shown.at(-1)?.sessions.flatMap((session) => session.asks) ?? [];

/** The dialog is gone, no hook waits, and nobody is told of it any more. */
export async function isOver(sandbox: Sandbox, dialog: RegExp, withinMs?: number): Promise<void> {
  await sandbox.hides(dialog);
  await hookEnds(sandbox, withinMs);
  await sandbox.is("idle");
  await sandbox.showsState("active", "interactable");
  expect(openAsks(sandbox)).toEqual([]);
}

export const hookEnds = (sandbox: Sandbox, withinMs?: number): Promise<void> =>
  until("the end of the hook that waits", () => hooksOf(sandbox).length === 0, withinMs);

/** It is too late, and whoever answers hears so. */
export async function isTooLate(sandbox: Sandbox, { session, answerId }: Open): Promise<void> {
  const named = await sandbox.beckon.call("answer", session, "allow", "--ask", answerId);
  expect(named).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("this ask is gone") });
  const { status, body } = await sandbox.beckon.post(`/api/sessions/${session}/answer`, {
    ask: answerId,
    do: "allow",
  });
  expect(status).toBe(409);
  expect(body).toContain("gone");
}

/** What the model has heard of its last tool. */
export const heardByModel = (sandbox: Sandbox): string => sandbox.requests().at(-1)?.results ?? "";
