/** The real Qwen Code, Kimi Code and Grok Build, one dialog each. Their other situations are in test/long, as is Kilo, which is opencode inside. */
import { grokDriver } from "./other/grok.ts";
import { kimiDriver } from "./other/kimi.ts";
import { qwenDriver } from "./other/qwen.ts";
import { describeApproval } from "./other/story.ts";

for (const driver of [qwenDriver, kimiDriver, grokDriver]) describeApproval(driver);
