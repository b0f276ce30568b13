/** Drives Copilot CLI's terminal. */
import { home } from "../namespace.ts";
import { otherClis } from "./clis.ts";
import { askedQuestion, callTool } from "./prompts.ts";
import { type CliDriver, otherApiPort } from "./sandbox.ts";

export const copilotDriver: CliDriver = {
  cli: otherClis.copilot,
  // With a provider of its own it needs no login.
  env: {
    COPILOT_OFFLINE: "true",
    COPILOT_PROVIDER_BASE_URL: `http://127.0.0.1:${otherApiPort}/v1`,
    COPILOT_PROVIDER_API_KEY: "not-a-key",
    COPILOT_MODEL: "gpt-4.1",
    COPILOT_AUTO_UPDATE: "false",
  },
  files: {
    ".copilot/config.json": JSON.stringify({ trusted_folders: [`${home}/proj`], banner: "never" }),
  },
  ready: /Type @|\/ for commands|shift\+tab|❯|Describe a task/i,
  dialogs: {
    permission: /Do you want to [^\n]*\?[\s\S]*esc to cancel/,
    question: /Copilot needs information\.[\s\S]*esc cancel/,
  },
  isWorking: (screen) => /esc [^\n]*interrupt/.test(screen.trimEnd().split("\n").at(-1) ?? ""),
  createCommandPrompt: (command) => callTool("bash", { command, description: "Run a command" }),
  questionPrompt: callTool("ask_user", {
    message: askedQuestion.question,
    requestedSchema: {
      type: "object",
      properties: { colour: { type: "string", title: "Colour", enum: ["Red", "Blue"] } },
      required: ["colour"],
    },
  }),
  exit: "/exit",
};
