/** Install, uninstall and doctor for Gemini CLI: hooks in its settings.json. */
import { join } from "node:path";
import { asRecord, parseJson } from "../../../core/json.ts";
import type { Env } from "../../../system/folders.ts";
import type { Scope } from "../../agent.ts";
import { createFindings, type Finding } from "../../finding.ts";
import type { RegisteredFile } from "../../setup/called-program.ts";
import { createHooksSetup, createLiveTest, createTestPayload } from "../../setup/hooks-setup.ts";
import { type AgentMachine, createAgentSetup } from "../../setup/index.ts";
import { geminiForwarding } from "../forwarding.ts";
import { editTools } from "../translate.ts";
import { isPresent, userSettingsPath } from "./folder.ts";

/**
 * Gemini CLI waits for each hook, so events that change nothing have none. PreCompress comes before every request to the model.
 * Notification delays its dialog by as long as it takes.
 */
const events = [
  "SessionStart",
  "SessionEnd",
  "BeforeAgent",
  "AfterAgent",
  "BeforeTool",
  "AfterTool",
  "Notification",
] as const;

const timeoutMs = 5_000;

export function settingsPath(scope: Scope, env: Env, cwd: string): string | null {
  if (scope === "user") return userSettingsPath(env);
  return scope === "project" ? join(cwd, ".gemini", "settings.json") : null;
}

/** The name is what Gemini CLI shows while a hook runs; without one it shows the whole command. */
const form = { name: "beckon", timeout: timeoutMs, async: false };

const hooks = createHooksSetup({
  id: "gemini",
  listHooks: () => events.map((event) => ({ event, ...form })),
  guard: {
    edits: { event: "BeforeTool", matcher: Object.keys(editTools).join("|"), ...form },
    starts: { event: "SessionStart", ...form },
  },
});

export const createGeminiSetup = (machine: AgentMachine = {}) =>
  createAgentSetup(
    {
      id: "gemini",
      name: "Gemini CLI",
      isPresent,
      describeProgram: () => ({
        program: "gemini",
        versionPattern: /^\s*v?(\d+\.\d+\.\d+[\w.+-]{0,40})\s*$/m,
      }),
      settingsPath,
      ...hooks,
      findMore: (_context, files) => files.flatMap(findSwitchedOff),
      liveTest: {
        ...createLiveTest({ ...geminiForwarding, sessionVariable: "GEMINI_SESSION_ID" }),
        createRequest: (sessionId, text) =>
          createTestPayload(sessionId, "Notification", {
            notification_type: "ToolPermission",
            message: text,
            details: { type: "exec", title: text, command: `# ${text}` },
          }),
      },
    },
    machine,
  );

export const geminiSetup = createGeminiSetup();

const finding = createFindings("hooks", "gemini");

/** Hooks are on by default. `hooksConfig` switches off all of them, or some by their name or command. */
function findSwitchedOff({ path, text, own, problem }: RegisteredFile): readonly Finding[] {
  if (problem !== null || own.length === 0) return [];
  const { enabled, disabled } = asRecord(asRecord(parseJson(text)).hooksConfig);
  if (enabled === false) {
    const fix = `Set hooksConfig.enabled to true in ${path}`;
    return [finding("fail", "switched-off", `hooks are switched off in ${path}: beckon hears nothing`, fix)];
  }
  const isDisabled = Array.isArray(disabled) && disabled.includes("beckon");
  const fix = "In Gemini CLI: /hooks enable beckon";
  return isDisabled ? [finding("fail", "disabled", `beckon's hooks are disabled in ${path}`, fix)] : [];
}
