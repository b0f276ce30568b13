/** What a moment of the history is called: the words of the page's story and of `beckon history`. Pure. */
import type { AskEnding } from "../answers/ending.ts";
import { extractFirstLine } from "../text/text.ts";
import { capitalize } from "../text/words.ts";

export type WorkKind = "command" | "edit" | "lookup" | "subagent" | "skill" | "other";

/** Agents call their tools alike (their translation does that), and what is not listed is another step. */
const toolKinds: ReadonlyMap<string, WorkKind> = new Map<string, WorkKind>([
  ["Bash", "command"],
  ["BashOutput", "command"],
  ["Shell", "command"],
  ["PowerShell", "command"],
  ["Edit", "edit"],
  ["MultiEdit", "edit"],
  ["NotebookEdit", "edit"],
  ["Write", "edit"],
  ["Read", "lookup"],
  ["Grep", "lookup"],
  ["Glob", "lookup"],
  ["LS", "lookup"],
  ["List", "lookup"],
  ["Search", "lookup"],
  ["WebFetch", "lookup"],
  ["WebSearch", "lookup"],
  ["ToolSearch", "lookup"],
  ["Task", "subagent"],
  ["Agent", "subagent"],
  ["Explore", "subagent"],
  ["Skill", "skill"],
]);

export const kindOfTool = (tool: string): WorkKind => toolKinds.get(tool) ?? "other";

/** "Bash: npm test" as it is recorded. A tool's name has no spaces. */
export function splitCall(text: string): { readonly tool: string; readonly text: string } {
  const [, tool = "", rest = ""] = /^([\w.-]{1,100})(?:: ([\s\S]*))?$/.exec(text) ?? [];
  return tool === "" ? { tool: "", text } : { tool, text: rest };
}

/** Names that say what the tool does; `mcp__tracker__list_issues` is "tracker: list issues". */
const toolNames: ReadonlyMap<string, string> = new Map<string, string>([
  ["AskUserQuestion", "Question"],
  ["ExitPlanMode", "Plan"],
  ["EnterPlanMode", "Plan"],
  ["TodoWrite", "Task list"],
  ["TaskCreate", "Task list"],
  ["TaskUpdate", "Task list"],
  ["Task", "Subagent"],
  ["Agent", "Subagent"],
]);

export function nameTool(tool: string): string {
  const known = toolNames.get(tool);
  if (known !== undefined) return known;
  const [, server, name] = /^mcp__(.+?)__(.+)$/.exec(tool) ?? [];
  return server && name ? `${server}: ${name.replaceAll("_", " ")}` : tool;
}

const verbs: ReadonlyMap<string, readonly [infinitive: string, past: string]> = new Map<
  string,
  readonly [infinitive: string, past: string]
>([
  ["command", ["run", "Ran"]],
  ["edit", ["edit", "Edited"]],
  ["Read", ["read", "Read"]],
  ["WebFetch", ["fetch", "Fetched"]],
  ["WebSearch", ["search the web for", "Searched the web for"]],
]);

interface Asked {
  /** Of the ask, as the history names it. */
  readonly kind: string;
  /** As it is recorded: "Bash: npm test". */
  readonly text: string;
  readonly how: AskEnding | null;
  readonly isOpen: boolean;
}

interface AskWords {
  /** "Asked to run", "Asked:" */
  readonly lead: string;
  /** The command, the file, the question. */
  readonly subject: string;
  /** Set in the font of code. */
  readonly isCode: boolean;
}

export function describeAsk({ kind, text, how, isOpen }: Asked): AskWords {
  const { tool, text: subject } = splitCall(text);
  const asked = isOpen ? "Asks" : "Asked";
  switch (kind) {
    case "question":
      // A question can begin with a word and a colon.
      return { lead: `${asked}:`, subject: toolNames.has(tool) ? subject : text, isCode: false };
    case "plan": {
      const title = extractFirstLine(subject).replace(/^#+\s+/, "");
      return { lead: `${asked} to approve a plan${title === "" ? "" : ":"}`, subject: title, isCode: false };
    }
    case "elicitation":
      return { lead: `${asked} for input:`, subject: tool === "" ? text : subject, isCode: false };
  }
  if (tool === "") return { lead: `${asked} for permission:`, subject: text, isCode: false };
  const [infinitive = `use ${nameTool(tool)}`, past = `Used ${nameTool(tool)}`] =
    verbs.get(tool) ?? verbs.get(kindOfTool(tool)) ?? [];
  return { lead: how === "rule" ? past : `${asked} to ${infinitive}`, subject, isCode: true };
}

/** How sessions start and end, in the agents' words and in a user's. What is not listed says nothing to a user. */
const reasons: ReadonlyMap<string, string> = new Map<string, string>([
  ["resume", "again"],
  ["clear", "with /clear"],
  ["logout", "by logging out"],
  ["prompt_input_exit", "by you"],
  ["bypass_permissions_disabled", "because it may not skip permissions here"],
]);

export interface MomentWords {
  /** "You", "Asked", "Bash" */
  readonly label: string;
  readonly text: string;
}

/** One moment in a list. */
export function describeMoment({ kind, text, how, isOpen }: Asked): MomentWords {
  switch (kind) {
    case "permission":
    case "question":
    case "plan":
    case "elicitation": {
      const { lead, subject } = describeAsk({ kind, text, how, isOpen });
      const [label = "", ...rest] = lead.replace(/:$/, "").split(" ");
      const between = lead.endsWith(":") && rest.length > 0 ? `${rest.join(" ")}:` : rest.join(" ");
      return { label, text: [between, subject].filter(Boolean).join(" ") };
    }
    case "prompt":
      return { label: "You", text };
    case "answer":
      return { label: "Response", text };
    case "tool": {
      const { tool, text: subject } = splitCall(text);
      return tool === "" ? { label: "Step", text } : { label: nameTool(tool), text: subject };
    }
    case "started":
    case "ended":
      return { label: capitalize(kind), text: reasons.get(text) ?? "" };
    case "compact":
      return { label: "Compacted", text: "" };
    case "notification":
      return { label: "Message", text };
    default:
      return { label: capitalize(kind), text };
  }
}
