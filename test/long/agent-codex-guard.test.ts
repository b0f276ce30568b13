/** The work guard with the real Codex. */
import { codexDriver, startTrusted } from "../agent/other/codex.ts";
import { callTool } from "../agent/other/prompts.ts";
import { describeGuard } from "../agent/other/work-guard.ts";

describeGuard({
  driver: codexDriver,
  // It gives apply_patch only to models that it knows. Its sandbox would keep `beckon port` from beckon's files.
  start: (sandbox) =>
    startTrusted(sandbox, "--model gpt-6.1-sol --sandbox danger-full-access --ask-for-approval never"),
  write: (name) =>
    callTool("apply_patch", `*** Begin Patch\n*** Add File: ${name}\n+written\n*** End Patch\n`),
  run: (cmd) => callTool("exec_command", { cmd, yield_time_ms: 10_000 }),
});
