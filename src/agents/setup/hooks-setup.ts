/**
 * Registration in a settings file with hooks of the form that Claude Code and others share: `{hooks: {Event: [{hooks: […]}]}}`,
 * what doctor says about them, and the payloads of such hooks for doctor's live test.
 */
import { existsSync } from "node:fs";
import type { JsonRecord } from "../../core/json.ts";
import {
  createExecCommand,
  createShellCommand,
  envProgram,
  readHookCommand,
} from "../../user-files/hook-command.ts";
import {
  addHooks,
  type HookForm,
  isEmptySettings,
  listOwnHooks,
  type OwnHook,
  removeHooks,
  type WantedHook,
} from "../../user-files/hooks.ts";
import type { Forwarding, RegistrationOptions } from "../agent.ts";
import { createFindings } from "../finding.ts";
import { compareHooks, type ExplainExtra } from "./findings.ts";
import type { SetupDescription } from "./index.ts";

interface RegisteredForm extends HookForm {
  /** The agent can run the program without a shell, and would not show that it failed. */
  readonly canExec?: boolean;
  /** The agent waits for the hook, and needs nothing from it. */
  readonly isDetached?: boolean;
}

export interface HooksDescription {
  readonly id: string;
  /** What the ids of doctor's findings start with. The agent's id if absent. */
  readonly hookPrefix?: string;
  /** What to register with this version of the agent. null if it is unknown. */
  listHooks(version: string | null): readonly RegisteredForm[];
  /** What asks the work guard. Absent if the agent's edits cannot be refused. */
  readonly guard?: {
    readonly edits: HookForm;
    readonly starts: HookForm;
    /** Reports files of instructions. Nothing else is registered for its event. */
    readonly documents?: { readonly form: HookForm; isKnownTo(version: string | null): boolean };
  };
  explainExtra?(version: string | null): ExplainExtra;
}

/** A hook that asks the work guard. */
export const asksGuard = ({ command }: Pick<OwnHook, "command">): boolean => /\s--guard\b/.test(command);

export function createHooksSetup({
  id,
  hookPrefix = id,
  listHooks,
  guard,
  explainExtra,
}: HooksDescription): Pick<
  SetupDescription,
  "createRegistration" | "createGuardRegistration" | "entries" | "listOwn" | "examineFile"
> {
  /** The work guard's hooks come and go with its settings, not with an install. */
  const isGuardHook = (hook: OwnHook): boolean =>
    asksGuard(hook) || hook.event === guard?.documents?.form.event;
  const createChange = (wanted: readonly WantedHook[], isManaged: (hook: OwnHook) => boolean) => ({
    count: wanted.length,
    noun: "hook",
    add: (text: string | null) => addHooks(text, wanted, isManaged).text,
  });
  const finding = createFindings("hooks", hookPrefix);
  return {
    createRegistration: (options) =>
      createChange(createHooks(id, listHooks(options.version), options), (hook) => !isGuardHook(hook)),
    ...(guard
      ? {
          createGuardRegistration({ version, binary, home, platform }, { edits, starts, documents }) {
            const parts = { binary, agent: id, home };
            const asking = createShellCommand({ ...parts, option: "--guard" }, platform);
            const hooks = [
              ...(edits ? [{ ...guard.edits, ...asking }] : []),
              ...(starts ? [{ ...guard.starts, ...asking }] : []),
              ...(documents && guard.documents?.isKnownTo(version)
                ? [{ ...guard.documents.form, ...createShellCommand(parts, platform) }]
                : []),
            ];
            return createChange(hooks, isGuardHook);
          },
        }
      : {}),
    entries: {
      findHomes: (text) => listOwnHooks(text).map(({ command }) => readHookCommand(command)?.home ?? null),
      remove: (text) => removeHooks(text).text,
      isEmpty: isEmptySettings,
    },
    listOwn: (text) =>
      listOwnHooks(text).flatMap((hook) => {
        const called = isGuardHook(hook) ? null : readHookCommand(hook.command);
        return called === null ? [] : [{ ...called, hook }];
      }),
    examineFile: (file, version) => compareHooks(finding, file, listHooks(version), explainExtra?.(version)),
  };
}

/** The hooks with the command that calls beckon. */
export function createHooks(
  agent: string,
  forms: readonly RegisteredForm[],
  { binary, home, platform }: RegistrationOptions,
  hasEnv = existsSync(envProgram),
): readonly WantedHook[] {
  const parts = { binary, agent, home };
  const shell = createShellCommand(parts, platform);
  const detached = createShellCommand({ ...parts, isDetached: true }, platform);
  const exec = hasEnv || platform === "win32" ? createExecCommand(parts, platform) : shell;
  // PowerShell, which may run the agent's hooks on Windows, takes a path in quotes for a text.
  const isQuoted = platform === "win32" && /^["']/.test(shell.command);
  const knowsArgs = forms.some(({ canExec }) => canExec);
  return forms.map(({ canExec = false, isDetached = false, ...form }) => ({
    ...form,
    ...(canExec || (isQuoted && knowsArgs) ? exec : isDetached ? detached : shell),
  }));
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

/** doctor's live test. The session is shown with the last part of the project's path. */
export const createLiveTest = ({
  projectVariable,
  sessionVariable,
}: Pick<Forwarding, "projectVariable" | "sessionVariable">): SetupDescription["liveTest"] => ({
  createRequest: createTestCommand,
  createEnd: createTestEnd,
  createEnv: (env, sessionId) => ({
    ...env,
    ...(projectVariable === null ? {} : { [projectVariable]: "/beckon doctor" }),
    ...(sessionVariable === undefined ? {} : { [sessionVariable]: sessionId }),
  }),
});
