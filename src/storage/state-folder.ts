/** Makes sure that beckon finds only its own regular files in the state folder, whatever another program has put there. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { limits } from "../core/limits.ts";
import { clearOwnPath, errorCode } from "./files.ts";
import { isSegmentName } from "./journal/segments.ts";
import type { Paths } from "./paths.ts";
import { previousPath } from "./snapshot.ts";
import { rotatedPath } from "./spool.ts";

/**
 * Renames or copies what `openOwnFile` would refuse, and returns sentences for the log. Call it once this process has the lock:
 * another beckon could be using the files. The lock itself and the folders are not touched.
 */
export function clearStateFolder(paths: Paths): string[] {
  return listFiles(paths).flatMap((path) => {
    try {
      return clearOwnPath(path) ?? [];
    } catch (error) {
      return `${path} is not a file of beckon's, and could not be renamed (${errorCode(error)}). Move it away.`;
    }
  });
}

function listFiles(paths: Paths): string[] {
  const {
    endpoint,
    authHeader,
    snapshot,
    spool,
    log,
    hookLog,
    answerLog,
    alertState,
    channelState,
    machineState,
    fleets,
    fleetState,
    installed,
    knownFolders,
    history,
  } = paths;
  const numbers = Array.from({ length: limits.maxOlderLogs }, (_, index) => index + 1);
  const olderLogs = [log, answerLog].flatMap((path) => numbers.map((number) => `${path}.${number}`));
  return [
    ...[
      endpoint,
      authHeader,
      snapshot,
      previousPath(snapshot),
      spool,
      rotatedPath(spool),
      paths.spoolDropped,
    ],
    ...[log, hookLog, answerLog, ...olderLogs, alertState, channelState, machineState, fleets, fleetState],
    ...[paths.prompts, paths.updateCheck],
    ...[installed, knownFolders],
    ...[history, `${history}-wal`, `${history}-shm`],
    ...listSegmentFiles(paths.journal),
  ];
}

/** Only regular files: the journal skips anything else. */
function listSegmentFiles(journal: string): string[] {
  try {
    return readdirSync(journal, { withFileTypes: true })
      .filter((entry) => entry.isFile() && isSegmentName(entry.name))
      .map(({ name }) => join(journal, name));
  } catch {
    return [];
  }
}
