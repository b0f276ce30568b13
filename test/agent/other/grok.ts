/** Drives Grok Build's terminal. */
import { otherClis } from "./clis.ts";
import { askedQuestion, callTool } from "./prompts.ts";
import { type CliDriver, otherApiPort } from "./sandbox.ts";

const api = `http://127.0.0.1:${otherApiPort}/v1`;
const config = [
  ...["[models]", 'default = "fake"', "", "[model.fake]", 'model = "fake-model"', `base_url = "${api}"`],
  ...[
    'name = "Fake"',
    'api_key = "not-a-key"',
    'api_backend = "chat_completions"',
    "context_window = 128000",
  ],
];

export const grokDriver: CliDriver = {
  cli: otherClis.grok,
  env: {
    XAI_API_KEY: "not-a-key",
    GROK_MODELS_BASE_URL: api,
    GROK_DISABLE_AUTOUPDATER: "1",
    GROK_AUTO_UPDATE: "0",
    GROK_TELEMETRY_ENABLED: "0",
    GROK_FOLDER_TRUST: "0",
  },
  files: { ".grok/config.toml": `${config.join("\n")}\n` },
  ready: /│ ❯ /,
  dialogs: {
    permission: /┃[\s\S]*\([○●]\) No, reject/,
    question: /Waiting on answers for[\s\S]*┃[\s\S]*Type your answer here/,
  },
  isWorking: (screen) => /Ctrl\+c:cancel/.test(screen),
  // A plain `touch` counts as safe, and is not asked for.
  createCommandPrompt: (command) =>
    callTool("run_terminal_command", { command: `sh -c '${command}'`, description: "Run a command" }),
  questionPrompt: callTool("ask_user_question", { questions: [askedQuestion] }),
  // Enter would allow everything from then on.
  approveKey: "3",
  exit: "/exit",
};
