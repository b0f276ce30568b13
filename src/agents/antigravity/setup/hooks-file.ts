/** beckon's hooks in Antigravity's hooks.json, where each program has a name of its own: `{beckon: {Event: [{type, command}]}}`. */
import { asRecord } from "../../../core/json.ts";
import { createShellCommand } from "../../../user-files/hook-command.ts";
import { parseJsonFile, setJsonValue } from "../../../user-files/json-edit.ts";
import type { OwnEntries, Registration, RegistrationOptions } from "../../agent.ts";
import type { OwnEntry } from "../../setup/called-program.ts";
import { emptyDecision, listOwnEntries, ownName } from "./registered.ts";

/** Older versions ignore SessionStart (reports). Not PreToolUse: if its output is empty or not understood, the tool is refused (reports). */
const events = ["SessionStart", "PreInvocation", "Stop"] as const;
const timeoutSec = 5;

export function createRegistration({ binary, home, platform }: RegistrationOptions): Registration {
  const { command } = createShellCommand({ binary, agent: "antigravity", home }, platform);
  const hook = { type: "command", command: command.replace(/exit 0$/, emptyDecision), timeout: timeoutSec };
  const wanted = Object.fromEntries(events.map((event) => [event, [hook]]));
  return {
    count: events.length,
    noun: "hook",
    add(text) {
      const current = asRecord(parseJsonFile(text ?? ""))[ownName];
      return text !== null && Bun.deepEquals(current, wanted)
        ? text
        : setJsonValue(text ?? "", [ownName], wanted);
    },
  };
}

export const listOwn = (text: string): readonly OwnEntry[] => listOwnEntries(parseJsonFile(text));

export const entries: OwnEntries = {
  findHomes: (text) => listOwn(text).map(({ home }) => home),
  remove: (text) => (listOwn(text).length === 0 ? text : setJsonValue(text, [ownName], undefined)),
  isEmpty: (text) => Object.keys(asRecord(parseJsonFile(text))).length === 0,
};
