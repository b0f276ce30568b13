/** Earlier asks: what each was about, and what the user answered. Pure. */
import type { AskEnding } from "../core/answers/ending.ts";
import type { RuleSubject } from "../core/answers/subject.ts";
import { findRelativePath, resolvePath } from "../core/text/paths.ts";
import { type AgentDangers, createCommandContext } from "../shell/dangers/context.ts";
import { checkCommandLine, checkWrittenPath } from "../shell/dangers/inputs.ts";
import { countFixedWords } from "./open-arguments.ts";
import { type PlainCommand, readCommandsOf } from "./plain-command.ts";

export interface AnsweredAsk {
  readonly agent: string;
  /** The session's folder. null if unknown. */
  readonly folder: string | null;
  /** The name of the project. */
  readonly project: string | null;
  /** null if no rule can name what it was about. */
  readonly subject: RuleSubject | null;
  /** The tool and the first line, as the history shows it. */
  readonly text: string;
  readonly at: number;
  readonly waitedMs: number;
  readonly how: AskEnding | null;
  /** The message of a denial, or the rule that allowed it. */
  readonly detail: string | null;
}

/** What the user themselves answered. null if they did not, or it was not seen. */
export function readUserAnswer({ how }: Pick<AnsweredAsk, "how">): "allowed" | "denied" | null {
  if (how === "allowed" || how === "always" || how === "approved") return "allowed";
  return how === "denied" ? "denied" : null;
}

/** Whether the user would be warned. A rule never allows such a request. */
export function isMarked(
  subject: RuleSubject,
  folder: string | null,
  dangers: readonly AgentDangers[],
): boolean {
  const context = createCommandContext(folder, subject.cwd, dangers, null);
  if (subject.kind === "command") checkCommandLine(subject.command, context);
  else for (const path of subject.paths) checkWrittenPath(path, context);
  return context.listDangers().length > 0;
}

const subcommand = /^[a-z][a-z0-9:_-]{0,40}$/;

/** "npm run test", "git push": the words that say what is done, without what it is done with. */
function labelCommand(command: PlainCommand): string {
  const fixed = countFixedWords(command);
  if (fixed !== null) return command.slice(0, fixed).join(" ");
  const [program, first = ""] = command;
  return subcommand.test(first) ? `${program} ${first}` : program;
}

/** They change nothing that is done: `cd app && npm test | tail -20` is about `npm test`. */
const isAside = ([program]: PlainCommand): boolean =>
  /^(?:cd|tail|head|grep|wc|sort|uniq|cat)$/.test(program);

/** What a request has in common with others like it. Two of one label are alike. null if there is nothing to compare. */
export function labelSubject(subject: RuleSubject | null, folder: string | null): string | null {
  if (subject?.kind === "command") {
    const read = readCommandsOf(subject);
    if (typeof read === "string") return subject.command.length > 200 ? null : subject.command;
    const commands = read.flat();
    const main = commands.filter((command) => !isAside(command));
    return (main.length > 0 ? main : commands).map(labelCommand).join(" && ");
  }
  const [path] = subject?.paths ?? [];
  if (!subject || path === undefined || folder === null) return null;
  const parent = findRelativePath(folder, resolvePath(subject.cwd ?? folder, path));
  return parent === null
    ? null
    : `edits in ${parent.includes("/") ? parent.replace(/\/[^/]*$/, "") : "the project"}`;
}
