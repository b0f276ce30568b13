/**
 * The story that every agent's real CLI goes through: permissions approved, denied and left with Esc, a question, and kill -9.
 * What beckon shows must be what is on the screen.
 */
import { expect } from "bun:test";
import type { SessionSnapshot } from "../../../src/core/view/snapshot.ts";
import type { CliDriver, OtherSandbox } from "./sandbox.ts";
import { createOtherCliTests } from "./scenario.ts";

export interface Story {
  readonly driver: CliDriver;
  /** The prompt that makes the agent run this shell command. */
  createPrompt(command: string): string;
  /** The name of the tool that runs it, in alerts. */
  readonly tool: string;
  /** The prompt that makes the agent ask which colour the user wants. */
  readonly question: string;
  /** Says no in the dialog. */
  deny(sandbox: OtherSandbox): Promise<void>;
  /** What is known of the session at its end. */
  readonly atEnd: Partial<Record<keyof SessionSnapshot, unknown>>;
}

export function describeStory({ driver, createPrompt, tool, question, deny, atEnd }: Story): void {
  const { testScenario } = createOtherCliTests(driver);
  const title = "permissions approved, denied and left with Esc, a question, and kill -9";
  testScenario(title, async (sandbox) => {
    const askForPermission = async (command: string) => {
      await sandbox.prompt(createPrompt(command));
      await sandbox.waitForDialog("permission");
      await sandbox.look(`dialog for ${command}`);
    };
    const settle = async (label: string) => {
      await sandbox.waitUntilNoDialog();
      await sandbox.waitUntilIdle();
      await sandbox.look(label);
    };
    await sandbox.startCli();
    await sandbox.prompt("SAY hello");
    await sandbox.waitUntilIdle();
    await sandbox.look("after the first turn");

    await askForPermission("touch approved");
    const waiting = await sandbox.waitForSession(({ asks }) => asks.length > 0, "an ask");
    expect(waiting).toMatchObject({
      provider: driver.cli.id,
      activityPhase: "waiting_permission",
      asks: [{ kind: "permission", tool, summary: "touch approved" }],
    });
    await sandbox.pressKeys("Enter");
    await settle("approved");

    await askForPermission("touch denied");
    await deny(sandbox);
    await settle("denied");

    await askForPermission("touch dismissed");
    await sandbox.pressKeys("Escape");
    await settle("dismissed");

    await sandbox.prompt(question);
    await sandbox.waitForDialog("question");
    const asking = await sandbox.waitForSession(
      ({ asks }) => asks.some(({ options }) => options.length > 0),
      "a question",
    );
    expect(asking.asks).toMatchObject([
      {
        kind: "question",
        summary: expect.stringContaining("Which colour do you want"),
        options: ["Red", "Blue"],
      },
    ]);
    await sandbox.look("question");
    await sandbox.pressKeys("Enter");
    await settle("answered");

    await sandbox.prompt("DO slow 30");
    await sandbox.look("working");
    await sandbox.killCli();
    const ended = await sandbox.waitForSession(({ state }) => state === "completed", "the end");
    expect(ended).toMatchObject({ tokens: { output: expect.any(Number) }, ...atEnd });
    const { stdout } = await sandbox.space.run(["ls", "proj"], {});
    expect(stdout).toBe("approved\n");
  });
}
