/** What can happen to beckon, its binary or the person's folder while a session runs. */
import { expect } from "bun:test";
import { home } from "./namespace.ts";
import { dialog } from "./scenario.ts";
import type { World } from "./world.ts";

export interface Mishap {
  readonly title: string;
  readonly happens: (world: World) => Promise<void>;
  /** Whether hooks that come after it can still leave their event with beckon, or in the spool. */
  readonly keepsEvents: boolean;
}

const state = ".local/state/beckon";
const bin = ".local/bin/beckon";

/** For comparison. */
export const allWell: Mishap = { title: "beckon runs", happens: async () => {}, keepsEvents: true };

export const mishaps: readonly Mishap[] = [
  { title: "beckon is killed", happens: (world) => world.beckon.kill(), keepsEvents: true },
  { title: "beckon hangs", happens: (world) => world.beckon.hang(), keepsEvents: true },
  {
    title: "the disk is full",
    happens: (world) => world.does(`head -c 9m /dev/zero >${state}/rest 2>/dev/null || true`),
    keepsEvents: false,
  },
  { title: "the binary is removed", happens: (world) => world.does(`rm ${bin}`), keepsEvents: false },
  {
    title: "the binary is broken",
    happens: (world) => world.does(`rm ${bin} && echo nonsense >${bin} && chmod +x ${bin}`),
    keepsEvents: false,
  },
];

/** Older CLIs start no hook at all in such a folder, and say so of everyone's. */
export const folderGone: Mishap = {
  title: "the project's folder is removed",
  happens: (world) => world.does("rm -r proj"),
  keepsEvents: true,
};

const events = ["UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "Stop", "SessionEnd"];

/** One session: a turn, the mishap, another turn, and the end. The world is one without installed hooks. */
export const surviving =
  ({ happens, keepsEvents }: Mishap) =>
  async (world: World): Promise<void> => {
    const heard = () => events.reduce((sum, event) => sum + world.beckon.heard(event), 0);
    // On a disk of its own, so that it can be full.
    await world.does(`mkdir -p ${state} && mount -t tmpfs -o size=8m tmpfs ${home}/${state}`);
    await world.beckon.install();
    await world.beckon.start();
    await world.startCli(`--permission-mode default; echo left`);
    await turn(world, "one");
    await world.beckon.leave();
    await happens(world);
    const before = heard();
    await turn(world, "two");
    await world.type("/exit");
    await world.shows(/^left/m);
    expect(await world.hookErrors()).toEqual([]);
    if (keepsEvents) expect(heard()).toBeGreaterThan(before);
  };

/** One with every hook that a turn can have. */
async function turn(world: World, name: string): Promise<void> {
  await world.type(`DO bash touch ${home}/${name}`);
  await world.accepts(dialog.permission);
  await world.hears("Stop");
}
