/** The real Codex on a machine behind ssh. opencode, which takes longer to start, is in test/long. */
import { codexDriver, startWithServer } from "../agent/other/codex.ts";
import { testBehindSsh } from "./agent-story.ts";

// Only the server that Codex's terminals share takes answers.
testBehindSsh({ driver: codexDriver, start: startWithServer, reason: null });
