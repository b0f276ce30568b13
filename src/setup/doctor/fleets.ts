/** Checks the fleets of this machine: what the running app reports about their servers. */
import { createFindings, type Finding } from "../../agents/finding.ts";
import { formatCount } from "../../core/text/words.ts";

export interface FleetFacts {
  readonly name: string;
  /** null if the app is not running, or does not use it yet. */
  readonly report: {
    readonly isFine: boolean;
    readonly state: string;
    /** null if nothing was dropped. */
    readonly dropped: string | null;
    readonly others: number;
    readonly there: number;
  } | null;
}

const create = createFindings("fleets", "fleet");

/** Nothing if this machine is in no fleet: most are not. */
export function checkFleets(fleets: readonly FleetFacts[]): Finding[] {
  return fleets.flatMap(({ name, report }): Finding[] => {
    if (report === null)
      return [create("info", "unknown", `${name}: not tried, because beckon is not running`)];
    const { isFine, state, dropped, others, there } = report;
    const text = `${name}: ${state}`;
    const members = `${there} of ${formatCount(others, "other machine")} there`;
    return [
      isFine
        ? create("ok", "connected", `${text}, ${members}`)
        : create("fail", "problem", text, "It is tried again by itself. To see more: beckon fleet list"),
      ...(dropped === null
        ? []
        : [
            create(
              "warn",
              "dropped",
              `${name}: ${dropped}`,
              "Somebody who has the server's password may have written them. They count for nothing",
            ),
          ]),
    ];
  });
}
