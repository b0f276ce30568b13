/** The real Gemini CLI with beckon's hooks. */
import { expect } from "bun:test";
import { geminiDriver, question, shell } from "./other/gemini.ts";
import { describeStory } from "./other/story.ts";

describeStory({
  driver: geminiDriver,
  createPrompt: shell,
  tool: "Shell",
  question,
  deny: (sandbox) => sandbox.pressKeys("3"),
  atEnd: { model: expect.stringContaining("gemini") },
});
