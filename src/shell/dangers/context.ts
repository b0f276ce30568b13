/** What the checks of one command share: what they found, and what is known about its folders, downloads and secrets. */
import { isAbsolute } from "../../core/text/paths.ts";
import type { Arguments } from "./arguments.ts";
import { createFindings, type DangerFindings, type DangerKind } from "./findings.ts";
import { checkTarget, type PathContext } from "./paths.ts";

export interface CommandContext {
  readonly findings: DangerFindings;
  readonly paths: PathContext;
  readonly agentPrograms: ReadonlyMap<string, readonly DangerPattern[]>;
  /** Secrets that the command reads, and programs that send data: both together may leak. */
  readonly secrets: Set<string>;
  readonly network: Set<string>;
  /** Files that it downloads: running one of them later runs the download. */
  readonly downloads: Set<string>;
  /** How many characters of nested scripts may still be read: one text can be quoted in itself many times. */
  remainingLength: number;
  /** Checks a path that is written, moved or deleted. */
  checkTarget(path: string, verb?: string): void;
  /** `cd`: relative paths may start from this folder too. */
  enterFolder(folder: string): void;
  /** Everything that was found, most severe first. */
  listDangers(): readonly string[];
}

/** Checks the arguments of a program. `name` is the program's name in lower case. */
export type CheckProgram = (args: Arguments, context: CommandContext, name: string) => void;

/** What a command can do to an agent: change its settings, or start it so that it does not ask. */
export interface AgentDangers {
  /** The agent's program, and the forms of its arguments that are dangerous. */
  readonly programs: Readonly<Record<string, readonly DangerPattern[]>>;
  /** Patterns of its own settings and hooks, which run by themselves. */
  readonly files: readonly RegExp[];
  /** Variables that hold the project's folder. */
  readonly projectVariables: readonly string[];
}

/** The pattern is matched against the arguments, joined by spaces. */
export type DangerPattern = readonly [kind: DangerKind, text: string, pattern: RegExp];

const maxFolders = 32;
const maxScriptLength = 200_000;

export function createCommandContext(
  project: string | null,
  from: string | null,
  agents: readonly AgentDangers[],
): CommandContext {
  const folders = [from ?? project ?? "/"];
  const context: CommandContext = {
    findings: createFindings(),
    paths: {
      project,
      from: folders,
      agentFiles: agents.flatMap(({ files }) => files),
      projectVariables: agents.flatMap(({ projectVariables }) => projectVariables),
    },
    agentPrograms: new Map(agents.flatMap(({ programs }) => Object.entries(programs))),
    secrets: new Set(),
    network: new Set(),
    downloads: new Set(),
    remainingLength: maxScriptLength,
    checkTarget: (path, verb) => checkTarget(path, context.paths, context.findings, verb),
    enterFolder(folder) {
      // An unknown folder may be any.
      const next = /^[~$`-]/.test(folder) || folder === "" ? "/" : folder;
      const starts = isAbsolute(next) ? [next] : folders.map((start) => `${start}/${next}`);
      for (const start of starts) {
        if (folders.includes(start)) continue;
        // After so many changes of the folder it may be any.
        if (folders.length >= maxFolders) folders[0] = "/";
        else folders.push(start);
      }
    },
    listDangers() {
      const [[secret], [program]] = [context.secrets, context.network];
      if (secret !== undefined && program !== undefined)
        context.findings.add("sends", "may send secrets away", `${secret}, ${program}`);
      return context.findings.list();
    },
  };
  return context;
}
