import { defineCommand } from "../command.ts";

export const stopCommand = defineCommand({
  name: "stop",
  page: {
    overview: [["beckon stop", "quit, and stay off until you start it again"]],
    summary: "Quits beckon. Hooks do not start it again until you do.",
    examples: [["beckon stop", ""]],
  },
});
