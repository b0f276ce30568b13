import { defineCommand } from "../command.ts";
import { json } from "./common.ts";

export const doctorCommand = defineCommand({
  name: "doctor",
  options: {
    "--desktop": { about: "shows an icon, a menu and an alert as a test, and says what was seen" },
    "--wait": { value: "SECONDS", about: "with --desktop: how long you have to click them (5)" },
    "--json": json,
  },
  page: {
    overview: [["beckon doctor", "test every part, and say how to fix it"]],
    summary:
      "Tests every part with a live event, and says how to fix what is broken. The exit code is then 1.",
    examples: [
      ["beckon doctor", ""],
      ["beckon doctor --desktop", "for a report about icon or alerts"],
    ],
  },
});
