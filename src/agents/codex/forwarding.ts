/** What the forwarder knows about Codex. Imports little: it is loaded at every hook. */
import { createHookForwarding, formatGuardOutput, pickForGuard } from "../hook-forwarding.ts";

/** Codex does not show its dialog while a PermissionRequest hook runs (measured): answers go through its server's socket. */
export const codexForwarding = createHookForwarding({
  sessionVariable: "CODEX_THREAD_ID",
  identifierFields: ["turn_id", "agent_transcript_path", "model"],
  spoolKinds: { Interrupt: "end" },
  guard: {
    reduce(payload) {
      // Of a patch only the lines that can name its files: Codex ignores blanks before them, U+0085 too.
      const lines = String(Object(payload.tool_input).command ?? "").split("\n");
      const command = lines.filter((line) => /^[\s\u0085]*\*\*\* /.test(line)).join("\n");
      return pickForGuard(payload, { command });
    },
    // It has no "ask" (https://github.com/openai/codex/pull/20756).
    collisions: "tell",
    formatOutput: formatGuardOutput,
  },
});
