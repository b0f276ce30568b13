/** Which versions of beckon are at work, and the one command that makes them the same. Pure. */

export interface VersionDifference {
  /** Part of a sentence. */
  readonly text: string;
  /** The command that helps. */
  readonly fix: string;
}

export interface Versions {
  /** Of this command. */
  readonly own: string;
  /** Of the running app; null if it is not running, undefined if it is too old to say. */
  readonly running: string | null | undefined;
  /** Of the beckon that wrote the hooks; null if there is no install. */
  readonly hooks: string | null;
}

const isOlder = (version: string, than: string): boolean => Bun.semver.order(version, than) < 0;

/** null if all are the same. */
export function findVersionDifference({ own, running, hooks }: Versions): VersionDifference | null {
  const isOtherRunning = running !== null && running !== own;
  const runs = isOtherRunning ? `${running ?? "an older version"} is running` : null;
  if (hooks === null || hooks === "" || hooks === own)
    return runs === null
      ? null
      : { text: `${runs}, but this command is beckon ${own}`, fix: "beckon restart" };
  const parts = [`the hooks are of beckon ${hooks}`, ...(runs === null ? [] : [runs])].join(", ");
  return {
    text: `${parts}, but this command is beckon ${own}`,
    // A command that is older than what is installed is not what the user wants to keep.
    fix: isOlder(own, hooks) ? "beckon update" : "beckon --install",
  };
}

/** null if the linked machine has the same version as this one, or none is known. */
export function findMachineDifference(
  name: string,
  there: string | null,
  own: string,
): VersionDifference | null {
  if (there === null || there === own) return null;
  return {
    text: `${name} has beckon ${there}, and this machine ${own}`,
    fix: isOlder(there, own) ? `beckon machine update ${name}` : "beckon update",
  };
}
