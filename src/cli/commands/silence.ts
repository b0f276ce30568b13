/** `beckon mute`, `beckon snooze` and `beckon dismiss`. */
import { defineCommand } from "../command.ts";
import { namesSession, off, session } from "./common.ts";

export const muteCommand = defineCommand({
  name: "mute",
  arguments: [session],
  options: { "--off": off },
  page: {
    overview: [["beckon mute SESSION", "no alerts from it, until --off"]],
    summary: `Shows no alerts from a session any more. ${namesSession}`,
    examples: [
      ["beckon mute shop-api", ""],
      ["beckon mute shop-api --off", ""],
    ],
  },
});

export const snoozeCommand = defineCommand({
  name: "snooze",
  arguments: [session, { name: "MINUTES", isOptional: true }],
  options: { "--off": off },
  usage: ["beckon snooze SESSION [MINUTES]", "beckon snooze SESSION --off"],
  page: {
    overview: [["beckon snooze SESSION", "no alerts from it for 15 minutes, or MINUTES"]],
    summary: `Shows no alerts from a session for 15 minutes, or for MINUTES. ${namesSession}`,
    examples: [
      ["beckon snooze shop-api 60", "for an hour"],
      ["beckon snooze shop-api --off", ""],
    ],
  },
});

export const dismissCommand = defineCommand({
  name: "dismiss",
  arguments: [session],
  page: {
    overview: [["beckon dismiss SESSION", "put aside what it asks now"]],
    summary: `Puts aside what a session asks now, or its failure. Its next request alerts you again. ${namesSession}`,
    examples: [["beckon dismiss shop-api", ""]],
  },
});
