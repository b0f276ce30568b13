/**
 * Registration in a settings file with hooks of the form that Claude Code and others share: `{hooks: {Event: [{hooks: […]}]}}`,
 * and the payloads of such hooks for doctor's live test.
 */
import type { JsonRecord } from "../../core/json.ts";
import { createShellCommand, readHookCommand } from "../../settings-file/hook-command.ts";
import {
  addHooks,
  isEmptySettings,
  listOwnHooks,
  type OwnHook,
  removeHooks,
  type WantedHook,
} from "../../settings-file/hooks.ts";
import type { RegistrationOptions } from "../agent.ts";
import type { SetupDescription } from "./index.ts";

type HooksSetup = Pick<
  SetupDescription,
  "createRegistration" | "createGuardRegistration" | "entries" | "listCalled"
>;

type HookForm = Omit<WantedHook, "command" | "args">;

/** A hook that asks the work guard. It comes and goes with the guard's settings, not with an install. */
export const asksGuard = ({ command }: Pick<OwnHook, "command">): boolean => /\s--guard\b/.test(command);

/**
 * `listHooks` lists what to register with this version of the agent, and `guardHooks` what asks the work guard before edits and
 * at the start of a session. Absent if the agent's edits cannot be refused.
 */
export function createHooksSetup(
  agent: string,
  listHooks: (version: string | null) => readonly HookForm[],
  guardHooks?: { readonly edits: HookForm; readonly starts: HookForm },
): HooksSetup {
  return {
    createRegistration({ version, binary, home, platform }: RegistrationOptions) {
      const command = createShellCommand({ binary, agent, home }, platform);
      const wanted = listHooks(version).map((hook) => ({ ...hook, ...command }));
      const add = (text: string | null) => addHooks(text, wanted, (hook) => !asksGuard(hook)).text;
      return { count: wanted.length, noun: "hook", add };
    },
    ...(guardHooks
      ? {
          createGuardRegistration({ binary, home, platform }, { edits, starts }) {
            const command = createShellCommand({ binary, agent, home, option: "--guard" }, platform);
            const forms = [...(edits ? [guardHooks.edits] : []), ...(starts ? [guardHooks.starts] : [])];
            const wanted = forms.map((hook) => ({ ...hook, ...command }));
            const add = (text: string | null) => addHooks(text, wanted, asksGuard).text;
            return { count: wanted.length, noun: "hook", add };
          },
        }
      : {}),
    entries: {
      findHomes: (text) => listCalledByHooks(text).map(({ home }) => home),
      remove: (text) => removeHooks(text).text,
      isEmpty: isEmptySettings,
    },
    listCalled: listCalledByHooks,
  };
}

function listCalledByHooks(text: string) {
  return listOwnHooks(text).flatMap(({ command }) => {
    const called = readHookCommand(command);
    return called === null ? [] : [{ binary: called.binary, home: called.home }];
  });
}

export const createTestPayload = (sessionId: string, eventName: string, fields: JsonRecord): JsonRecord => ({
  session_id: sessionId,
  hook_event_name: eventName,
  cwd: "/",
  ...fields,
});

/** The end of the session that the live test makes. */
export const createTestEnd = (sessionId: string): JsonRecord =>
  createTestPayload(sessionId, "SessionEnd", { reason: "other" });

/** A request to run a command, which is only a comment. */
export const createTestCommand = (sessionId: string, text: string): JsonRecord =>
  createTestPayload(sessionId, "PermissionRequest", {
    tool_name: "Bash",
    tool_input: { command: `# ${text}`, description: text },
  });
