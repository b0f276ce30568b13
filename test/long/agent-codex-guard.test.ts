/** The work guard with the real Codex. */
import { expect } from "bun:test";
import { codexDriver, patchingModel, startTrusted, startWithServer } from "../agent/other/codex.ts";
import { callTool } from "../agent/other/prompts.ts";
import { createOtherCliTests } from "../agent/other/scenario.ts";
import { beginPort, describeGuard, guardSettings } from "../agent/other/work-guard.ts";

const { testDriven } = createOtherCliTests(codexDriver);

/** Codex's sandbox would keep `beckon port` from beckon's files. */
const options = `--model ${patchingModel} --sandbox danger-full-access --ask-for-approval never`;
const write = (name: string): string =>
  callTool("apply_patch", `*** Begin Patch\n*** Add File: ${name}\n+written\n*** End Patch\n`);
const run = (cmd: string): string => callTool("exec_command", { cmd, yield_time_ms: 10_000 });

describeGuard({
  driver: codexDriver,
  start: (sandbox) => startTrusted(sandbox, options),
  write,
  transcripts: ".codex/sessions",
  run,
});

testDriven(
  "a port that a session of the shared server starts is that session's",
  async (sandbox) => {
    await startWithServer(sandbox, options);
    const send = async (prompt: string): Promise<string> => {
      const before = sandbox.readRequests().length;
      await sandbox.typeLine(prompt);
      await sandbox.waitForRequests(before + 2);
      await sandbox.waitUntilIdle();
      return sandbox.readLastText();
    };
    expect(await send(write("one.txt"))).toContain("No port is running, so this edit is refused");
    expect(await send(run(beginPort))).toContain("Started the port login (Login) for the session");
    await send(write("two.txt"));
    expect(await sandbox.listFiles()).toEqual(["two.txt"]);
  },
  guardSettings({ mode: "strict" }),
);

testDriven(
  "doctor sees whether the guard's hook is trusted",
  async (sandbox) => {
    const examine = async () => (await sandbox.beckon.run("doctor")).stdout;
    expect(await examine()).toContain("not trusted: Codex does not run them");
    await startTrusted(sandbox);
    expect(await examine()).toContain("Codex trusts them");
  },
  guardSettings({ mode: "strict" }),
);
