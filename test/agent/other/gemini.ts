/** Drives Gemini CLI's terminal. */
import { home } from "../namespace.ts";
import { otherClis } from "./clis.ts";
import { askedQuestion, callTool } from "./prompts.ts";
import { type CliDriver, otherApiPort } from "./sandbox.ts";

const settings = {
  security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
  general: { disableAutoUpdate: true, enableAutoUpdate: false, enableAutoUpdateNotification: false },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  ui: { hideTips: true, hideBanner: true },
};

export const geminiDriver: CliDriver = {
  cli: otherClis.gemini,
  env: {
    GEMINI_API_KEY: "not-a-key",
    GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${otherApiPort}`,
    GEMINI_TELEMETRY_ENABLED: "false",
    NO_UPDATE_NOTIFIER: "1",
  },
  files: {
    ".gemini/settings.json": `${JSON.stringify(settings, null, 2)}\n`,
    ".gemini/trustedFolders.json": JSON.stringify({ [`${home}/proj`]: "TRUST_FOLDER" }),
  },
  ready: /type your message/i,
  dialogs: {
    permission:
      /(?:Allow execution of|Apply this change|Do you want to)[^\n]*\?[\s\S]*1\. Allow once[\s\S]*\(esc\)/,
    question: /Answer Questions[\s\S]*Esc to cancel/,
  },
  isWorking: (screen) => /\(esc to cancel/.test(screen),
  createCommandPrompt: (command) => callTool("run_shell_command", { command, description: "Run a command" }),
  questionPrompt: callTool("ask_user", {
    questions: [{ ...askedQuestion, question: "Which colour do you want", type: "choice" }],
  }),
  // It names the hooks of the last moments.
  harmless: /Executing Hooks?: beckon(?:, beckon)*/g,
  exit: "/quit",
  // The script starts itself once more, with an option.
  interpreter: "(/usr/bin/)?node (--[^ ]* )?",
};
