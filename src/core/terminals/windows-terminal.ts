/** Windows Terminal: its window, and only from Windows. */
import { immediate } from "./plan.ts";
import { impossible, type Terminal, type TerminalDescription } from "./terminal.ts";
import { uuid } from "./variables.ts";
import { createWindowRecipe } from "./window-only.ts";

const description: TerminalDescription = {
  name: "Windows Terminal",
  kind: "terminal",
  processes: ["WindowsTerminal", "WindowsTerminalPreview"],
  variables: { WT_SESSION: new RegExp(`^${uuid}$`) },
  ownVariables: ["WT_SESSION"],
  sessionVariable: "WT_SESSION",
  commands: ["wt.exe"],
  reach: "window",
  isTested: false,
};
const onWindows = createWindowRecipe(description);

export const windowsTerminal: Terminal = {
  ...description,
  ...onWindows,
  focus: (location, context) =>
    context.platform === "win32"
      ? onWindows.focus(location, context)
      : immediate(
          impossible(
            "its window belongs to Windows, which beckon in WSL cannot reach: run beckon on Windows",
          ),
        ),
};
