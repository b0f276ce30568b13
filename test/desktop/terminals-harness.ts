/** Real terminals on a real desktop, with something like an agent in them. */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { claudeForwarding } from "../../src/agents/claude/forwarding.ts";
import type { TerminalTarget } from "../../src/core/ports.ts";
import { createTerminals } from "../../src/desktop/terminals/index.ts";
import { describe as describeEvent } from "../../src/hook/meta.ts";
import { readStartTime } from "../../src/system/processes.ts";
import { until } from "../world.ts";
import type { Desktop } from "./world.ts";

const openMs = 20_000;
/** The machine may be busy with other tests. */
const patientMs = 2_000;

export type TerminalsWorld = ReturnType<typeof createTerminalsWorld>;

export function createTerminalsWorld(desktop: Desktop, more: Record<string, string> = {}) {
  const terminals = createTerminals({
    env: { ...desktop.env, ...more },
    platform: "linux",
    lookMs: patientMs,
  });
  const script = join(desktop.home, "agent.sh");
  writeFileSync(script, '#!/bin/sh\necho $$ >"$1.new" && mv "$1.new" "$1"\nexec sleep 1000\n', {
    mode: 0o755,
  });
  const file = (name: string) => join(desktop.home, `${name}.pid`);

  const world = {
    terminals,
    /** What a terminal is to run, to have the agent of that name in it. */
    agent: (name: string): string[] => [script, file(name)],

    /** Where the agent says it is, as the forwarder would tell; waits until it runs. */
    async target(name: string, about: Partial<TerminalTarget> = {}): Promise<TerminalTarget> {
      await until(() => existsSync(file(name)), openMs);
      const pid = Number(readFileSync(file(name), "utf8"));
      // Empty for a moment while a program becomes another.
      await until(() => readFileSync(`/proc/${pid}/environ`, "utf8") !== "", openMs);
      const variables = readFileSync(`/proc/${pid}/environ`, "utf8")
        .split("\0")
        .map((line): [string, string] => [line.split("=", 1)[0] ?? "", line.slice(line.indexOf("=") + 1)]);
      const { env } = describeEvent(claudeForwarding, Object.fromEntries(variables)) as {
        env: Record<string, string>;
      };
      const place = {
        local: true,
        pid,
        procStart: readStartTime(pid),
        tty: null,
        terminalSessionId: null,
        env,
      };
      return { place, cwd: null, title: null, ...about };
    },

    activeTitle: async (): Promise<string> =>
      desktop.run("xdotool", "getactivewindow", "getwindowname").catch(() => ""),

    /** Waits until a window with this title has the keyboard: a new one gets it when it opens. */
    opened: (title: string) => until(async () => (await world.activeTitle()).includes(title), openMs),

    async looking(
      targets: Readonly<Record<string, TerminalTarget>>,
    ): Promise<Record<string, boolean | null>> {
      const names = Object.keys(targets);
      const seen = await Promise.all(Object.values(targets).map((target) => terminals.isLooking(target)));
      return Object.fromEntries(names.map((name, at) => [name, seen[at] ?? null]));
    },
  };
  return world;
}
