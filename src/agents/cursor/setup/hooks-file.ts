/** beckon's entries in Cursor's hooks.json: `{version: 1, hooks: {event: [{command}]}}`. */
import { asRecord } from "../../../core/json.ts";
import { createShellCommand } from "../../../user-files/hook-command.ts";
import { parseJsonFile, setJsonValue } from "../../../user-files/json-edit.ts";
import type { OwnEntries, Registration, RegistrationOptions } from "../../agent.ts";
import { listOwnEntries } from "./registered.ts";

/** None of them can refuse a tool call. */
const events = ["sessionStart", "sessionEnd", "beforeSubmitPrompt", "afterFileEdit", "stop"] as const;
const timeoutSec = 5;

export const listOwn = (text: string) => listOwnEntries(parseJsonFile(text));

export function createRegistration({ binary, home, platform }: RegistrationOptions): Registration {
  const { command } = createShellCommand({ binary, agent: "cursor", home }, platform);
  return {
    count: events.length,
    noun: "hook",
    add(text) {
      const before = text ?? "";
      const own = listOwn(before);
      const isCurrent = own.length === events.length && own.every((entry) => entry.command === command);
      if (isCurrent && text !== null) return text;
      let result = removeOwn(before);
      if (asRecord(parseJsonFile(result)).version === undefined)
        result = setJsonValue(result, ["version"], 1);
      for (const event of events) {
        const hasList = Array.isArray(asRecord(asRecord(parseJsonFile(result)).hooks)[event]);
        const entry = { command, timeout: timeoutSec };
        result = hasList
          ? setJsonValue(result, ["hooks", event, -1], entry)
          : setJsonValue(result, ["hooks", event], [entry]);
      }
      return result;
    },
  };
}

/** Also removes lists and `hooks` that are left empty. */
function removeOwn(text: string): string {
  let result = text;
  for (const { event, index } of [...listOwn(text)].reverse()) {
    result = setJsonValue(result, ["hooks", event, index], undefined);
    const hooks = asRecord(asRecord(parseJsonFile(result)).hooks);
    const list = hooks[event];
    if (Array.isArray(list) && list.length === 0) result = setJsonValue(result, ["hooks", event], undefined);
    if (Object.keys(asRecord(asRecord(parseJsonFile(result)).hooks)).length === 0)
      result = setJsonValue(result, ["hooks"], undefined);
  }
  return result;
}

export const entries: OwnEntries = {
  findHomes: (text) => listOwn(text).map(({ home }) => home),
  remove: (text) => (listOwn(text).length === 0 ? text : removeOwn(text)),
  isEmpty: (text) => Object.keys(asRecord(parseJsonFile(text))).every((key) => key === "version"),
};
