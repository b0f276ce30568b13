/** One look at one command: what was found, and where its paths start from. */
import { isAbsolute } from "../../core/text/paths.ts";
import { createDangerFindings, type DangerFindings, type DangerKind } from "./found.ts";
import type { Args } from "./options.ts";
import { judgeTarget, type Places } from "./places.ts";

export interface CommandContext {
  readonly found: DangerFindings;
  readonly places: Places;
  readonly agentPrograms: ReadonlyMap<string, readonly DangerPattern[]>;
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

/** What a command can do to an agent: change its settings, or start it without its questions. */
export interface AgentDangers {
  /** The agent's program, and the forms of its arguments that are dangerous. */
  readonly programs: Readonly<Record<string, readonly DangerPattern[]>>;
  /** Patterns of its own settings and hooks, which run by themselves. */
  readonly files: readonly RegExp[];
  /** Variables that hold the project's folder. */
  readonly projectVariables: readonly string[];
}

/** The pattern is matched against the arguments, joined by blanks. */
export type DangerPattern = readonly [kind: DangerKind, text: string, pattern: RegExp];

export function createCommandContext(
  project: string | null,
  from: string | null,
  agents: readonly AgentDangers[],
): CommandContext {
  const folders = [from ?? project ?? "/"];
  const look: CommandContext = {
    found: createDangerFindings(),
    places: {
      project,
      from: folders,
      agentFiles: agents.flatMap(({ files }) => files),
      projectVariables: agents.flatMap(({ projectVariables }) => projectVariables),
    },
    agentPrograms: new Map(agents.flatMap(({ programs }) => Object.entries(programs))),
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
