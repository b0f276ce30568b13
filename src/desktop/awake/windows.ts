/** Windows: a state of the thread that asks for it, which ends with the thread. */
import { win32 } from "../windows/win32.ts";
import type { AwakeSystem } from "./awake-system.ts";

const continuous = 0x8000_0000;
const systemRequired = 1;
/** SYSTEM_POWER_STATUS; its first byte is the line: 0 off, 1 on, 255 unknown. */
const statusBytes = 12;

export function createWindowsAwake(): AwakeSystem {
  return {
    async hold() {
      if (win32().SetThreadExecutionState(continuous + systemRequired) === 0)
        throw new Error("Windows refused SetThreadExecutionState");
      return { release: () => void win32().SetThreadExecutionState(continuous) };
    },
    async isOnBattery() {
      const status = new Uint8Array(statusBytes);
      if (win32().GetSystemPowerStatus(status) === 0) return null;
      return status[0] === 255 ? null : status[0] === 0;
    },
  };
}
