import { type HistoryKind, historyKinds } from "../../core/interfaces/wire.ts";
import { defineCommand } from "../command.ts";
import { json } from "./common.ts";

/** What the agent says is called its response everywhere; "answer" is what the user gives. The API's name is older. */
export const nameKind = (kind: HistoryKind): string => (kind === "answer" ? "response" : kind);

export const historyCommand = defineCommand({
  name: "history",
  arguments: [{ name: "TEXT", isOptional: true, isRepeated: true }],
  options: {
    "-n": { value: "N", about: "the last N entries (30)" },
    "--project": { value: "NAME", values: "projects", about: "only of this project" },
    "--kind": {
      value: "KIND",
      values: historyKinds.map(nameKind),
      about: "only prompt, response, permission, question, plan, tool, failed, …",
    },
    "--session": {
      value: "SESSION",
      values: "sessions",
      about: "only of this session: its id, the start of it, or its project",
    },
    "--json": json,
    "--export": { about: "every event as a line of JSON, oldest first" },
  },
  usage: ["beckon history [TEXT] [OPTIONS]", "beckon history --export"],
  page: {
    overview: [["beckon history TEXT", "search what happened"]],
    summary:
      "Lists what happened, or what contains every word of TEXT: prompts, responses, tools, asks and how they ended.",
    examples: [
      ["beckon history migration", "everything about it"],
      ["beckon history --kind permission -n 100", "what was asked, and how it was answered"],
      ["beckon history --export > events.jsonl", ""],
    ],
  },
});
