import { defineCommand } from "../command.ts";
import { json } from "./common.ts";

export const statusCommand = defineCommand({
  name: "status",
  suggestFor: { watch: "status --watch", "--watch": "status --watch", list: "status", ls: "status" },
  options: {
    "--all": { about: "list the sessions that ended too" },
    "--at": { value: "TIME", about: 'list them as they were: 14:20, "yesterday 14:20", "2026-11-17 14:20"' },
    "--json": json,
    "--machine": { value: "NAME", values: "machines", about: "list only the sessions of this other machine" },
    "--watch": { about: "keep the list current, and act on it with keys" },
    "--short": { about: "one line for a status bar: ●2 ◌1 ◐4 ○3" },
  },
  usage: [
    "beckon status [--all | --json | --short] [--machine NAME] [--watch]",
    "beckon status --at TIME [--all | --json] [--machine NAME]",
  ],
  page: {
    overview: [["beckon status", "list every session and what it needs"]],
    summary: "Lists every session, the ones that need you first.",
    examples: [
      ["beckon status --watch", "press ? in it for the keys"],
      ["beckon status --at 14:20", "what needed you then, and how it ended"],
      ["beckon status --json | jq '.sessions[].group'", "the group of each session"],
    ],
  },
});
