/** What the checks of one command share: what they found, and what is known about its folders, downloads and secrets. */
import { isAbsolute } from "../../core/text/paths.ts";
import type { Command } from "../index.ts";
import type { Arguments } from "./arguments.ts";
import { createFindings, type DangerFindings, type DangerKind } from "./findings.ts";
import { checkTarget, isGenerated, isSourceFile, type PathContext } from "./paths.ts";

export interface CommandContext {
  readonly findings: DangerFindings;
  readonly paths: PathContext;
  readonly agentPrograms: ReadonlyMap<string, readonly DangerPattern[]>;
  /** Secrets that the command reads, and programs that send data: both together may leak. */
  readonly secrets: Set<string>;
  readonly network: Set<string>;
  /** Files that it downloads: running one of them later runs the download. */
  readonly downloads: Set<string>;
  /** Texts that it writes into files: a shell may run the file later. */
  readonly writtenTexts: Map<string, string>;
  /** Remotes of git that the command itself adds: a push to one leads to an address that nobody approved before. */
  readonly addedRemotes: Set<string>;
  /** How much may still be read: one text can be quoted in itself many times. What is beyond it is marked. */
  readonly budget: { remainingLength: number; remainingCommands: number };
  /** Checks a path that is written, moved or deleted. */
  checkTarget(path: string, verb?: string): void;
  /** Checks a path whose content is replaced by a program that is not an editor. */
  checkOverwrite(path: string, form: string): void;
  /** Checks a path whose content is thrown away. */
  checkEmptied(path: string, form: string): void;
  /** For a text that is perhaps a command: only clear dangers are reported. */
  speculate(): CommandContext;
  /** `cd`: relative paths may start from this folder too. */
  enterFolder(folder: string): void;
  /** Everything that was found, most severe first. */
  listDangers(): readonly string[];
}

/** Checks the arguments of a program. `name` is the program's name in lower case. */
export type CheckProgram = (
  args: Arguments,
  context: CommandContext,
  name: string,
  command: Pick<Command, "redirects">,
) => void;

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
const maxScriptLength = 60_000;
const maxCommands = 400;

export function createCommandContext(
  project: string | null,
  from: string | null,
  agents: readonly AgentDangers[],
  home: string | null,
): CommandContext {
  const folders = [from ?? project ?? "/"];
  const paths: PathContext = {
    project,
    home,
    from: folders,
    agentFiles: agents.flatMap(({ files }) => files),
    projectVariables: agents.flatMap(({ projectVariables }) => projectVariables),
    temporaryVariables: new Set(),
  };
  const shared = {
    paths,
    agentPrograms: new Map(agents.flatMap(({ programs }) => Object.entries(programs))),
    secrets: new Set<string>(),
    network: new Set<string>(),
    downloads: new Set<string>(),
    writtenTexts: new Map<string, string>(),
    addedRemotes: new Set<string>(),
    budget: { remainingLength: maxScriptLength, remainingCommands: maxCommands },
    enterFolder(folder: string) {
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
  };
  return withFindings(createFindings(), shared);
}

type SharedContext = Omit<
  CommandContext,
  "findings" | "checkTarget" | "checkOverwrite" | "checkEmptied" | "speculate" | "listDangers"
>;

const vagueKinds: ReadonlySet<DangerKind> = new Set(["unclear", "outside", "unseen", "address"]);

function withFindings(findings: DangerFindings, shared: SharedContext): CommandContext {
  const { paths, secrets, network } = shared;
  return {
    ...shared,
    findings,
    checkTarget: (path, verb) => checkTarget(path, paths, findings, verb),
    checkOverwrite(path, form) {
      if (isSourceFile(path, paths)) findings.add("deletes", "overwrites a file", `${form} ${path}`);
    },
    checkEmptied(path, form) {
      if (/^(?:\/dev\/|-?$)/.test(path) || isGenerated(path, paths)) return;
      findings.add("deletes", "empties files", `${form} ${path}`);
    },
    speculate: () =>
      withFindings(
        {
          ...findings,
          add: (kind, text, form) => {
            if (!vagueKinds.has(kind)) findings.add(kind, text, form);
          },
        },
        shared,
      ),
    listDangers() {
      const [[secret], [program]] = [secrets, network];
      if (secret !== undefined && program !== undefined)
        findings.add("sends", "may send secrets away", `${secret}, ${program}`);
      return findings.list();
    },
  };
}
