/** One look at one command: what was found, and where its paths start from. */
import { isAbsolute } from "../../core/text/paths.ts";
import { createDangerFindings, type DangerFindings } from "./found.ts";
import type { Args } from "./options.ts";
import { judgeTarget, type Places } from "./places.ts";

export interface CommandContext {
  readonly found: DangerFindings;
  readonly places: Places;
  /** What may go out, and what goes out. */
  readonly secrets: Set<string>;
  readonly network: Set<string>;
  /** Files that it downloads: to run one of them later is to run the download. */
  readonly fetched: Set<string>;
  /** How many characters of texts within texts may still be read: one text can be quoted in itself many times. */
  left: number;
  target(path: string, verb?: string): void;
  enter(folder: string): void;
}

/** What a program's arguments say about it. `name` is the program's, in small letters. */
export type Judge = (args: Args, look: CommandContext, name: string) => void;

const maxFolders = 32;
const maxRead = 200_000;

export function createCommandContext(project: string | null, from: string | null): CommandContext {
  const folders = [from ?? project ?? "/"];
  const look: CommandContext = {
    found: createDangerFindings(),
    places: { project, from: folders },
    secrets: new Set(),
    network: new Set(),
    fetched: new Set(),
    left: maxRead,
    target: (path, verb) => judgeTarget(path, look.places, look.found, verb),
    enter(folder) {
      // Where it leads is not known, so it may be anywhere.
      const next = /^[~$`-]/.test(folder) || folder === "" ? "/" : folder;
      const starts = isAbsolute(next) ? [next] : folders.map((start) => `${start}/${next}`);
      for (const start of starts) {
        if (folders.includes(start)) continue;
        // So many turns that it could have ended anywhere.
        if (folders.length >= maxFolders) folders[0] = "/";
        else folders.push(start);
      }
    },
  };
  return look;
}
