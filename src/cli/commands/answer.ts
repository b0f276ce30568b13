import { defineCommand } from "../command.ts";
import { namesSession, session } from "./common.ts";

export const answerCommand = defineCommand({
  name: "answer",
  arguments: [
    session,
    { name: "ANSWER", isOptional: true, values: ["allow", "always", "deny", "wait"] },
    { name: "TEXT", isOptional: true, isRepeated: true },
  ],
  options: {
    "--yes": { about: "do not ask for confirmation" },
    "--next": { about: "show what the session asks that has waited longest" },
    "--ask": { value: "ID", about: "this ask and no other; the commands that beckon prints have it" },
  },
  hint: "Text that begins with a dash goes after --",
  usage: [
    "beckon answer SESSION",
    "beckon answer --next",
    "beckon answer SESSION allow",
    "beckon answer SESSION always [N]",
    "beckon answer SESSION deny [MESSAGE]",
    "beckon answer SESSION wait",
    "beckon answer SESSION REPLY",
  ],
  page: {
    overview: [
      ["beckon answer SESSION", "show what it asks, and how to answer"],
      ["beckon answer --next", "show what has waited longest"],
      ["beckon answer SESSION allow", "or always, deny [MESSAGE], your REPLY"],
    ],
    summary: `Shows what a session asks, or answers it. What is long or dangerous is shown again before you allow it. Without --ask it answers only if one thing is asked, and was when you ran it. Without a terminal, something dangerous is allowed only with --yes. ${namesSession} If several are in it, it means the one that waits.`,
    rest: "send the rest as text",
    examples: [
      ["beckon answer shop-api allow", "once"],
      ["beckon answer shop-api always", "and do not ask again"],
      ['beckon answer shop-api deny "use pnpm"', "the agent reads your message"],
      ["beckon answer shop-api wait", "another session changes that file"],
      ["beckon answer website 2", "the second option of a question"],
      ['beckon answer website -- "none of these"', "your own text"],
    ],
  },
});
