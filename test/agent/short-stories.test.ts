/** The real Qwen Code, Kilo, Kimi Code and Grok Build, one dialog each. Their other situations are in test/long. */
import { grokDriver } from "./other/grok.ts";
import { kiloDriver } from "./other/kilo.ts";
import { kimiDriver } from "./other/kimi.ts";
import { qwenDriver } from "./other/qwen.ts";
import { describeApproval } from "./other/story.ts";

for (const driver of [qwenDriver, kiloDriver, kimiDriver, grokDriver]) describeApproval(driver);
