/** A state folder as beckon leaves it when it is killed, and what must be shown of it after the next start. */
import { expect } from "bun:test";
import { cpSync } from "node:fs";
import { afterItAsked, briefOf, done, untilItAsks, waiting } from "./story.ts";
import { createWorld, type World } from "./world.ts";

let template: World | null = null;

/** With a snapshot, the one before it, and a journal that has more. */
async function liveTwice(): Promise<World> {
  const world = await createWorld();
  const live = async (payloads: readonly object[], end: "stop" | "kill") => {
    const app = await world.start();
    for (const payload of payloads) expect((await world.post(payload)).status).toBe(200);
    await app[end]();
  };
  await live(untilItAsks("first", "make"), "stop");
  await live(untilItAsks("second", "ls"), "stop");
  await live(afterItAsked("first", "make", "made"), "kill");
  return world;
}

export async function createUsedWorld(): Promise<World> {
  template ??= await liveTwice();
  const world = await createWorld();
  cpSync(template.home, world.home, { recursive: true });
  return world;
}

export async function destroyTemplate(): Promise<void> {
  await template?.destroy();
  template = null;
}

export async function expectEverything(world: World): Promise<void> {
  const sessions = await world.status();
  expect(briefOf(sessions, "first")).toEqual(done("make", "made"));
  expect(briefOf(sessions, "second")).toEqual(waiting("ls"));
}

/** Root obeys the modes of files only without these. */
export const withoutPrivilege: readonly string[] =
  process.getuid?.() === 0 ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] : [];
export const privilegeNeeds = process.getuid?.() === 0 ? ["setpriv"] : [];
