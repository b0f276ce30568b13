/** Registration in a settings file with hooks of the form that Claude Code and others share: `{hooks: {Event: [{hooks: […]}]}}`. */
import { createShellCommand, readHookCommand } from "../../settings-file/hook-command.ts";
import {
  addHooks,
  isEmptySettings,
  listOwnHooks,
  removeHooks,
  type WantedHook,
} from "../../settings-file/hooks.ts";
import type { RegistrationOptions } from "../agent.ts";
import type { SetupDescription } from "./index.ts";

type HooksSetup = Pick<SetupDescription, "createRegistration" | "entries" | "listCalled">;

/** `listHooks` lists what to register with this version of the agent. */
export function createHooksSetup(
  agent: string,
  listHooks: (version: string | null) => readonly Omit<WantedHook, "command" | "args">[],
): HooksSetup {
  return {
    createRegistration({ version, binary, home, platform }: RegistrationOptions) {
      const command = createShellCommand({ binary, agent, home }, platform);
      const wanted = listHooks(version).map((hook) => ({ ...hook, ...command }));
      return { count: wanted.length, noun: "hook", add: (text) => addHooks(text, wanted).text };
    },
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
