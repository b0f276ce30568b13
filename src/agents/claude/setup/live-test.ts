/** How doctor sends a test event to beckon the way Claude Code does. */
import { readHookCommand } from "../../../settings-file/hook-command.ts";
import type { LiveTest } from "../../agent.ts";
import { canRun, isTrustedBinary } from "../../setup/called-program.ts";
import { createTestCommand, createTestEnd } from "../../setup/hooks-setup.ts";
import type { SettingsFacts } from "./findings.ts";

export interface LiveTestOptions {
  readonly files: readonly SettingsFacts[];
  /** beckon's own plugin, if it is enabled. */
  readonly plugin: string | null;
  /** The binary that the last install recorded. */
  readonly binary: string | null;
}

export function createLiveTest(options: LiveTestOptions): LiveTest {
  return {
    ...chooseCommand(options),
    createRequest: (sessionId, text) => ({
      ...createTestCommand(sessionId, text),
      permission_mode: "default",
    }),
    createEnd: createTestEnd,
    createEnv: (env, sessionId, pid) => ({
      ...env,
      CLAUDE_PID: String(pid),
      CLAUDE_CODE_SESSION_ID: sessionId,
      CLAUDE_CODE_ENTRYPOINT: "cli",
      CLAUDE_CODE_SESSION_ATTENDED: "1",
      // The session is shown with the last part of this path.
      CLAUDE_PROJECT_DIR: "/beckon doctor",
    }),
  };
}

function chooseCommand({
  files,
  plugin,
  binary: installed,
}: LiveTestOptions): Pick<LiveTest, "command" | "path" | "reason"> {
  const none = (reason: string) => ({ command: null, path: null, reason });
  const registered = files.flatMap(({ scope, path, own }) =>
    own
      .filter(({ event }) => event === "PermissionRequest" || event === "SessionStart")
      .map(({ command }) => ({ scope, path, command, parts: readHookCommand(command) })),
  );
  if (registered.length === 0) {
    return none(
      plugin === null ? "no hook is registered" : "only Claude Code itself runs the hooks of a plugin",
    );
  }
  const trusted = registered.find(({ scope, parts }) => {
    const isOwn = scope === "user" || scope === "managed";
    return parts !== null && (isOwn || isTrustedBinary(parts.binary, installed));
  });
  if (!trusted) return none("the registered command is another program than this one, and was not run");
  const { binary = "", agent = null, home = null } = trusted.parts ?? {};
  if (!canRun(binary)) return none("the registered command cannot run");
  // On Windows the shell that runs the command depends on what is installed: run the program itself.
  const isDirect = process.platform === "win32" && home === null;
  return {
    command: isDirect ? [binary, "hook", ...(agent === null ? [] : [agent])] : trusted.command,
    path: trusted.path,
    reason: null,
  };
}
