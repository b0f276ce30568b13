/** `beckon help` and `beckon --version`. */
import { defineCommand } from "../command.ts";

export const helpCommand = defineCommand({
  name: "--help",
  aliases: ["-h", "help"],
  needsNoHome: true,
  arguments: [{ name: "COMMAND", isOptional: true, values: "commands" }],
  usage: ["beckon help [COMMAND]", "beckon COMMAND --help"],
  page: {
    overview: [["beckon help COMMAND", "options and examples of a command"]],
    summary: "Shows the options of a command, and examples.",
    examples: [["beckon help answer", ""]],
  },
});

export const versionCommand = defineCommand({
  name: "--version",
  aliases: ["-v", "version"],
  needsNoHome: true,
  page: {
    overview: [["beckon --version", "which beckon this is"]],
    summary: "Shows which beckon this is.",
    examples: [["beckon --version", ""]],
  },
});
