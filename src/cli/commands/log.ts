import { defineCommand } from "../command.ts";
import { json } from "./common.ts";

export const logCommand = defineCommand({
  name: "log",
  options: { "--json": json, "-n": { value: "N", about: "the last N entries (30)" } },
  page: {
    overview: [["beckon log", "what was asked, answered and alerted"]],
    summary: "Lists what was asked, answered and alerted, and why an alert was not shown.",
    examples: [["beckon log -n 100", ""]],
  },
});
