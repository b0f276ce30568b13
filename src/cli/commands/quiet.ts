import { quietModes } from "../../core/config/user-action.ts";
import { defineCommand } from "../command.ts";

export const quietCommand = defineCommand({
  name: "quiet",
  arguments: [{ name: "WHEN", isOptional: true, values: quietModes }],
  usage: ["beckon quiet [hour | tomorrow | on | off]"],
  page: {
    overview: [["beckon quiet hour", "no alerts at all; or tomorrow, on, off"]],
    summary: "Shows no alerts at all for a while. Alone, it shows whether alerts are on.",
    examples: [
      ["beckon quiet hour", "no alerts for an hour"],
      ["beckon quiet tomorrow", "no alerts until 8 in the morning"],
      ["beckon quiet on", "no alerts until you turn them on"],
      ["beckon quiet off", "turns them on"],
    ],
  },
});
