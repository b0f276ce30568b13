/**
 * What macOS needs for both the menu-bar icon and the alerts: one osascript process (the helper) that draws them, for as
 * long as one of them needs it. script/ is the helper's program.
 */
import { join } from "node:path";
import { putFile } from "../put-file.ts";
import { type MacHelper, type MacHelperEvents, type MacHelperSettings, startMacHelper } from "./helper.ts";
import menuBar from "./script/menu-bar.jxa.js" with { type: "text" };
import messages from "./script/messages.jxa.js" with { type: "text" };
import panels from "./script/panels.jxa.js" with { type: "text" };
import run from "./script/run.jxa.js" with { type: "text" };

/** The files of script/ are one program: `osascript -l JavaScript` cannot import. */
export const script = [messages, menuBar, panels, run].join("\n");

export interface MacSettings extends Omit<MacHelperSettings, "command"> {
  readonly command: (folder: string) => readonly string[];
}

export const macSettings: MacSettings = {
  command: (folder) => ["/usr/bin/osascript", "-l", "JavaScript", writeScript(folder)],
  pingMs: 10_000,
  answerTimeoutMs: 15_000,
  firstRestartMs: 1_000,
  maxRestartMs: 60_000,
  healthyAfterMs: 60_000,
  maxFailures: 5,
  stopTimeoutMs: 1_000,
};

/** A file and not `-e`, so that `ps` shows which program started it. */
function writeScript(folder: string): string {
  const path = join(folder, "beckon-menu-bar.js");
  putFile(path, Buffer.from(script), 0o600);
  return path;
}

interface SharedHelper {
  readonly helper: MacHelper;
  readonly members: Set<MacHelperEvents>;
  isReady: boolean;
}

const running = new Map<MacSettings, SharedHelper>();

/** The helper ends when its last member stops. Members must use different slots. */
export function joinMacHelper(folder: string, settings: MacSettings, member: MacHelperEvents): MacHelper {
  const shared = running.get(settings) ?? startShared(folder, settings);
  shared.members.add(member);
  if (shared.isReady) queueMicrotask(member.onReady);
  return {
    put: shared.helper.put,
    async stop() {
      if (!shared.members.delete(member) || shared.members.size > 0) return;
      running.delete(settings);
      await shared.helper.stop();
    },
  };
}

function startShared(folder: string, settings: MacSettings): SharedHelper {
  const members = new Set<MacHelperEvents>();
  const forEachMember = (call: (member: MacHelperEvents) => void): void => [...members].forEach(call);
  const helper = startMacHelper(
    { ...settings, command: () => settings.command(folder) },
    {
      onReady: () => {
        shared.isReady = true;
        forEachMember((member) => member.onReady());
      },
      onMessage: (message) => forEachMember((member) => member.onMessage(message)),
      // One log line is enough.
      onProblem: (text) => [...members][0]?.onProblem(text),
      onGivenUp: () => forEachMember((member) => member.onGivenUp()),
    },
  );
  const shared: SharedHelper = { helper, members, isReady: false };
  running.set(settings, shared);
  return shared;
}
