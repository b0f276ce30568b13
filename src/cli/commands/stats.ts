import { defineCommand } from "../command.ts";
import { json } from "./common.ts";

export const statsCommand = defineCommand({
  name: "stats",
  options: { "--days": { value: "N", about: "the last N days (14)" }, "--json": json },
  page: {
    overview: [["beckon stats", "how long agents waited for you, by day and project"]],
    summary:
      "Shows how long agents waited for you, how fast you answered, and what they used, by day and project.",
    examples: [["beckon stats --days 30", ""]],
  },
});
