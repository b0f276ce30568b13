/** The real Codex with beckon's hooks. */
import { codexDriver, togglePlanMode } from "./other/codex.ts";
import { describeDialogs } from "./other/story.ts";

describeDialogs(codexDriver, {
  // Without its shared server, Codex takes no answers from beckon.
  ask: { tool: "Bash", answerable: false },
  deny: (sandbox) => sandbox.pressKeys("Down", "Down", "Enter"),
  toggleQuestions: togglePlanMode,
  atEnd: {},
});
