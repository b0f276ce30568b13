/** Prompts that are sent at any moment around a dialog's appearance: none of them may answer it. */
import { expect } from "bun:test";
import type { PromptView } from "../../src/core/interfaces/wire.ts";
import { parseJsonLines } from "../json-lines.ts";
import { chooseSeed, createRandom } from "../random.ts";
import { letTimePass, waitUntil } from "../wait-until.ts";
import type { Beckon } from "./beckon.ts";

export interface RaceStage {
  readonly beckon: Pick<Beckon, "run">;
  /** Resolves when the session takes the next prompt. */
  waitUntilReady(): Promise<void>;
  /** Lets the agent ask for permission to run this. Resolves when the dialog is on the screen. */
  openDialog(command: string): Promise<void>;
  dismissDialog(): Promise<void>;
  /** What the dialogs' commands have made. */
  listFiles(): Promise<readonly string[]>;
}

/** A dialog is there within this time, mostly. */
const maxDelayMs = 4_000;
/** Nothing is approved late either. */
const lateMs = 1_000;
const settledMs = 30_000;

export async function runRaces(stage: RaceStage, count: number): Promise<void> {
  const seed = chooseSeed();
  console.log(`SEED=${seed}`);
  const random = createRandom(seed);
  const list = async (): Promise<readonly PromptView[]> =>
    parseJsonLines((await stage.beckon.run("send", "--list", "--json")).stdout);
  const said: Record<string, number> = {};
  for (let race = 0; race < count; race++) {
    await stage.waitUntilReady();
    const opened = stage.openDialog(`touch asked-${race}`);
    await letTimePass(random.between(0, maxDelayMs), "a prompt comes at any moment around the dialog");
    const when = random.chance(0.5) ? ["--when", "idle"] : [];
    const { stdout, stderr } = await stage.beckon.run("send", "proj", ...when, `SAY race ${race}`);
    const [word = ""] = /^(?:beckon: )?\w+/.exec(stdout + stderr) ?? [];
    said[word] = (said[word] ?? 0) + 1;
    await opened;
    await letTimePass(lateMs, "an approval would have an effect by now");
    expect(await stage.listFiles()).toEqual([]);
    await stage.dismissDialog();
    const isSettled = async () => (await list()).every(({ state }) => state !== "queued" && state !== "sent");
    await waitUntil(isSettled, settledMs, "an outcome of the prompt", 250);
    for (const { id, state } of await list())
      if (state !== "delivered") await stage.beckon.run("send", "--remove", id);
  }
  expect(await stage.listFiles()).toEqual([]);
  console.log(`${count} races, nothing approved: ${JSON.stringify(said)}`);
}
