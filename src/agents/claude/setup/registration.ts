/** beckon's hooks in Claude Code's settings: what install writes, and what is beckon's own. */
import { existsSync } from "node:fs";
import {
  createExecCommand,
  createShellCommand,
  envProgram,
  readHookCommand,
} from "../../../settings-file/hook-command.ts";
import {
  addHooks,
  isEmptySettings,
  listOwnHooks,
  type OwnHook,
  removeHooks,
  type WantedHook,
} from "../../../settings-file/hooks.ts";
import type { GuardHooks, OwnEntries, Registration, RegistrationOptions } from "../../agent.ts";
import { asksGuard } from "../../setup/hooks-setup.ts";
import { editTools } from "../edits.ts";
import { guardDocumentsEvent, guardDocumentsSince, hooksFor, isAtLeast } from "../hooks.ts";
import { addStatusLine, findStatusLineHomes, removeStatusLine, updateStatusLine } from "./status-line.ts";

export function createRegistration(options: RegistrationOptions): Registration {
  const hooks = createHooks(options, existsSync(envProgram));
  const { binary, home } = options;
  const setStatusLine = options.statusLine ? addStatusLine : updateStatusLine;
  return {
    count: hooks.length,
    noun: "hook",
    add(text) {
      const withHooks = addHooks(text, hooks, (hook) => !isGuardHook(hook)).text;
      if (options.statusLine === false) return removeStatusLine(withHooks);
      return setStatusLine(withHooks, { binary, home });
    },
  };
}

export function createHooks(options: RegistrationOptions, hasEnv: boolean): WantedHook[] {
  const { version, binary, home, platform } = options;
  const parts = { binary, agent: "claude", home };
  const shell = createShellCommand(parts, platform);
  const exec = hasEnv || platform === "win32" ? createExecCommand(parts, platform) : shell;
  return hooksFor(version).map(({ canExec, ...entry }) => ({ ...entry, ...(canExec ? exec : shell) }));
}

/** The guard's hooks: they come and go with the settings of the work guard, not with an install. */
export const isGuardHook = (hook: OwnHook): boolean => hook.event === guardDocumentsEvent || asksGuard(hook);

export function createGuardRegistration(options: RegistrationOptions, hooks: GuardHooks): Registration {
  const wanted = createGuardHooks(options, hooks);
  return {
    count: wanted.length,
    noun: "hook",
    add: (text) => addHooks(text, wanted, isGuardHook).text,
  };
}

function createGuardHooks(
  { version, binary, home, platform }: RegistrationOptions,
  { edits, starts, documents }: GuardHooks,
): WantedHook[] {
  const parts = { binary, agent: "claude", home };
  const decide = {
    timeout: 5,
    async: false,
    ...createShellCommand({ ...parts, option: "--guard" }, platform),
  };
  return [
    ...(edits ? [{ event: "PreToolUse", matcher: Object.keys(editTools).join("|"), ...decide }] : []),
    ...(starts ? [{ event: "SessionStart", ...decide }] : []),
    ...(documents && version !== null && isAtLeast(version, guardDocumentsSince)
      ? [{ event: guardDocumentsEvent, timeout: 5, async: true, ...createShellCommand(parts, platform) }]
      : []),
  ];
}

export const entries: OwnEntries = {
  findHomes: (text) => [
    ...listOwnHooks(text).map(({ command }) => readHookCommand(command)?.home ?? null),
    ...findStatusLineHomes(text),
  ],
  remove: (text) => removeHooks(removeStatusLine(text)).text,
  isEmpty: isEmptySettings,
};
