/** The real Copilot CLI with beckon's hooks. */
import { copilotDriver } from "./other/copilot.ts";
import { describeDialogs } from "./other/story.ts";

describeDialogs(copilotDriver, {
  ask: { tool: "Bash" },
  // The dialog waits for a reason.
  async deny(sandbox) {
    await sandbox.pressAndSee("3");
    await sandbox.typeLine("SAY not now");
  },
  atEnd: { model: "gpt-4.1" },
});
