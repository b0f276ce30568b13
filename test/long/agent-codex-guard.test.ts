/** The work guard with the real Codex. */
import { codexDriver, startTrusted } from "../agent/other/codex.ts";
import { describeGuard } from "../agent/other/work-guard.ts";

describeGuard({
  driver: codexDriver,
  start: startTrusted,
  write: (name) =>
    `DO tool apply_patch ${JSON.stringify(`*** Begin Patch\n*** Add File: ${name}\n+written\n*** End Patch\n`)}`,
  // Its sandbox has no network and cannot write outside of the project.
  run: null,
});
