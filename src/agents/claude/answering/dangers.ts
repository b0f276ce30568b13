/** Finds what the user should notice about a tool call before they allow it. */
import { asRecord, isRecord, type JsonRecord } from "../../../core/json.ts";
import { type AgentDangers, createCommandContext } from "../../../shell/dangers/context.ts";
import {
  checkCommandLine,
  checkReadPath,
  checkUrl,
  checkValues,
  checkWrittenPath,
  checkWrittenText,
} from "../../../shell/dangers/inputs.ts";
import { skipsPermissions } from "../../../shell/dangers/service-programs.ts";

export interface DangerOptions {
  /** The project's folder. */
  readonly cwd: string | null;
  /** Where the command would run, if it is another folder. */
  readonly from?: string | null;
  /** Where the links lead that the input names as files. */
  readonly linkTargets?: readonly string[];
  readonly home?: string | null;
  /** What a command can do to agents. Claude Code itself is always included. */
  readonly agents?: readonly AgentDangers[];
}

/** What a command can do to Claude Code itself. */
export const claudeDangers: AgentDangers = {
  programs: {
    claude: [
      ["root", skipsPermissions, /--(?:allow-)?dangerously-\S+|bypassPermissions/],
      ["system", "changes the agent's own settings or hooks", /^(?:mcp add|plugin install|config set)\S*/],
    ],
  },
  files: [/(?:^|\/)\.claude(?:\/(?:settings[\w.]*\.json|hooks(?:\/|$))|\.json$)/, /(?:^|\/)\.mcp\.json$/],
  projectVariables: ["CLAUDE_PROJECT_DIR"],
};

const writingTools: ReadonlySet<string> = new Set(["Edit", "MultiEdit", "Write", "NotebookEdit"]);
const readingTools: ReadonlySet<string> = new Set(["Read", "NotebookRead"]);

/** Most severe first: `deletes without asking (rm -rf)`. */
export function findDangers(tool: string, input: unknown, options: DangerOptions): readonly string[] {
  const agents = [claudeDangers, ...(options.agents ?? [])];
  const context = createCommandContext(options.cwd, options.from ?? null, agents, options.home ?? null);
  const fields = asRecord(input);
  const path = findPath(fields);
  const named = path === null ? [] : [path];
  const { linkTargets = [] } = options;
  if (typeof fields.command === "string") checkCommandLine(fields.command, context);
  if (fields.dangerouslyDisableSandbox === true)
    context.findings.add("root", "runs outside of the sandbox", "dangerouslyDisableSandbox");
  if (writingTools.has(tool)) {
    for (const written of [...named, ...linkTargets]) checkWrittenPath(written, context);
    for (const text of listWrittenTexts(fields)) checkWrittenText(text, context);
  } else {
    const read = readingTools.has(tool) ? [...linkTargets, ...named] : linkTargets;
    for (const one of read) checkReadPath(one, context);
  }
  if (tool === "WebFetch" && typeof fields.url === "string") checkUrl(fields.url, context);
  if (tool.startsWith("mcp__")) checkValues(fields, context);
  return context.listDangers();
}

/** Claude Code removes blanks around a path before it opens it: `" ~/.bashrc"` is a file of the home folder. */
function findPath({ file_path, notebook_path }: JsonRecord): string | null {
  const path = file_path ?? notebook_path;
  return typeof path === "string" ? path.trim() : null;
}

const maxEdits = 500;

function listWrittenTexts({ content, new_string, new_source, edits }: JsonRecord): string[] {
  const list = Array.isArray(edits) ? edits.slice(0, maxEdits) : [];
  const texts = [content, new_string, new_source, ...list.map((edit) => isRecord(edit) && edit.new_string)];
  return texts.filter((text) => typeof text === "string");
}
