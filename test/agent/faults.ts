/** Faults of beckon, its binary or the project's folder during a session. */
import { expect } from "bun:test";
import { home } from "./namespace.ts";
import type { Sandbox } from "./sandbox.ts";
import { dialog } from "./scenario.ts";

export interface Fault {
  readonly title: string;
  readonly inject: (sandbox: Sandbox) => Promise<void>;
  /** Whether events after the fault still reach the journal or the spool. */
  readonly keepsEvents: boolean;
}

const state = ".local/state/beckon";
const bin = ".local/bin/beckon";

/** A control without a fault. */
export const noFault: Fault = { title: "beckon runs", inject: async () => {}, keepsEvents: true };

export const faults: readonly Fault[] = [
  { title: "beckon is killed", inject: (sandbox) => sandbox.beckon.kill(), keepsEvents: true },
  { title: "beckon hangs", inject: (sandbox) => sandbox.beckon.suspend(), keepsEvents: true },
  {
    title: "the disk is full",
    inject: (sandbox) => sandbox.runShell(`head -c 9m /dev/zero >${state}/rest 2>/dev/null || true`),
    keepsEvents: false,
  },
  { title: "the binary is removed", inject: (sandbox) => sandbox.runShell(`rm ${bin}`), keepsEvents: false },
  {
    title: "the binary is broken",
    inject: (sandbox) => sandbox.runShell(`rm ${bin} && echo nonsense >${bin} && chmod +x ${bin}`),
    keepsEvents: false,
  },
];

/** Older CLIs run no hook at all in a folder that is gone, and report each of them as failed. */
export const projectRemoved: Fault = {
  title: "the project's folder is removed",
  inject: (sandbox) => sandbox.runShell("rm -r proj"),
  keepsEvents: true,
};

const events = ["UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "Stop", "SessionEnd"];

/** One session: a turn, the fault, another turn, /exit. Needs a sandbox with `isInstalled: false`. */
export const surviveFault =
  ({ inject: happens, keepsEvents }: Fault) =>
  async (sandbox: Sandbox): Promise<void> => {
    const countAll = () => events.reduce((sum, event) => sum + sandbox.beckon.countEvents(event), 0);
    // The state folder is a small file system, so that it can be full.
    await sandbox.runShell(`mkdir -p ${state} && mount -t tmpfs -o size=8m tmpfs ${home}/${state}`);
    await sandbox.beckon.install();
    await sandbox.beckon.start();
    await sandbox.startCli(`--permission-mode default; echo left`);
    await runTurn(sandbox, "one");
    await sandbox.beckon.stopPolling();
    await happens(sandbox);
    const before = countAll();
    await runTurn(sandbox, "two");
    await sandbox.typeLine("/exit");
    await sandbox.waitForScreen(/^left/m);
    expect(await sandbox.readHookErrors()).toEqual([]);
    if (keepsEvents) expect(countAll()).toBeGreaterThan(before);
  };

/** A turn that runs every hook of a turn. */
async function runTurn(sandbox: Sandbox, name: string): Promise<void> {
  await sandbox.typeLine(`DO bash touch ${home}/${name}`);
  await sandbox.acceptDialog(dialog.permission);
  await sandbox.waitForHook("Stop");
}
