/** The dialogs of the real opencode, answered in its terminal. */
import { opencodeDriver, rejectWith } from "../agent/other/opencode.ts";
import { describeDialogs } from "../agent/other/story.ts";

describeDialogs(opencodeDriver, {
  ask: { tool: "Bash" },
  deny: rejectWith("Right", "Right", "Enter"),
  dismiss: rejectWith("Escape"),
  atEnd: {},
});
