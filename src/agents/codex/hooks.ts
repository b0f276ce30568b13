/** The hooks that beckon registers with Codex. */

export interface CodexHook {
  readonly event: string;
  /**
   * In seconds. The forwarder gives up after one second by itself. Codex cuts SessionEnd and Interrupt to 3 and warns about
   * more at every start (measured).
   */
  readonly timeout: number;
}

/**
 * All run synchronously: Codex waits for the hook, so a PermissionRequest is known before its dialog is on the screen, and events
 * arrive in order.
 */
export const codexHooks: readonly CodexHook[] = [
  { event: "SessionStart", timeout: 5 },
  { event: "SessionEnd", timeout: 3 },
  { event: "UserPromptSubmit", timeout: 5 },
  { event: "PreToolUse", timeout: 5 },
  { event: "PermissionRequest", timeout: 5 },
  { event: "PostToolUse", timeout: 5 },
  { event: "PreCompact", timeout: 5 },
  { event: "PostCompact", timeout: 5 },
  { event: "SubagentStart", timeout: 5 },
  { event: "SubagentStop", timeout: 5 },
  { event: "Stop", timeout: 5 },
  { event: "Interrupt", timeout: 3 },
];
