/** Kilo while the app runs: opencode's fork reports and asks as opencode does (run with 7.7.7). */
import { createOpencodeRuntime } from "../opencode/index.ts";
import { kiloVariant } from "./variant.ts";

export const kilo = createOpencodeRuntime(kiloVariant);
