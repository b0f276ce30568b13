/** Drives Codex's terminal. */
import { letTimePass, waitUntil } from "../../wait-until.ts";
import { home } from "../namespace.ts";
import { otherClis } from "./clis.ts";
import { askedQuestion, callTool } from "./prompts.ts";
import { type CliDriver, type OtherSandbox, otherApiPort } from "./sandbox.ts";

export const codexConfig = `model = "gpt-5.2-codex"
model_provider = "fake"
approval_policy = "on-request"
sandbox_mode = "workspace-write"
check_for_update_on_startup = false

[model_providers.fake]
name = "fake"
base_url = "http://127.0.0.1:${otherApiPort}/v1"
env_key = "FAKE_KEY"
wire_api = "responses"

[projects."${home}/proj"]
trust_level = "trusted"

[analytics]
enabled = false
`;

/** A model to which Codex gives the tool apply_patch. It does so only for models that it knows. */
export const patchingModel = "gpt-6.1-sol";

const trustDialog = /Hooks need review/;

export const codexDriver: CliDriver = {
  cli: otherClis.codex,
  env: { FAKE_KEY: "not-a-key", RUST_LOG: "off" },
  files: { ".codex/config.toml": codexConfig },
  ready: /\? for shortcuts|Hooks need review/,
  dialogs: {
    permission: /Would you like to [^\n]*\?[\s\S]*Press enter to confirm or esc/,
    question: /Question \d+\/\d+[\s\S]*esc to interrupt/,
    plan: /Implement this plan\?[\s\S]*esc back/,
  },
  isWorking: (screen) => /esc to interrupt/i.test(screen),
  createReplyPattern: (text) => new RegExp(`^• ${text}`, "m"),
  // Codex may not run it in its sandbox, so it asks.
  createCommandPrompt: (cmd) =>
    callTool("exec_command", {
      cmd,
      sandbox_permissions: "require_escalated",
      justification: "A reason",
    }),
  questionPrompt: callTool("request_user_input", { questions: [{ id: "colour", ...askedQuestion }] }),
  // Its screen shows no work while a reply comes.
  slowPrompt: callTool("exec_command", { cmd: "sleep 60", yield_time_ms: 30_000 }),
  exit: "/exit",
  startFirst: startTrusted,
};

/** Starts Codex without its shared server, and trusts beckon's hooks in its dialog, as a user does. */
export async function startTrusted(sandbox: OtherSandbox, args = ""): Promise<void> {
  await sandbox.startCli(`--no-daemon ${args}`);
  await sandbox.waitForScreen(trustDialog);
  await sandbox.pressAndSee("Down");
  await sandbox.pressKeys("Enter");
  await sandbox.waitForScreen(/\? for shortcuts/);
  await letTimePass(800, "it shows its prompt before it reads keys");
}

/** Turns plan mode on or off. Only in plan mode does Codex ask questions. */
export async function togglePlanMode(sandbox: OtherSandbox): Promise<void> {
  await sandbox.pressAndSee("BTab");
}

/** With its shared server, Codex can leave the first prompt unsent. */
async function sendFirst(sandbox: OtherSandbox): Promise<void> {
  await sandbox.typeLine("SAY started");
  let tries = 0;
  const isSent = async () => {
    if (/^• started/m.test(await sandbox.readScreen())) return true;
    if (tries++ % 40 === 39) await sandbox.pressKeys("Enter");
    return false;
  };
  await waitUntil(isSent, 20_000, "an answer to the first prompt", 100);
}

/** Starts Codex with its shared server and one turn. The hooks are trusted first, in a terminal without it. */
export async function startWithServer(sandbox: OtherSandbox, args = ""): Promise<void> {
  await sandbox.startFirst();
  await sandbox.say("hello");
  await sandbox.leaveCli();
  await sandbox.startCli(args);
  await sendFirst(sandbox);
  await sandbox.waitUntilIdle();
}
