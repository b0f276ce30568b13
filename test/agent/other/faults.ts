/** Faults of beckon while another agent's CLI runs. None may show on the screen or keep a tool from running. */
import type { OtherSandbox } from "./sandbox.ts";

export const faultsOfBeckon: readonly (readonly [string, (sandbox: OtherSandbox) => Promise<void>])[] = [
  ["beckon is killed", (sandbox) => sandbox.beckon.kill()],
  ["beckon hangs", (sandbox) => sandbox.beckon.suspend()],
  ["the binary is removed", (sandbox) => sandbox.runShell("rm .local/bin/beckon")],
  [
    "the binary is broken",
    (sandbox) =>
      sandbox.runShell("rm .local/bin/beckon; echo nonsense >.local/bin/beckon; chmod +x .local/bin/beckon"),
  ],
];
