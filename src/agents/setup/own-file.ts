/** A file that is beckon's alone, such as a plugin: install writes it, upgrades it with beckon, and uninstall deletes it. */
import { SettingsError } from "../../user-files/hooks.ts";
import type { RegistrationOptions } from "../agent.ts";
import type { OwnEntry } from "./called-program.ts";
import type { SetupDescription } from "./index.ts";

export interface OwnFile {
  readonly noun: string;
  /** A text that only beckon's file has. */
  readonly mark: string;
  createText(options: RegistrationOptions): string;
  /** The beckon that a file with the mark calls. null if it names none. */
  readCalled(text: string): OwnEntry | null;
}

/** A file of the same name that beckon did not write is left alone. */
export function createOwnFileSetup({
  noun,
  mark,
  createText,
  readCalled,
}: OwnFile): Pick<SetupDescription, "createRegistration" | "entries" | "listOwn"> {
  return {
    createRegistration(options) {
      const text = createText(options);
      const add = (before: string | null) => {
        if (before === null || before.trim() === "" || before.includes(mark)) return text;
        const problem = "it is not a file that beckon wrote. Move it away, and run this again";
        throw new SettingsError(before, 0, problem);
      };
      return { count: 1, noun, add };
    },
    entries: {
      findHomes: (text) => (text.includes(mark) ? [readCalled(text)?.home ?? null] : []),
      remove: (text) => (text.includes(mark) ? "" : text),
      isEmpty: (text) => text.trim() === "",
      isOwnFile: true,
    },
    listOwn(text) {
      const called = text.includes(mark) ? readCalled(text) : null;
      return called === null ? [] : [called];
    },
  };
}
