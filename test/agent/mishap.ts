/** What can happen to beckon, its binary or the person's folder while a session runs. */
import { expect } from "bun:test";
import { home } from "./namespace.ts";
import type { Sandbox } from "./sandbox.ts";
import { dialog } from "./scenario.ts";

export interface Mishap {
  readonly title: string;
  readonly happens: (sandbox: Sandbox) => Promise<void>;
  /** Whether hooks that come after it can still leave their event with beckon, or in the spool. */
  readonly keepsEvents: boolean;
}

const state = ".local/state/beckon";
const bin = ".local/bin/beckon";

/** For comparison. */
export const allWell: Mishap = { title: "beckon runs", happens: async () => {}, keepsEvents: true };

export const mishaps: readonly Mishap[] = [
  { title: "beckon is killed", happens: (sandbox) => sandbox.beckon.kill(), keepsEvents: true },
  { title: "beckon hangs", happens: (sandbox) => sandbox.beckon.hang(), keepsEvents: true },
  {
    title: "the disk is full",
    happens: (sandbox) => sandbox.does(`head -c 9m /dev/zero >${state}/rest 2>/dev/null || true`),
    keepsEvents: false,
  },
  { title: "the binary is removed", happens: (sandbox) => sandbox.does(`rm ${bin}`), keepsEvents: false },
  {
    title: "the binary is broken",
    happens: (sandbox) => sandbox.does(`rm ${bin} && echo nonsense >${bin} && chmod +x ${bin}`),
    keepsEvents: false,
  },
];

/** Older CLIs start no hook at all in such a folder, and say so of everyone's. */
export const folderGone: Mishap = {
  title: "the project's folder is removed",
  happens: (sandbox) => sandbox.does("rm -r proj"),
  keepsEvents: true,
};

const events = ["UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "Stop", "SessionEnd"];

/** One session: a turn, the mishap, another turn, and the end. The sandbox is one without installed hooks. */
export const surviving =
  ({ happens, keepsEvents }: Mishap) =>
  async (sandbox: Sandbox): Promise<void> => {
    const heard = () => events.reduce((sum, event) => sum + sandbox.beckon.heard(event), 0);
    // On a disk of its own, so that it can be full.
    await sandbox.does(`mkdir -p ${state} && mount -t tmpfs -o size=8m tmpfs ${home}/${state}`);
    await sandbox.beckon.install();
    await sandbox.beckon.start();
    await sandbox.startCli(`--permission-mode default; echo left`);
    await turn(sandbox, "one");
    await sandbox.beckon.leave();
    await happens(sandbox);
    const before = heard();
    await turn(sandbox, "two");
    await sandbox.type("/exit");
    await sandbox.shows(/^left/m);
    expect(await sandbox.hookErrors()).toEqual([]);
    if (keepsEvents) expect(heard()).toBeGreaterThan(before);
  };

/** One with every hook that a turn can have. */
async function turn(sandbox: Sandbox, name: string): Promise<void> {
  await sandbox.type(`DO bash touch ${home}/${name}`);
  await sandbox.accepts(dialog.permission);
  await sandbox.hears("Stop");
}
