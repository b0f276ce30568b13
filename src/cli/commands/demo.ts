import { defineCommand } from "../command.ts";

export const demoCommand = defineCommand({
  name: "demo",
  options: { "--print": { about: "print the dashboard's address, and open nothing" } },
  page: {
    overview: [["beckon demo", "an invented day: icon, alerts and dashboard"]],
    summary:
      "Shows icon, alerts and dashboard with invented sessions, beside your own beckon. Ctrl-C ends it, and removes everything.",
    examples: [["beckon demo", ""]],
  },
});
