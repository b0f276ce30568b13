/** A fleet as the running app reports it, and the words for that. */
import { formatCount, formatList } from "../../core/text/words.ts";
import { formatSpokenDuration } from "../../core/view/figures.ts";
import type { Fault } from "./seal.ts";

/** Why an entry was dropped. */
export type Dropped = Fault | "repeated" | "not for this machine" | "not valid";

/** Which sessions of a machine need somebody. */
export interface MemberWaits {
  readonly needing: number;
  /** Wall time since which the first of them does; null if none does. */
  readonly since: number | null;
}

/** A fleet as `beckon fleet list` shows it. */
export interface FleetReport {
  readonly name: string;
  readonly state: "connected" | "not connected";
  /** Why not, or why the server takes nothing; null if all is well. */
  readonly problem: string | null;
  /** Changes that the server does not have yet. */
  readonly waiting: number;
  /** How many entries were dropped, by the reason. */
  readonly dropped: Readonly<Partial<Record<Dropped, number>>>;
  readonly members: readonly (MemberWaits & {
    readonly id: string;
    readonly name: string;
    readonly person: string;
    /** beckon runs there, and was heard of a moment ago. */
    readonly isThere: boolean;
  })[];
}

const droppedWords: Readonly<Record<Dropped, string>> = {
  damaged: "changed, or sealed for another fleet or place",
  "unknown key": "sealed with a key that this machine does not have",
  "not a member": "of a machine that is not a member",
  "wrong signature": "not signed by the machine that it names",
  repeated: "repeated, or out of order",
  "not for this machine": "meant for another machine",
  "not valid": "not understood",
};

/** null if nothing was. */
export function sayDropped(dropped: FleetReport["dropped"]): string | null {
  const parts = Object.entries(dropped).map(
    ([why, count]) => `${count} ${droppedWords[why as Dropped] ?? why}`,
  );
  const total = Object.values(dropped).reduce((sum, count) => sum + count, 0);
  return total === 0
    ? null
    : `${formatCount(total, "entry", "entries")} dropped since the start: ${formatList(parts)}`;
}

/** `whom`: "you", or a person's name. Empty if nobody is needed. */
export function sayWaits({ needing, since }: MemberWaits, whom: string, now: number): string {
  if (needing === 0) return "";
  const verb = needing === 1 ? "needs" : "need";
  return `${formatCount(needing, "session")} ${verb} ${whom}${since === null ? "" : `, for ${formatSpokenDuration(now - since)}`}`;
}

/** In one line: whether the server is there, and what waits for it. */
export function sayFleetState({ state, problem, waiting }: FleetReport): string {
  const late = waiting === 0 ? "" : `; ${formatCount(waiting, "change")} wait for it`;
  return problem === null ? `${state}${late}` : `${state}: ${problem}${late}`;
}
