/** A file that is beckon's alone, such as a plugin: install writes it, upgrades it with beckon, and uninstall deletes it. */
import { SettingsError } from "../../settings-file/hooks.ts";
import type { OwnEntries, Registration } from "../agent.ts";
import type { CalledBeckon } from "./index.ts";

export interface OwnFile {
  readonly noun: string;
  /** A line that only beckon's file has. */
  readonly mark: string;
  /** The beckon that a file with the mark calls. null if it names none. */
  readCalled(text: string): CalledBeckon | null;
}

/** A file of the same name that beckon did not write is left alone. */
export function createOwnFileRegistration({ mark, noun }: OwnFile, text: string): Registration {
  return {
    count: 1,
    noun,
    add(before) {
      if (before !== null && before.trim() !== "" && !before.includes(mark))
        throw new SettingsError(
          before,
          0,
          "it is not a file that beckon wrote. Move it away, and run this again",
        );
      return text;
    },
  };
}

export function createOwnFileEntries({ mark, readCalled }: OwnFile): OwnEntries {
  return {
    findHomes: (text) => (text.includes(mark) ? [readCalled(text)?.home ?? null] : []),
    remove: (text) => (text.includes(mark) ? "" : text),
    isEmpty: (text) => text.trim() === "",
    isOwnFile: true,
  };
}

export function listCalledByOwnFile({ mark, readCalled }: OwnFile, text: string): readonly CalledBeckon[] {
  const called = text.includes(mark) ? readCalled(text) : null;
  return called === null ? [] : [called];
}
