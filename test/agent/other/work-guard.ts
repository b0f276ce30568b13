/** The work guard with another agent's real CLI: what it refuses, what the model learns, and that it never blocks when absent. */
import { expect } from "bun:test";
import { home } from "../namespace.ts";
import type { CliDriver, OtherSandbox, OtherSandboxOptions } from "./sandbox.ts";
import { createOtherCliTests } from "./scenario.ts";

export interface GuardedCli {
  readonly driver: CliDriver;
  /** Starts the CLI so that it asks nobody before it edits. */
  start(sandbox: OtherSandbox): Promise<void>;
  /** The prompt that makes the agent write this file of the project. */
  write(name: string): string;
  /** The prompt that makes the agent run this shell command, without asking. */
  run(command: string): string;
  /** Where the CLI keeps what the model learned, below the home folder. Absent if it takes no context from hooks. */
  readonly transcripts?: string;
  readonly options?: OtherSandboxOptions;
}

export const project = `${home}/proj`;
const strict = { projects: { [project]: { mode: "strict" } } };

/** As the reason of a refusal says: the agent's shell may not have it on its PATH. */
const beckon = `${home}/.local/bin/beckon`;
export const beginPort = `${beckon} port create login --title Login && ${beckon} port start login`;

/** A user's settings of the work guard. */
export const guardSettings = (workGuard: object, options: OtherSandboxOptions = {}): OtherSandboxOptions => ({
  ...options,
  files: { ...options.files, ".config/beckon/config.json": JSON.stringify({ workGuard }) },
});

export function describeGuard(guardedCli: GuardedCli): void {
  const { driver, start, write, run, transcripts, options = {} } = guardedCli;
  const { testDriven } = createOtherCliTests(driver);
  const guarded = (workGuard: object) => guardSettings(workGuard, options);
  async function edit(sandbox: OtherSandbox, name: string): Promise<boolean> {
    const before = sandbox.readRequests().length;
    await sandbox.typeLine(write(name));
    await sandbox.waitForRequests(before + 2);
    await sandbox.waitUntilIdle();
    return sandbox.hasFile(`proj/${name}`);
  }

  testDriven(
    "strict refuses an edit without a port and tells the model why; with a running port it goes through",
    async (sandbox) => {
      await start(sandbox);
      expect(await edit(sandbox, "one.txt")).toBe(false);
      const reason = sandbox.readLastText();
      expect(reason).toContain("No port is running, so this edit is refused");
      expect(reason).toContain("port create ID --title");
      await sandbox.waitForEvent("untracked_edit");

      const before = sandbox.readRequests().length;
      await sandbox.typeLine(run(beginPort));
      await sandbox.waitForRequests(before + 2);
      expect(sandbox.readLastText()).toContain("Started the port login (Login) for the session");
      await sandbox.waitUntilIdle();
      expect(await edit(sandbox, "two.txt")).toBe(true);
      await sandbox.waitForEvent("file_edit");
      await sandbox.waitForSession(({ port }) => port?.id === "login", "the port");
    },
    guarded(strict),
  );

  testDriven(
    "off in one project lets its edits through, though the general mode is strict",
    async (sandbox) => {
      await start(sandbox);
      expect(await edit(sandbox, "one.txt")).toBe(true);
    },
    guarded({ mode: "strict", projects: { [project]: { mode: "off" } } }),
  );

  if (transcripts !== undefined) {
    testDriven(
      "a session learns its port at its start, if the settings say so",
      async (sandbox) => {
        await sandbox.runShell(
          "cd proj && beckon port create login --title Login && beckon port start login",
        );
        await start(sandbox);
        await sandbox.say("hello");
        const find = ["grep", "-rq", "Running port login: Login", `${home}/${transcripts}`];
        const { code } = await sandbox.space.run(find, {});
        expect(code).toBe(0);
        expect(await sandbox.readScreen()).toContain("beckon: Running port login: Login");
      },
      guarded({ projects: { [project]: { mode: "strict", context: true, messages: true } } }),
    );
  }

  const faults: readonly (readonly [string, (sandbox: OtherSandbox) => Promise<void>])[] = [
    ["beckon is killed", (sandbox) => sandbox.beckon.kill()],
    ["beckon hangs", (sandbox) => sandbox.beckon.suspend()],
    ["the binary is removed", (sandbox) => sandbox.runShell("rm .local/bin/beckon")],
  ];
  for (const [title, inject] of faults) {
    testDriven(
      `strict never blocks an edit, and no error shows, if ${title}`,
      async (sandbox) => {
        await start(sandbox);
        expect(await edit(sandbox, "before.txt")).toBe(false);
        await sandbox.beckon.stopPolling();
        await inject(sandbox);
        expect(await edit(sandbox, "after.txt")).toBe(true);
        const screen = (await sandbox.readScreen()).split("after.txt").slice(1).join("");
        // Gemini CLI names the hooks of the last moments.
        const rest = screen.replaceAll(/Done, without errors\.|Executing Hooks?: [^\n]*/g, "");
        expect(rest).not.toMatch(/beckon|error|ENOENT|failed/i);
      },
      guarded(strict),
    );
  }
}
