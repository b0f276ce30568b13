/** The daily look for a newer release. The app loads it only if the user has turned it on. */
import { readErrorMessage } from "../core/error-message.ts";
import type { Schedule } from "../core/interfaces/index.ts";
import { type JsonRecord, readString } from "../core/json.ts";
import { dayMs } from "../core/timing.ts";
import type { VersionDifference } from "../setup/versions.ts";
import type { Releases } from "./address.ts";
import { fetchRelease, isNewer } from "./index.ts";

export interface UpdateCheckOptions {
  readonly ownVersion: string;
  readonly releases: Releases;
  readonly now: () => number;
  readonly schedule: Schedule;
  /** What was saved last; {} if nothing was. */
  readonly saved: JsonRecord;
  readonly save: (value: JsonRecord) => void;
  /** There is another line to show. */
  readonly onChange: () => void;
  readonly onProblem: (text: string) => void;
}

export interface UpdateCheck {
  /** null if there is nothing newer. */
  newer(): VersionDifference | null;
  stop(): void;
}

/** Looks now if the last look is a day old, and then once a day. A look that fails counts too. */
export function startUpdateCheck(options: UpdateCheckOptions): UpdateCheck {
  const { ownVersion, now, schedule } = options;
  let { saved } = options;
  let isStopped = false;
  let cancel = () => {};

  async function look(): Promise<void> {
    let newest = readString(saved.version);
    try {
      newest = (await fetchRelease(options.releases)).version;
    } catch (error) {
      options.onProblem(`the look for a newer beckon failed: ${readErrorMessage(error)}`);
    }
    if (isStopped) return;
    saved = { checkedAt: now(), version: newest };
    options.save(saved);
    options.onChange();
    wait();
  }

  function wait(): void {
    const dueAt = Number(saved.checkedAt ?? 0) + dayMs;
    // A clock that was set back does not keep it from looking.
    const leftMs = Math.min(dueAt - now(), dayMs);
    if (leftMs <= 0) void look();
    else cancel = schedule(wait, leftMs);
  }

  wait();
  return {
    newer: () => findNewer(saved, ownVersion),
    stop() {
      isStopped = true;
      cancel();
    },
  };
}

/** What a look has found; null if it is not newer. */
export function findNewer({ version }: JsonRecord, ownVersion: string): VersionDifference | null {
  if (typeof version !== "string" || !isNewer(version, ownVersion)) return null;
  return { text: `beckon ${version} is available`, fix: "beckon update" };
}
