/** The real opencode on a machine behind ssh. */
import { opencodeDriver } from "../agent/other/opencode.ts";
import { testBehindSsh } from "../machines/agent-story.ts";

testBehindSsh({ driver: opencodeDriver, start: (sandbox) => sandbox.startFirst(), reason: "not now" });
