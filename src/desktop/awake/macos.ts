/** macOS: caffeinate prevents sleep for want of input, and ends with the process that it waits for. */
import type { Exec } from "../../core/interfaces/index.ts";
import type { AwakeSystem } from "./awake-system.ts";
import { holdWithProgram } from "./held-program.ts";

export function createMacAwake(exec: Exec): AwakeSystem {
  return {
    hold: async (onLost) => holdWithProgram(["/usr/bin/caffeinate", "-i", "-w", String(process.pid)], onLost),
    async isOnBattery() {
      const { code, stdout } = await exec(["/usr/bin/pmset", "-g", "ps"]);
      return code === 0 ? stdout.includes("'Battery Power'") : null;
    },
  };
}
