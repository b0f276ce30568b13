/** The real Gemini CLI, Copilot CLI, Qwen Code, Kimi Code and Grok Build, one dialog each. Their other situations are in test/long, as is Kilo, which is opencode inside. */
import { copilotDriver } from "./other/copilot.ts";
import { geminiDriver } from "./other/gemini.ts";
import { grokDriver } from "./other/grok.ts";
import { kimiDriver } from "./other/kimi.ts";
import { qwenDriver } from "./other/qwen.ts";
import { describeApproval } from "./other/story.ts";

describeApproval(geminiDriver, "Shell");
for (const driver of [copilotDriver, qwenDriver, kimiDriver, grokDriver]) describeApproval(driver);
