/** As test/agent/unattended.test.ts, often enough to see what is lost rarely. */
import { testUnattendedRuns } from "../agent/unattended-runs.ts";

testUnattendedRuns(29);
