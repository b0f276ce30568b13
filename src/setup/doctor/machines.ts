/** Checks the other machines: what the running app reports about the link to each. */
import { createFindings, type Finding } from "../../agents/finding.ts";
import { formatCount, formatList } from "../../core/text/words.ts";
import { findMachineDifference } from "../versions.ts";

export interface MachineLinkFacts {
  readonly name: string;
  /** null if the app is not running, or does not use the machine yet. */
  readonly report: {
    readonly state: "linked" | "linking" | "not linked";
    readonly problem: string | null;
    readonly fix: string | null;
    readonly since: number | null;
    readonly version: string | null;
    /** For users: "Claude Code". */
    readonly agents: readonly string[];
    readonly sessions: number;
  } | null;
}

export interface MachinesFacts {
  readonly machines: readonly MachineLinkFacts[];
  readonly isRunning: boolean;
  /** Of this command. */
  readonly version: string;
  readonly formatTime: (at: number) => string;
}

const create = createFindings("machines", "machines");

/** Nothing if there is no other machine: most users have none. */
export function checkMachines({ machines, isRunning, version: own, formatTime }: MachinesFacts): Finding[] {
  return machines.map(({ name, report }): Finding => {
    const test = `To try it: beckon machine test ${name}`;
    if (report === null) {
      const why = isRunning ? "beckon does not use it yet" : "beckon is not running";
      return create("info", "unknown", `${name}: not tried, because ${why}`, test);
    }
    const { state, problem, fix, version, agents, sessions } = report;
    const since = report.since === null ? "" : ` since ${formatTime(report.since)}`;
    if (problem !== null) return create("fail", "not-linked", `${name}: not linked${since}: ${problem}`, fix);
    if (state !== "linked") return create("info", "linking", `${name}: being linked`, test);
    const connected = agents.length === 0 ? "no agent is connected there" : formatList(agents);
    const listed = sessions === 0 ? "no session" : formatCount(sessions, "session");
    const text = `${name}: linked${since}, beckon ${version}, ${connected}, ${listed}`;
    const difference = findMachineDifference(name, version, own);
    if (difference && agents.length > 0)
      return create("warn", "other-version", `${text}; this machine has ${own}`, `Run: ${difference.fix}`);
    return agents.length === 0
      ? create("warn", "no-agent", text, `To connect it, once there is one: beckon machine update ${name}`)
      : create("ok", "linked", text);
  });
}
