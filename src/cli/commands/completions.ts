import { defineCommand } from "../command.ts";

export const shells = ["bash", "zsh", "fish"] as const;

export const completionsCommand = defineCommand({
  name: "completions",
  suggestFor: { completion: "completions" },
  arguments: [{ name: "SHELL", values: shells }],
  options: {
    // The scripts call it with the words of the command line.
    "--complete": { isInternal: true, about: "print what can follow" },
  },
  usage: [`beckon completions ${shells.join("|")}`],
  page: {
    overview: [["beckon completions SHELL", "commands, options and sessions with Tab"]],
    summary:
      "Prints a script with which bash, zsh or fish completes commands, options, sessions, channels and ports when you press Tab.",
    examples: [
      ["beckon completions bash > ~/.local/share/bash-completion/completions/beckon", ""],
      ["beckon completions fish > ~/.config/fish/completions/beckon.fish", ""],
      ["source <(beckon completions zsh)", "in ~/.zshrc, after compinit"],
    ],
  },
});
