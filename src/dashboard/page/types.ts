/** Shapes that only the page reads. */

import type { MachineWay } from "../../core/config/machines.ts";

/** Another machine, as GET /api/machines describes it. */
export interface PageMachine {
  readonly name: string;
  readonly way: MachineWay | "fleet";
  readonly target: string | null;
  readonly state: "linked" | "linking" | "not linked";
  readonly problem: string | null;
  /** Wall time since which it is linked, or is not. null if it never was. */
  readonly since: number | null;
}

/** GET /api/page */
export interface PageFacts {
  readonly version: string;
  /** Agent id → what users call it. */
  readonly agents: Readonly<Record<string, string>>;
  /** Names of agents that are installed but do not call beckon. */
  readonly unconnected: readonly string[];
  readonly problems: readonly string[];
  /** The sessions are invented. */
  readonly isDemo?: true;
  /** Absent if there are none. */
  readonly machines?: readonly PageMachine[];
  /** The names of the team fleets. Absent if there are none. */
  readonly teams?: readonly string[];
}
