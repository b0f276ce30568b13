/** The real Kilo with beckon's plugin. */
import { describeFaults } from "../agent/other/faults.ts";
import { kiloDriver } from "../agent/other/kilo.ts";
import { rejectWith } from "../agent/other/opencode.ts";
import { describeAnswers, describeDialogs, describeManyAnswers } from "../agent/other/story.ts";

describeDialogs(kiloDriver, {
  ask: { tool: "Bash" },
  deny: rejectWith("Right", "Right", "Enter"),
  dismiss: rejectWith("Escape"),
  atEnd: {},
});

describeAnswers(kiloDriver, { denial: ["not now"] });
describeManyAnswers(kiloDriver, ["not now"]);
describeFaults(kiloDriver);
