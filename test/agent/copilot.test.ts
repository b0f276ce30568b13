/** The real Copilot CLI with beckon's hooks. */
import { bash, copilotDriver, question } from "./other/copilot.ts";
import { describeStory } from "./other/story.ts";

describeStory({
  driver: copilotDriver,
  createPrompt: bash,
  tool: "Bash",
  question,
  // The dialog waits for a reason.
  async deny(sandbox) {
    await sandbox.pressKeys("3");
    await Bun.sleep(500);
    await sandbox.typeLine("SAY not now");
  },
  atEnd: { model: "gpt-4.1" },
});
