/** The work guard with the real Codex. */
import { expect } from "bun:test";
import { codexDriver, startTrusted } from "../agent/other/codex.ts";
import { callTool } from "../agent/other/prompts.ts";
import { createOtherCliTests } from "../agent/other/scenario.ts";
import { describeGuard } from "../agent/other/work-guard.ts";

describeGuard({
  driver: codexDriver,
  // It gives apply_patch only to models that it knows. Its sandbox would keep `beckon port` from beckon's files.
  start: (sandbox) =>
    startTrusted(sandbox, "--model gpt-6.1-sol --sandbox danger-full-access --ask-for-approval never"),
  write: (name) =>
    callTool("apply_patch", `*** Begin Patch\n*** Add File: ${name}\n+written\n*** End Patch\n`),
  transcripts: ".codex/sessions",
  run: (cmd) => callTool("exec_command", { cmd, yield_time_ms: 10_000 }),
});

createOtherCliTests(codexDriver).testDriven(
  "doctor sees whether the guard's hook is trusted",
  async (sandbox) => {
    const examine = async () => (await sandbox.beckon.run("doctor")).stdout;
    expect(await examine()).toContain("not trusted: Codex does not run them");
    await startTrusted(sandbox);
    expect(await examine()).toContain("Codex trusts them");
  },
  { files: { ".config/beckon/config.json": JSON.stringify({ workGuard: { mode: "strict" } }) } },
);
