/** Where the made-up agent keeps its files. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createTextCheck } from "../../../src/agents/setup/file-check.ts";
import { type Env, homeOf } from "../../../src/system/folders.ts";

export const exampleFolder = (env: Env): string => env.EXAMPLE_HOME || join(homeOf(env), ".example");
export const pluginPath = (env: Env): string => join(exampleFolder(env), "plugins", "beckon.sh");
export const { createRegistrationCheck } = createTextCheck(pluginPath, (text) =>
  text.includes(" hook example"),
);
export const isPresent = (env: Env): boolean => existsSync(exampleFolder(env));
