/** Faults of beckon while another agent's CLI runs. None may show on the screen or keep a tool from running. */
import { expect } from "bun:test";
import { home } from "../namespace.ts";
import type { CliDriver, OtherSandbox } from "./sandbox.ts";
import { createOtherCliTests } from "./scenario.ts";

const faults: readonly (readonly [string, (sandbox: OtherSandbox) => Promise<void>])[] = [
  ["beckon is killed", (sandbox) => sandbox.beckon.kill()],
  ["beckon hangs", (sandbox) => sandbox.beckon.suspend()],
  ["the binary is removed", (sandbox) => sandbox.runShell("rm .local/bin/beckon")],
  [
    "the binary is broken",
    (sandbox) =>
      sandbox.runShell("rm .local/bin/beckon; echo nonsense >.local/bin/beckon; chmod +x .local/bin/beckon"),
  ],
];

export interface FaultOptions {
  /** The prompt that makes the agent run a shell command, which Enter approves. */
  createPrompt(command: string): string;
  /** What the user types to leave. */
  readonly exit: string;
  /** Starts the CLI and ends with an idle screen after the first turn. */
  start?(sandbox: OtherSandbox): Promise<void>;
}

export function describeFaults(
  driver: CliDriver,
  { createPrompt, exit, start = startWithOneTurn }: FaultOptions,
): void {
  const { testDriven } = createOtherCliTests(driver);
  for (const [title, inject] of faults) {
    testDriven(`no error and no refused tool if ${title}`, async (sandbox) => {
      await start(sandbox);
      await sandbox.beckon.stopPolling();
      await inject(sandbox);
      await sandbox.prompt(createPrompt("touch made"));
      await sandbox.waitForDialog("permission");
      await sandbox.pressKeys("Enter");
      await sandbox.waitForScreen(/Done, without errors/);
      await sandbox.waitUntilIdle();
      const { stdout } = await sandbox.space.run(["ls", `${home}/proj`], {});
      expect(stdout).toBe("made\n");
      // Gemini CLI says which hook it waits for.
      const screen = (await sandbox.readScreen()).replaceAll(
        /Done, without errors\.|Executing Hook: beckon/g,
        "",
      );
      expect(screen).not.toMatch(/beckon|error|ENOENT|failed|hook/i);
      await sandbox.leaveCli(exit);
    });
  }
}

async function startWithOneTurn(sandbox: OtherSandbox): Promise<void> {
  await sandbox.startCli();
  await sandbox.prompt("SAY hello");
  await sandbox.waitUntilIdle();
}
