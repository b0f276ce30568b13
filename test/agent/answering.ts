/** What beckon and a person at the terminal do with one dialog, and what has to be so once it is answered. */
import { expect } from "bun:test";
import type { AskSnapshot } from "../../src/core/view/snapshot.ts";
import { until, type World } from "./world.ts";

export interface Open {
  readonly session: string;
  readonly answerId: string;
}

/** Types it, and waits until its dialog is on the screen and beckon can answer it. */
export async function asks(world: World, prompt: string, dialog: RegExp): Promise<Open> {
  await world.type(prompt);
  await world.shows(dialog);
  return await answerable(world);
}

export async function answerable(world: World): Promise<Open> {
  await until("an ask that can be answered", () => answerableIn(world).length > 0);
  return answerableIn(world)[0] as Open;
}

export function answerableIn(world: World): Open[] {
  return (world.recorder.shown.at(-1)?.sessions ?? []).flatMap(({ sessionId, asks }) =>
    asks.flatMap(({ answerId }) => (answerId ? [{ session: sessionId, answerId }] : [])),
  );
}

/** `beckon answer`: what it says. */
export async function answers(world: World, { session }: Open, ...words: readonly string[]): Promise<string> {
  const { stdout, stderr, code } = await world.beckon.call("answer", session, ...words);
  if (code !== 0) throw new Error(`beckon answer ${words.join(" ")}: ${stderr}`);
  return stdout.trim();
}

/** The same as a request to the API. */
export async function posts(world: World, { session, answerId }: Open, answer: object): Promise<void> {
  const given = { ask: answerId, ...answer };
  const { status, body } = await world.beckon.post(`/api/sessions/${session}/answer`, given);
  if (status !== 200) throw new Error(`the API answers ${status}: ${body}`);
}

export const hooksOf = (world: World): string[] =>
  world.processes().filter((line) => /^\S+\/beckon hook claude$/.test(line));

export const openAsks = (world: World): readonly AskSnapshot[] =>
  world.recorder.shown.at(-1)?.sessions.flatMap((session) => session.asks) ?? [];

/** The dialog is gone, no hook waits, and nobody is told of it any more. */
export async function isOver(world: World, dialog: RegExp, withinMs?: number): Promise<void> {
  await world.hides(dialog);
  await hookEnds(world, withinMs);
  await world.is("idle");
  await world.showsState("active", "interactable");
  expect(openAsks(world)).toEqual([]);
}

export const hookEnds = (world: World, withinMs?: number): Promise<void> =>
  until("the end of the hook that waits", () => hooksOf(world).length === 0, withinMs);

/** It is too late, and whoever answers hears so. */
export async function isTooLate(world: World, { session, answerId }: Open): Promise<void> {
  const named = await world.beckon.call("answer", session, "allow", "--ask", answerId);
  expect(named).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("this ask is gone") });
  const { status, body } = await world.beckon.post(`/api/sessions/${session}/answer`, {
    ask: answerId,
    do: "allow",
  });
  expect(status).toBe(409);
  expect(body).toContain("gone");
}

/** What the model has heard of its last tool. */
export const heardByModel = (world: World): string => world.requests().at(-1)?.results ?? "";
