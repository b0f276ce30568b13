/**
 * The stories that every agent's real CLI goes through: dialogs answered in the terminal and in beckon, interruptions and errors.
 * What beckon shows must be what is on the screen.
 */
import { expect } from "bun:test";
import type { AskView, SessionView } from "../../../src/core/view/session-view.ts";
import { letTimePass } from "../../wait-until.ts";
import type { CliDriver, OtherSandbox } from "./sandbox.ts";
import { createOtherCliTests } from "./scenario.ts";

type Step = (sandbox: OtherSandbox) => Promise<void>;

const pressEscape: Step = (sandbox) => sandbox.pressKeys("Escape");

export interface DialogStory {
  /** What beckon shows of the ask for a shell command. */
  readonly ask: Partial<AskView>;
  /** Says no in the dialog. */
  readonly deny: Step;
  /** Leaves the dialog with Esc. */
  readonly dismiss?: Step;
  /** What must happen before and after a question, if anything. */
  readonly toggleQuestions?: Step;
  /** What is known of the session at its end. */
  readonly atEnd: Partial<Record<keyof SessionView, unknown>>;
}

/** The shortest story: one dialog, which beckon shows, and which the user approves in the terminal. */
export function describeApproval(driver: CliDriver, tool = "Bash"): void {
  const { testScenario } = createOtherCliTests(driver);
  testScenario("a permission is shown until it is approved", async (sandbox) => {
    await sandbox.startFirst();
    await sandbox.openDialog("permission", driver.createCommandPrompt("touch approved"));
    const waiting = await sandbox.waitForSession(({ asks }) => asks.length > 0, "an ask");
    expect(waiting).toMatchObject({
      provider: driver.cli.id,
      activityPhase: "waiting_permission",
      asks: [{ kind: "permission", tool, summary: expect.stringContaining("touch approved") }],
    });
    await sandbox.pressKeys(driver.approveKey ?? "Enter");
    await sandbox.settle("approved");
    expect(await sandbox.listFiles()).toEqual(["approved"]);
  });
}

export function describeDialogs(
  driver: CliDriver,
  { ask, deny, dismiss = pressEscape, toggleQuestions, atEnd }: DialogStory,
): void {
  const { testScenario } = createOtherCliTests(driver);
  const title = "permissions approved, denied and left with Esc, a question, and kill -9";
  testScenario(title, async (sandbox) => {
    await sandbox.startFirst();
    await sandbox.say("hello");
    await sandbox.compareState("after the first turn");

    await sandbox.openDialog("permission", driver.createCommandPrompt("touch approved"));
    const waiting = await sandbox.waitForSession(({ asks }) => asks.length > 0, "an ask");
    expect(waiting).toMatchObject({
      provider: driver.cli.id,
      activityPhase: "waiting_permission",
      asks: [{ kind: "permission", summary: "touch approved", ...ask }],
    });
    await sandbox.pressKeys(driver.approveKey ?? "Enter");
    await sandbox.settle("approved");

    await sandbox.openDialog("permission", driver.createCommandPrompt("touch denied"));
    await deny(sandbox);
    await sandbox.settle("denied");

    await sandbox.openDialog("permission", driver.createCommandPrompt("touch dismissed"));
    await dismiss(sandbox);
    await sandbox.settle("dismissed");

    await toggleQuestions?.(sandbox);
    await sandbox.openDialog("question", driver.questionPrompt);
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
    await sandbox.pressKeys("Enter");
    await sandbox.settle("answered");
    await toggleQuestions?.(sandbox);

    await sandbox.startSlowTurn();
    await sandbox.killCli();
    const ended = await sandbox.waitForSession(({ state }) => state === "completed", "the end");
    expect(ended).toMatchObject({ tokens: { output: expect.any(Number) }, ...atEnd });
    expect(await sandbox.listFiles()).toEqual(["approved"]);
  });
}

export interface AnswerStory {
  readonly start?: Step;
  /** What the user writes to say no. Empty if the agent takes no reason. */
  readonly denial: readonly string[];
  readonly toggleQuestions?: Step;
  /** false if only the terminal answers questions. */
  readonly hasQuestions?: boolean;
}

/** Answers the open request with `beckon answer`, which closes the dialog. Returns what beckon showed of the request. */
export async function answerInBeckon(sandbox: OtherSandbox, ...args: readonly string[]): Promise<string> {
  const { sessionId } = await sandbox.waitForSession(
    ({ asks }) => asks.some(({ answerable }) => answerable),
    "an ask that can be answered",
  );
  const { stdout } = await sandbox.beckon.run("answer", sessionId);
  const { code, stderr } = await sandbox.beckon.run("answer", sessionId, ...args);
  expect([code, stderr]).toEqual([0, ""]);
  await sandbox.settle(args.join(" "));
  return stdout;
}

