import { defineCommand } from "../command.ts";

/** The options are those of beckon's own hooks, login items and `beckon start`. */
export const runCommand = defineCommand({
  name: "run",
  options: {
    "--from-hook": { isInternal: true, about: "the session's start launched it" },
    "--at-login": { isInternal: true, about: "the login item launched it" },
    "--in-background": { isInternal: true, about: "do not print the warnings of the log" },
    "--home": { isInternal: true, value: "FOLDER", about: "in place of BECKON_HOME" },
  },
  usage: ["beckon"],
  page: {
    overview: [["beckon", "run in this terminal"]],
    summary: "Runs beckon in this terminal, until Ctrl-C.",
    examples: [["BECKON_PORT=4500 beckon", "on another port"]],
  },
});
