/**
 * Linux: an inhibitor of logind. systemd-inhibit holds its descriptor, because Bun cannot take one from a bus. logind ends the
 * inhibitor when that process ends. Sleep that the user asks for with the lid goes on (LidSwitchIgnoreInhibited).
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { readSystemFile } from "../../system/processes.ts";
import type { AwakeSystem } from "./awake-system.ts";
import { holdWithProgram } from "./held-program.ts";

const supplies = "/sys/class/power_supply";

export function createLinuxAwake(folder = supplies): AwakeSystem {
  return {
    async hold(onLost) {
      if (Bun.which("systemd-inhibit") === null) throw new Error("this system has no systemd-inhibit");
      const what = ["--what=idle:sleep", "--mode=block", "--who=beckon", "--why=An agent is working"];
      // cat ends with its input, and that ends with beckon.
      return holdWithProgram(["systemd-inhibit", ...what, "cat"], onLost);
    },
    isOnBattery: async () => readBattery(folder),
  };
}

/** A machine without a battery is never on one. null if the kernel does not say. */
function readBattery(folder: string): boolean | null {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return null;
  }
  const read = (name: string, field: string) => readSystemFile(join(folder, name, field))?.trim() ?? null;
  const isOn = (name: string) => read(name, "online") === "1";
  const mains = names.filter((name) => /^(?:Mains|USB)/.test(read(name, "type") ?? ""));
  if (mains.some(isOn)) return false;
  return names.some((name) => read(name, "type") === "Battery" && read(name, "status") === "Discharging");
}
