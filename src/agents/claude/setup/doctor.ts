/** Claude Code itself: where it is, and what its version cannot tell beckon. */

import { about, type Finding, listed } from "../../finding.ts";
import { hooksFor, hookTable, isAtLeast } from "../hooks.ts";

export interface ClaudeFacts {
  readonly path: string | null;
  /** As `claude --version` prints it; null: it did not say. */
  readonly version: string | null;
}

const tell = about("Claude Code", "claude");

/** The first CLI whose own file says whether it waits. */
const statusFileSince = "2.1.200";
const update = "Update Claude Code: claude update";

/** What beckon does not see without them, to be read after "beckon does not see". */
const unseen: Readonly<Record<string, string>> = {
  PostToolUseFailure: "tools that failed",
  PostToolBatch: "that a question was answered by another hook",
  PermissionDenied: "calls that auto mode refused",
  Elicitation: "what MCP servers ask you",
  StopFailure: "that a turn ended with an error",
  SubagentStart: "subagents as they start",
  PostCompact: "the end of compaction",
  Setup: "its setup",
};

export function claudeFindings({ path, version }: ClaudeFacts): Finding[] {
  if (path === null) {
    return [
      tell(
        "warn",
        "not-found",
        "Claude Code was not found on this machine",
        "Install it, or put the folder with `claude` on your PATH. Then: beckon --install",
      ),
    ];
  }
  if (version === null) {
    return [
      tell(
        "warn",
        "version",
        `${path} does not say its version: taken for ${hookTable.assumedVersion}, the oldest that was tried`,
        `Try it yourself: ${path} --version`,
      ),
    ];
  }
  return [tell("ok", "found", `${version} at ${path}`), ...lacking(version)];
}

function lacking(version: string): Finding[] {
  const known = new Set<string>(hooksFor(version).map(({ event }) => event));
  const missing = hookTable.register.map(({ event }) => event).filter((event) => !known.has(event));
  const words = missing.flatMap((event) => unseen[event] ?? []);
  const findings: Finding[] = [];
  if (missing.includes("PermissionRequest")) {
    findings.push(
      tell(
        "warn",
        "no-requests",
        "this version says that it wants permission only 6 seconds late, and not for what",
        update,
      ),
    );
  }
  if (words.length > 0) {
    findings.push(tell("info", "lacks", `with this version beckon does not see ${listed(words)}`, update));
  }
  if (!isAtLeast(version, statusFileSince)) {
    findings.push(
      tell(
        "info",
        "no-status",
        "this version keeps no status file: after Esc or “No” a session seems to wait or work until its next event",
        update,
      ),
    );
  }
  return findings;
}
