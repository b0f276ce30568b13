import { defineCommand } from "../command.ts";
import { json, namesSession, session } from "./common.ts";

export const rulesCommand = defineCommand({
  name: "rules",
  arguments: [
    { name: "list|suggest|test|add|remove", isOptional: true },
    { name: "RULE", isOptional: true },
  ],
  options: {
    "--project": { value: "FOLDER", about: "the project of the rule. Without it: this folder" },
    "--agent": { value: "AGENT", about: "the agent that it is for, if it is not the first of beckon's" },
    "--json": json,
  },
  hint: 'A rule is like "Bash(npm test)", "Bash(npm run test [--changed] *)" or "Edit(docs/**)"',
  usage: [
    "beckon rules [list | suggest] [--json]",
    "beckon rules test RULE [--project FOLDER]",
    "beckon rules add RULE [--project FOLDER] [--agent AGENT]",
    "beckon rules remove NAME",
  ],
  page: {
    overview: [["beckon rules", "what you allow from now on, made from your answers"]],
    summary:
      "Lists the rules that answer for you, and suggests others: what you have allowed three times or more and never denied. Each suggestion was tried on your own history. A rule is one program in one project. Words in brackets are options that may follow, and * stands for files and names of the project. What is marked as dangerous is always asked.",
    examples: [
      ["beckon rules suggest", "rules that would have answered as you did"],
      ['beckon rules test "Bash(npm test *)"', "what it would have answered in this project"],
      ['beckon rules add "Bash(npm test *)"', "make it a rule"],
      ["beckon rules remove npm-test-shop-api", "by its name"],
    ],
  },
});

export const trustCommand = defineCommand({
  name: "trust",
  arguments: [session],
  options: {
    "--until": { value: "TIME", about: "until this time, like 15:00" },
    "--for": { value: "DURATION", about: "for so long, like 30m or 2h" },
    "--end": { about: "ask again from now on" },
    "--json": json,
  },
  usage: [
    "beckon trust SESSION --until 15:00",
    "beckon trust SESSION --for 30m",
    "beckon trust SESSION --end",
  ],
  page: {
    overview: [["beckon trust SESSION --for 30m", "allow what it asks, but nothing dangerous"]],
    summary: `Allows what one session asks until a time: its commands and edits, except what is marked as dangerous. Trust ends earlier with the session, with a change of its permission mode, with the first request that is marked, and when beckon restarts. ${namesSession}`,
    examples: [
      ["beckon trust shop-api --until 15:00", "until three"],
      ["beckon trust shop-api --end", "end it now"],
    ],
  },
});
