/** The hooks that beckon registers with Codex. */

export interface CodexHook {
  readonly event: string;
  /**
   * In seconds. The forwarder gives up after one second by itself. Codex cuts SessionEnd and Interrupt to 3 and warns about
   * more at every start (measured).
   */
  readonly timeout: number;
  /** Codex does not wait for the hook. */
  readonly async?: true;
}

/**
 * Codex waits for nearly all of them, so a PermissionRequest is known before its dialog is on the screen and after its call, and
 * events arrive in order. Nothing follows the end of a call at once but a request to the model: that hook runs beside it (measured
 * with 0.166: 80 of 80 arrive, from `codex exec` too).
 */
export const codexHooks: readonly CodexHook[] = [
  { event: "SessionStart", timeout: 5 },
  { event: "SessionEnd", timeout: 3 },
  { event: "UserPromptSubmit", timeout: 5 },
  { event: "PreToolUse", timeout: 5 },
  { event: "PermissionRequest", timeout: 5 },
  { event: "PostToolUse", timeout: 5, async: true },
  { event: "PreCompact", timeout: 5 },
  { event: "PostCompact", timeout: 5 },
  { event: "SubagentStart", timeout: 5 },
  { event: "SubagentStop", timeout: 5 },
  { event: "Stop", timeout: 5 },
  { event: "Interrupt", timeout: 3 },
];
