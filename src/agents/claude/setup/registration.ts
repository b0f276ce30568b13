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
  removeHooks,
  type WantedHook,
} from "../../../settings-file/hooks.ts";
import type { OwnEntries, Registration, RegistrationOptions } from "../../agent.ts";
import { hooksFor } from "../hooks.ts";
import { addStatusLine, findStatusLineHomes, removeStatusLine, updateStatusLine } from "./status-line.ts";

export function createRegistration(options: RegistrationOptions): Registration {
  const hooks = createHooks(options, existsSync(envProgram));
  const { binary, home } = options;
  const setStatusLine = options.statusLine ? addStatusLine : updateStatusLine;
  return {
    count: hooks.length,
    noun: "hook",
    add(text) {
      const withHooks = addHooks(text, hooks).text;
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

export const entries: OwnEntries = {
  findHomes: (text) => [
    ...listOwnHooks(text).map(({ command }) => readHookCommand(command)?.home ?? null),
    ...findStatusLineHomes(text),
  ],
  remove: (text) => removeHooks(removeStatusLine(text)).text,
  isEmpty: isEmptySettings,
};
