import { defineCommand } from "../command.ts";

export const restartCommand = defineCommand({
  name: "restart",
  page: {
    overview: [["beckon restart", "stop it, and start it again"]],
    summary: "Stops beckon and starts it again in the background. Events that arrive meanwhile are not lost.",
    examples: [["beckon restart", "after an update"]],
  },
});
