import { defineCommand } from "../command.ts";
import { json, namesSession, session } from "./common.ts";

export const sendCommand = defineCommand({
  name: "send",
  arguments: [session, { name: "TEXT", isOptional: true, isRepeated: true }],
  options: {
    "--when": { value: "idle|quota", about: "send it when the session is idle, or when your limit is reset" },
    "--at": { value: "TIME", about: "not before this time, like 15:00" },
    "--list": { about: "list the prompts that wait, or were not taken" },
    "--change": { value: "ID", about: "change the text of one, or try it again" },
    "--remove": { value: "ID", about: "remove one" },
    "--json": json,
  },
  hint: "Text that begins with a dash goes after --",
  usage: [
    "beckon send SESSION TEXT [--when idle|quota] [--at TIME]",
    "beckon send --list [SESSION]",
    "beckon send --change ID [TEXT]",
    "beckon send --remove ID",
  ],
  page: {
    overview: [
      ["beckon send SESSION TEXT", "send its next prompt"],
      ["beckon send --list", "prompts that wait"],
    ],
    summary: `Sends a session its next prompt, without its terminal. The text is read from standard input if none is given. If the session works, it is sent when the turn ends; --when idle also waits until you have answered what it asks. It is sent as text: a slash command is not run. It counts as delivered when the agent has reported it. ${namesSession}`,
    rest: "send the rest as text",
    examples: [
      ['beckon send shop-api "now the tests"', "at once, or when the turn ends"],
      ['beckon send shop-api "go on" --when quota', "when your limit is reset"],
      ['beckon send shop-api "summarize" --at 15:00', "not before three"],
      ["git diff | beckon send shop-api", "from standard input"],
    ],
  },
});
