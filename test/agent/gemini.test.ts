/** The real Gemini CLI with beckon's hooks. */
import { expect } from "bun:test";
import { geminiDriver } from "./other/gemini.ts";
import { describeDialogs } from "./other/story.ts";

describeDialogs(geminiDriver, {
  ask: { tool: "Shell" },
  deny: (sandbox) => sandbox.pressKeys("3"),
  atEnd: { model: expect.stringContaining("gemini") },
});
