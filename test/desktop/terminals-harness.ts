/** Opens real terminals on a real desktop, with a stand-in for an agent in each. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pickTerminalVariables } from "../../src/core/terminals/sent-variables.ts";
import type { TerminalTarget } from "../../src/core/terminals/terminal.ts";
import { createTerminals } from "../../src/desktop/terminals/index.ts";
import { readStartTime } from "../../src/system/processes.ts";
import { waitUntil } from "../wait-until.ts";
import type { VirtualDesktop } from "./desktop-harness.ts";

const openMs = 20_000;
/** Longer than in the app: the machine may be busy with other tests. */
const visibilityTimeoutMs = 2_000;

export type TerminalHarness = ReturnType<typeof createTerminalHarness>;

export function createTerminalHarness(desktop: VirtualDesktop, more: Record<string, string> = {}) {
  const terminals = createTerminals({
    env: { ...desktop.env, ...more },
    platform: "linux",
    visibilityTimeoutMs,
  });
  const script = join(desktop.home, "agent.sh");
  writeFileSync(script, '#!/bin/sh\necho $$ >"$1.new" && mv "$1.new" "$1"\nexec sleep 1000\n', {
    mode: 0o755,
  });
  const pidFile = (name: string) => join(desktop.home, `${name}.pid`);

  const harness = {
    terminals,
    /** The command that a terminal runs to have the agent of that name in it. */
    agentCommand: (name: string): string[] => [script, pidFile(name)],

    /** Where the agent is, as the forwarder would send it. Waits until the agent runs. */
    async locate(name: string, about: Partial<TerminalTarget> = {}): Promise<TerminalTarget> {
      await waitUntil(() => existsSync(pidFile(name)), openMs);
      const pid = Number(readFileSync(pidFile(name), "utf8"));
      // Empty for a moment while the process executes another program.
      await waitUntil(() => readFileSync(`/proc/${pid}/environ`, "utf8") !== "", openMs);
      const variables = readFileSync(`/proc/${pid}/environ`, "utf8")
        .split("\0")
        .map((line): [string, string] => [line.split("=", 1)[0] ?? "", line.slice(line.indexOf("=") + 1)]);
      const place = {
        local: true,
        pid,
        procStart: readStartTime(pid),
        tty: null,
        terminalSessionId: null,
        env: pickTerminalVariables(Object.fromEntries(variables)),
      };
      return { place, cwd: null, title: null, ...about };
    },

    activeTitle: async (): Promise<string> =>
      desktop.run("xdotool", "getactivewindow", "getwindowname").catch(() => ""),

    /** Waits until a window with this title has the keyboard: a new window gets it when it opens. */
    waitForWindow: (title: string) =>
      waitUntil(async () => (await harness.activeTitle()).includes(title), openMs),

    /** For each target, whether its pane is what the user sees now. */
    async visibility(
      targets: Readonly<Record<string, TerminalTarget>>,
    ): Promise<Record<string, boolean | null>> {
      const entries = Object.entries(targets).map(async ([name, target]) => [
        name,
        await terminals.isPaneVisible(target),
      ]);
      return Object.fromEntries(await Promise.all(entries));
    },
  };
  return harness;
}
