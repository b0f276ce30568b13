/** The real opencode with beckon's plugin. */
import { opencodeDriver } from "./other/opencode.ts";
import type { OtherSandbox } from "./other/sandbox.ts";
import { describeAnswers, describeDialogs } from "./other/story.ts";

/** After "Reject", opencode asks for a reason. */
const rejectWith =
  (...keys: readonly string[]) =>
  async (sandbox: OtherSandbox): Promise<void> => {
    // Arrows change only colours.
    for (const key of keys.slice(0, -1)) await sandbox.pressKeys(key);
    await sandbox.pressAndSee(keys.at(-1) ?? "");
    await sandbox.pressKeys("Enter");
  };

describeDialogs(opencodeDriver, {
  ask: { tool: "Bash" },
  deny: rejectWith("Right", "Right", "Enter"),
  dismiss: rejectWith("Escape"),
  atEnd: {},
});

describeAnswers(opencodeDriver, { denial: ["not now"] });
