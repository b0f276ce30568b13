/** Checks the stream at a server of Redis: what the running app reports about it. */
import { createFindings, type Finding } from "../../agents/finding.ts";

export interface StreamServerReport {
  /** Its host and port. */
  readonly server: string;
  /** Why lines wait; null if they do not. */
  readonly problem: string | null;
}

const create = createFindings("stream", "stream");

/** Nothing without `stream.url`: most users have none. */
export function checkStreamServer(report: StreamServerReport | null): Finding[] {
  if (report === null) return [];
  const { server, problem } = report;
  return [
    problem === null
      ? create("ok", "written", `${server}: sessions, turns and skills are written there, not encrypted`)
      : create(
          "fail",
          "not-written",
          `${server} cannot be written: ${problem}. Its lines wait`,
          "It is tried again by itself. To change it: beckon config stream.url",
        ),
  ];
}
