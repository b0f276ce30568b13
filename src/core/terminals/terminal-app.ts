/** The Terminal of macOS: by AppleScript. */
import { createAppleRecipe } from "./applescript.ts";
import { askAppleScript, runAppleScript } from "./plan.ts";
import type { Terminal } from "./terminal.ts";
import { isTtyPath } from "./variables.ts";

const description = {
  name: "Terminal",
  kind: "terminal",
  processes: ["Terminal"],
  termProgram: "Apple_Terminal",
  bundleId: "com.apple.Terminal",
  macApps: ["/System/Applications/Utilities/Terminal.app"],
  reach: "tab",
  remark: "This is the Terminal of macOS",
  isTested: false,
} as const;

/** Terminal.app can list an invisible window without tabs. Asking for its tabs is error -10000. */
const terminalAppScript = `on run argv
  set wanted to item 1 of argv
  if application id "com.apple.Terminal" is not running then return "closed"
  tell application id "com.apple.Terminal"
    repeat with w in windows
      try
        repeat with t in tabs of w
          try
            if tty of t is wanted then
              set selected of t to true
              set miniaturized of w to false
              set index of w to 1
              activate
              return "found"
            end if
          end try
        end repeat
      end try
    end repeat
  end tell
  return "none"
end run`;

const frontTtyScript = `on run argv
  if application id "com.apple.Terminal" is not running then return ""
  tell application id "com.apple.Terminal" to return tty of selected tab of front window
end run`;

export const terminalApp: Terminal = {
  ...description,
  ...createAppleRecipe(description, {
    *focus({ tty }) {
      return isTtyPath(tty) ? yield* runAppleScript("Terminal", terminalAppScript, tty) : null;
    },
    findFrontTty: () => askAppleScript("Terminal", frontTtyScript),
  }),
};
