/** One child for icon and panels, as long as one of them needs it. */
import { join } from "node:path";
import { putFile } from "../put-file.ts";
import { type ChildEvents, type ChildSettings, openChild, type ScriptChild } from "./child.ts";
import { script } from "./script.ts";

export type Timing = Omit<ChildSettings, "command">;

export interface MacSettings extends Timing {
  readonly command: (folder: string) => readonly string[];
}

export const macSettings: MacSettings = {
  command: (folder) => ["/usr/bin/osascript", "-l", "JavaScript", writeScript(folder)],
  pingMs: 10_000,
  silentMs: 15_000,
  firstRestartMs: 1_000,
  maxRestartMs: 60_000,
  wellAfterMs: 60_000,
  maxFailures: 5,
};

/** A file and not `-e`: `ps` then shows whose process it is. */
function writeScript(folder: string): string {
  const path = join(folder, "beckon-menu-bar.js");
  putFile(path, Buffer.from(script), 0o600);
  return path;
}

interface Shared {
  readonly child: ScriptChild;
  readonly members: Set<ChildEvents>;
  isReady: boolean;
}

const running = new Map<MacSettings, Shared>();

/** Slots of different members must have different names. */
export function joinChild(folder: string, settings: MacSettings, member: ChildEvents): ScriptChild {
  const shared = running.get(settings) ?? open(folder, settings);
  shared.members.add(member);
  if (shared.isReady) queueMicrotask(member.onReady);
  return {
    put: shared.child.put,
    async stop() {
      if (!shared.members.delete(member) || shared.members.size > 0) return;
      running.delete(settings);
      await shared.child.stop();
    },
  };
}

function open(folder: string, settings: MacSettings): Shared {
  const members = new Set<ChildEvents>();
  const each = (tell: (member: ChildEvents) => void): void => [...members].forEach(tell);
  const child = openChild(
    { ...settings, command: () => settings.command(folder) },
    {
      onReady: () => {
        shared.isReady = true;
        each((member) => member.onReady());
      },
      onMessage: (message) => each((member) => member.onMessage(message)),
      // One line in the log is enough.
      onProblem: (text) => [...members][0]?.onProblem(text),
      onLost: () => each((member) => member.onLost()),
    },
  );
  const shared: Shared = { child, members, isReady: false };
  running.set(settings, shared);
  return shared;
}
