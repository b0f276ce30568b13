import { defineCommand } from "../command.ts";

export const startCommand = defineCommand({
  name: "start",
  page: {
    overview: [["beckon start", "run in the background"]],
    summary: "Runs beckon in the background.",
    examples: [["beckon start", ""]],
  },
});
