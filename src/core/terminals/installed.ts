/** The terminals that are installed on this machine, and how far focus gets in each: what `beckon doctor` lists. */
import { terminals } from "./index.ts";
import type { InstalledPrograms, InstalledTerminal } from "./terminal.ts";

export function listInstalledTerminals(machine: InstalledPrograms): readonly InstalledTerminal[] {
  return terminals
    .filter(({ commands = [], macApps = [] }) => [...commands, ...macApps].some(machine.has))
    .map(({ name, reach, reachOnMac = reach, checkSettings }) => {
      const reachHere = machine.platform === "darwin" ? reachOnMac : reach;
      return { name, ...(checkSettings?.(machine) ?? { reach: reachHere, advice: null }) };
    });
}
