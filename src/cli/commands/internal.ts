/** Commands that other programs run. */
import { defineCommand } from "../command.ts";

/** main.ts runs it, without this list. */
export const hookCommand = defineCommand({
  name: "hook",
  arguments: [{ name: "AGENT", values: "agents" }],
  options: {
    "--connect": { isInternal: true, about: "tell an agent's plugin how to send events itself" },
    "--guard": { isInternal: true, about: "ask the work guard about an edit" },
    "--statusline": { isInternal: true, about: "read along in the status line" },
  },
  page: {
    overview: [["beckon hook AGENT", "called by the agents' hooks"]],
    summary: "Sends the event on standard input to beckon. The agents' hooks call it.",
    examples: [[([first]) => `beckon hook ${first?.id ?? "NAME"} < event.json`, ""]],
  },
});

/** Another machine runs it, over ssh for example. */
export const linkCommand = defineCommand({
  name: "link",
  page: {
    overview: [["beckon link", "called by another machine's beckon"]],
    summary:
      "Shows this machine's sessions to another machine's beckon, over standard input and output. `beckon machine add` there sets it up.",
    examples: [["ssh HOST beckon link", "what the other machine runs"]],
  },
});

/** Windows runs it when a toast is clicked. */
export const clickCommand = defineCommand({
  name: "click",
  arguments: [{ name: "LINK" }],
});
