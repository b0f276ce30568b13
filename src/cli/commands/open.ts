import { defineCommand } from "../command.ts";

export const openCommand = defineCommand({
  name: "open",
  suggestFor: { dashboard: "open" },
  options: { "--print": { about: "print the address, and open nothing" } },
  page: {
    overview: [["beckon open", "the dashboard, in your browser"]],
    summary: "Opens the dashboard in your browser. Its address works once, for 30 seconds.",
    examples: [
      ["beckon open", ""],
      ["beckon open --print", "for another browser, or through ssh -L 4488:127.0.0.1:4488"],
    ],
  },
});
