/** Hooks of unattended runs with the real Claude Code CLI, which stops those that still run when it exits. */
import { testUnattendedRuns } from "./unattended-runs.ts";

testUnattendedRuns(5);
