/** Drives Kimi Code's terminal. */
import { createHash } from "node:crypto";
import { home } from "../namespace.ts";
import { otherClis } from "./clis.ts";
import { askedQuestion, callTool } from "./prompts.ts";
import { type CliDriver, otherApiPort } from "./sandbox.ts";

const root = `${home}/proj`;
const workspace = `wd_proj_${createHash("sha256").update(root).digest("hex").slice(0, 12)}`;

/** The user's own hook, which has to run as before. */
const ownHook = `[[hooks]]\nevent = "Stop"\ncommand = "echo stopped >>${home}/own-hook"\n`;

export const kimiDriver: CliDriver = {
  cli: otherClis.kimi,
  env: {
    KIMI_MODEL_NAME: "fake-model",
    KIMI_MODEL_API_KEY: "not-a-key",
    KIMI_MODEL_BASE_URL: `http://127.0.0.1:${otherApiPort}/v1`,
    KIMI_MODEL_PROVIDER_TYPE: "openai",
    KIMI_CODE_NO_AUTO_UPDATE: "1",
    KIMI_DISABLE_TELEMETRY: "1",
  },
  files: {
    ".kimi-code/config.toml": `telemetry = false\ndefault_permission_mode = "manual"\n\n${ownHook}`,
    [`.kimi-code/workspace-trust/${workspace}`]: JSON.stringify({ root, trustedAt: 1_794_800_000_000 }),
  },
  ready: /│ > [\s\S]*context: /,
  dialogs: {
    question: /\? Which colour[\s\S]*(?:esc|↵)/i,
    permission: /▶ [^\n]*\?\n[\s\S]*1\. Approve once[\s\S]*↵ confirm/,
  },
  isWorking: (screen) =>
    /esc to interrupt|ctrl-c to interrupt|[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]|[\u{1F311}-\u{1F318}]/u.test(screen),
  createCommandPrompt: (command) => callTool("Bash", { command, description: "Run a command" }),
  questionPrompt: callTool("AskUserQuestion", { questions: [askedQuestion] }),
  exit: "/exit",
};
