/** Drives Qwen Code's terminal. */
import { otherClis } from "./clis.ts";
import { askedQuestion, callTool } from "./prompts.ts";
import { type CliDriver, otherApiPort } from "./sandbox.ts";

const settings = {
  security: { auth: { selectedType: "openai" }, folderTrust: { enabled: false } },
  model: { name: "fake-model" },
  general: { disableAutoUpdate: true, enableAutoUpdate: false },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  tools: { approvalMode: "default" },
  ui: { hideTips: true, hideBanner: true },
};

export const qwenDriver: CliDriver = {
  cli: otherClis.qwen,
  env: {
    OPENAI_API_KEY: "not-a-key",
    OPENAI_BASE_URL: `http://127.0.0.1:${otherApiPort}/v1`,
    OPENAI_MODEL: "fake-model",
    NO_UPDATE_NOTIFIER: "1",
  },
  files: { ".qwen/settings.json": `${JSON.stringify(settings, null, 2)}\n` },
  ready: /Type your message/i,
  dialogs: {
    question: /Enter: Select \| Esc: Cancel[\s\S]*Waiting for user/,
    permission: /1\. Yes, allow once[\s\S]*Waiting for user/,
  },
  isWorking: (screen) => /esc to cancel/.test(screen),
  createCommandPrompt: (command) =>
    callTool("run_shell_command", { command, description: "Run a command", is_background: false }),
  questionPrompt: callTool("ask_user_question", { questions: [{ ...askedQuestion, multiSelect: false }] }),
  // Its greeting at the first start, also without beckon.
  harmless: /Run \/reload-plugins to apply updates/g,
  exit: "/quit",
};
