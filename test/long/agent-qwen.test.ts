/** The real Qwen Code with beckon's hooks and channel. */
import { expect } from "bun:test";
import { describeFaults } from "../agent/other/faults.ts";
import { qwenDriver } from "../agent/other/qwen.ts";
import { describeAnswers, describeDialogs, describeManyAnswers } from "../agent/other/story.ts";

describeAnswers(qwenDriver, { denial: [], hasQuestions: false });
describeManyAnswers(qwenDriver, []);
describeDialogs(qwenDriver, {
  ask: { tool: "Bash" },
  deny: (sandbox) => sandbox.pressKeys("4"),
  atEnd: { model: expect.stringContaining("fake") },
});
describeFaults(qwenDriver);
