/** Whether the work guard's hooks have to be looked at. The app asks at every start, so nothing of the installer is loaded here. */
import type { Config } from "../core/config/config.ts";
import { limits } from "../core/limits.ts";
import { readSmallFile } from "../storage/files.ts";
import type { Paths } from "../storage/paths.ts";
import { readInstallRecord } from "./install-record.ts";

/** The guard is on in some project. */
export const isGuardOn = ({ mode, collisions, projects }: Config["workGuard"]): boolean =>
  [{ mode, collisions }, ...Object.values(projects)].some(
    (own) => (own.mode ?? "off") !== "off" || (own.collisions ?? "show") !== "show",
  );

export function mayNeedGuardHooks(paths: Paths, config: Config["workGuard"]): boolean {
  const files = readInstallRecord(paths)?.files ?? [];
  return (
    isGuardOn(config) ||
    files.some(({ path }) => /--guard\b|InstructionsLoaded/.test(readSettings(path) ?? ""))
  );
}

/** null if the file cannot be read. */
export function readSettings(path: string): string | null {
  try {
    return readSmallFile(path, limits.maxAgentSettingsBytes);
  } catch {
    return null;
  }
}
