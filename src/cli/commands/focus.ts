import { defineCommand } from "../command.ts";
import { namesSession, session } from "./common.ts";

export const focusCommand = defineCommand({
  name: "focus",
  arguments: [session],
  options: { "--next": { about: "the session that has waited longest" } },
  usage: ["beckon focus SESSION", "beckon focus --next"],
  page: {
    overview: [
      ["beckon focus SESSION", "go to the session's terminal"],
      ["beckon focus --next", "go to the session that has waited longest"],
    ],
    summary: `Goes to a session's terminal. ${namesSession}`,
    examples: [
      ["beckon focus shop-api", "by its project"],
      ["beckon focus 9f3c", "by the start of its id"],
    ],
  },
});
