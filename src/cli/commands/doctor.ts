import { defineCommand } from "../command.ts";
import { json } from "./common.ts";

export const doctorCommand = defineCommand({
  name: "doctor",
  options: { "--json": json },
  page: {
    overview: [["beckon doctor", "test every part, and say how to fix it"]],
    summary:
      "Tests every part with a live event, and says how to fix what is broken. The exit code is then 1.",
    examples: [["beckon doctor", ""]],
  },
});
