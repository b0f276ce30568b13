/** beckon's hooks in Antigravity's hooks.json, where each program has a name of its own: `{beckon: {Event: [{type, command}]}}`. */
import { join } from "node:path";
import { asRecord } from "../../../core/json.ts";
import { createShellCommand, readHookCommand } from "../../../settings-file/hook-command.ts";
import { parseJsonFile, setJsonValue } from "../../../settings-file/json-edit.ts";
import { type Env, homeOf } from "../../../system/folders.ts";
import type { OwnEntries, Registration, RegistrationOptions } from "../../agent.ts";
import { readSettingsText } from "../../setup/file-check.ts";
import type { CalledBeckon } from "../../setup/index.ts";

/** The place that versions 1.0.5 to 1.1.27 read, by several reports. Its documentation names others. */
export const hooksPath = (env: Env): string => join(homeOf(env), ".gemini", "config", "hooks.json");

/** Older versions ignore SessionStart (reports). Not PreToolUse: if its output is empty or not understood, the tool is refused (reports). */
const events = ["SessionStart", "PreInvocation", "Stop"] as const;
const timeoutSec = 5;
const name = "beckon";

/** It is connected. One that is installed but not connected does not count: nobody has run this part yet. */
export function isRegistered(env: Env): boolean {
  try {
    return listCalled(readSettingsText(hooksPath(env))).length > 0;
  } catch {
    return false;
  }
}

/** An empty output counts as a malformed decision, and {} as none (reports). */
const quiet = "exit 0";
const answer = "echo '{}'";

export function createRegistration({ binary, home, platform }: RegistrationOptions): Registration {
  const { command } = createShellCommand({ binary, agent: "antigravity", home }, platform);
  const hook = { type: "command", command: command.replace(/exit 0$/, answer), timeout: timeoutSec };
  const wanted = Object.fromEntries(events.map((event) => [event, [hook]]));
  return {
    count: events.length,
    noun: "hook",
    add(text) {
      const current = asRecord(parseJsonFile(text ?? ""))[name];
      return text !== null && Bun.deepEquals(current, wanted)
        ? text
        : setJsonValue(text ?? "", [name], wanted);
    },
  };
}

export function listCalled(text: string): readonly CalledBeckon[] {
  return Object.values(asRecord(asRecord(parseJsonFile(text))[name])).flatMap((list) =>
    (Array.isArray(list) ? list : []).flatMap((hook: unknown) => {
      const { command } = asRecord(hook);
      const called = typeof command === "string" ? readHookCommand(command.replace(answer, quiet)) : null;
      return called === null ? [] : [{ binary: called.binary, home: called.home }];
    }),
  );
}

export const entries: OwnEntries = {
  findHomes: (text) => listCalled(text).map(({ home }) => home),
  remove: (text) => (listCalled(text).length === 0 ? text : setJsonValue(text, [name], undefined)),
  isEmpty: (text) => Object.keys(asRecord(parseJsonFile(text))).length === 0,
};