/** For an agent whose dialogs beckon can answer. */
export function describeAnswers(
  driver: CliDriver,
  { start = (sandbox) => sandbox.startFirst(), denial, toggleQuestions, hasQuestions = true }: AnswerStory,
): void {
  const { testScenario } = createOtherCliTests(driver);
  testScenario("answers given in beckon close the open dialog", async (sandbox) => {
    await start(sandbox);
    await sandbox.openDialog("permission", driver.createCommandPrompt("touch allowed"));
    await answerInBeckon(sandbox, "allow", "--yes");

    await sandbox.openDialog("permission", driver.createCommandPrompt("touch denied"));
    await answerInBeckon(sandbox, "deny", ...denial);
    for (const reason of denial) expect(sandbox.readLastText()).toContain(reason);

    if (hasQuestions) {
      await toggleQuestions?.(sandbox);
      await sandbox.openDialog("question", driver.questionPrompt);
      await answerInBeckon(sandbox, "Blue");
      expect(await sandbox.readScreen()).toContain("Blue");
    }
    expect(await sandbox.listFiles()).toEqual(["allowed"]);
  });
}

/** Ten times in a row each: a channel that works once may not do so the next time. */
export function describeManyAnswers(driver: CliDriver, denial: readonly string[]): void {
  const { testScenario } = createOtherCliTests(driver);
  const numbers = Array.from({ length: 10 }, (_, n) => n);
  for (const [title, prefix, args] of [
    ["allowed", "a", ["allow", "--yes"]],
    ["denied", "d", ["deny", ...denial]],
  ] as const)
    testScenario(`ten requests ${title} in beckon`, async (sandbox) => {
      await sandbox.startFirst();
      for (const n of numbers) {
        await sandbox.openDialog("permission", driver.createCommandPrompt(`touch ${prefix}${n}`));
        await answerInBeckon(sandbox, ...args);
      }
      expect(await sandbox.listFiles()).toEqual(args[0] === "allow" ? numbers.map((n) => `a${n}`) : []);
    });
}

export interface InterruptionStory {
  /** How often Esc must be pressed to interrupt a turn. */
  readonly escapes: 1 | 2;
  /** Whether the agent reports that a turn was interrupted. Otherwise beckon only sees that it is over. */
  readonly isReported: boolean;
  /** Whether it reports that a question was left. */
  readonly isLeavingReported?: true;
  /** Whether a question can be asked at once, and left with Esc. */
  readonly hasQuestions: boolean;
}

async function interrupt(sandbox: OtherSandbox, escapes: InterruptionStory["escapes"]): Promise<void> {
  for (let pressed = 0; pressed < escapes; pressed++) {
    if (pressed > 0) await letTimePass(300, "two at once would be one key with Alt");
    await sandbox.pressKeys("Escape");
  }
  await sandbox.waitUntilIdle();
  await sandbox.compareState("interrupted");
}

/** The agent may report the end of the command after that of the turn. */
export function describeStoppedCommand(
  driver: CliDriver,
  { escapes }: Pick<InterruptionStory, "escapes">,
): void {
  const { testScenario } = createOtherCliTests(driver);
  testScenario("Esc in a command that was approved", async (sandbox) => {
    await sandbox.startFirst();
    await sandbox.openDialog("permission", driver.createCommandPrompt("sleep 30"));
    await sandbox.pressKeys("Enter");
    await sandbox.waitUntilNoDialog();
    await sandbox.waitForSession(
      ({ asks, activityPhase }) => asks.length === 0 && activityPhase === "busy",
      "the approval",
    );
    await interrupt(sandbox, escapes);
    await sandbox.compareState("some time later");
    await sandbox.say("next");
    await sandbox.compareState("next");
  });
}

export function describeInterruptions(
  driver: CliDriver,
  { escapes, isReported, isLeavingReported, hasQuestions }: InterruptionStory,
): void {
  const { testScenario } = createOtherCliTests(driver);
  const where = hasQuestions ? "in a turn and in a question" : "in a turn";
  testScenario(`Esc ${where}, an API error, and the next prompts`, async (sandbox) => {
    await sandbox.startFirst();
    await sandbox.say("hello");
    await sandbox.startSlowTurn();
    await interrupt(sandbox, escapes);
    const expectReport = () =>
      sandbox.waitForSession(({ interrupted }) => interrupted === true, "the interruption");
    if (isReported) await expectReport();

    if (hasQuestions) {
      await sandbox.openDialog("question", driver.questionPrompt);
      await sandbox.pressKeys("Escape");
      await sandbox.settle("question left");
      if (isLeavingReported) await expectReport();
    }

    // Too quick to be seen at work.
    await sandbox.typeLine("DO error 400");
    await sandbox.waitForScreen(/as scripted/);
    await sandbox.waitUntilIdle();
    await sandbox.compareState("error");
    await sandbox.waitForSession(({ error }) => error?.includes("as scripted") === true, "the error");
    await sandbox.say("next");
    await sandbox.compareState("next");
    await sandbox.waitForSession(({ error, tokens }) => error === null && tokens !== null, "tokens");
  });
}

/** After a command that starts another session in the same terminal: the first has ended, and the second ends with the CLI. */
export async function leaveSecondSession(sandbox: OtherSandbox): Promise<void> {
  await sandbox.waitForSession(({ endReason }) => endReason === "clear", "the session that was left");
  await sandbox.compareState("in the new session");
  await sandbox.leaveCli();
  await sandbox.waitForSession(
    ({ state, endReason }) => state === "completed" && endReason !== "clear",
    "the end",
  );
}
