/** Drives opencode's terminal. */
import { modulesOf, otherClis } from "./clis.ts";
import { askedQuestion, callTool } from "./prompts.ts";
import { type CliDriver, type OtherSandbox, otherApiPort } from "./sandbox.ts";

const { opencode: cli } = otherClis;
const [, plugin = ""] = cli.packages;
const dependencies = { "@opencode-ai/plugin": plugin.split("@").at(-1) };

/** opencode's settings file. */
export const opencodeConfig = (permission: object) => ({
  ".config/opencode/opencode.json": JSON.stringify(createConfig(permission)),
});

export const createConfig = (permission: object) => ({
  model: "fake/fake-model",
  small_model: "fake/fake-model",
  autoupdate: false,
  share: "disabled",
  permission,
  provider: {
    fake: {
      npm: "@ai-sdk/openai-compatible",
      name: "Fake",
      options: { baseURL: `http://127.0.0.1:${otherApiPort}/v1`, apiKey: "not-a-key" },
      models: {
        "fake-model": { name: "Fake model", limit: { context: 100_000, output: 8_000 }, tool_call: true },
      },
    },
  },
});

export const opencodeDriver: CliDriver = {
  cli,
  env: {
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
  },
  files: {
    ...opencodeConfig({ bash: "ask", edit: "ask" }),
    // With these and the folder below, opencode does not try to install what it needs from the registry.
    ".config/opencode/package.json": JSON.stringify({ dependencies }),
    ".config/opencode/package-lock.json": JSON.stringify({
      lockfileVersion: 3,
      packages: { "": { dependencies } },
    }),
  },
  copies: {
    ".config/opencode/node_modules": (path) =>
      !path.slice(modulesOf(cli).length).match(/^\/(?:opencode-|\.bin)/),
  },
  ready: /Ask anything|ctrl\+p commands/,
  dialogs: {
    permission: /△ (?:Permission required|Always allow|Reject permission)/,
    question: /┃[^\n]*enter (?:submit|confirm|toggle)[^\n]*esc dismiss/,
  },
  isWorking: (screen) => /[■⬝]{4}\s+esc/.test(screen),
  createCommandPrompt: (command) => callTool("bash", { command, description: "Run a command" }),
  questionPrompt: callTool("question", { questions: [askedQuestion] }),
  exit: "/exit",
};

/** After "Reject", opencode asks for a reason. */
export const rejectWith =
  (...keys: readonly string[]) =>
  async (sandbox: OtherSandbox): Promise<void> => {
    // Arrows change only colours.
    for (const key of keys.slice(0, -1)) await sandbox.pressKeys(key);
    await sandbox.pressAndSee(keys.at(-1) ?? "");
    await sandbox.pressKeys("Enter");
  };
