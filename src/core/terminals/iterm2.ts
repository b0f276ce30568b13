/** iTerm2: by AppleScript, or by a link if macOS does not allow that. */
import { createAppleRecipe } from "./applescript.ts";
import { askAppleScript, runAppleScript } from "./plan.ts";
import { inApplications, type Terminal } from "./terminal.ts";
import { isTtyPath, readVariable } from "./variables.ts";

const variables = {
  ITERM_SESSION_ID: /^w\d{1,5}t\d{1,5}p\d{1,5}:[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}$/,
};

const description = {
  name: "iTerm2",
  kind: "terminal",
  processes: ["iTerm2"],
  termProgram: "iTerm.app",
  variables,
  ownVariables: ["ITERM_SESSION_ID"],
  sessionVariable: "ITERM_SESSION_ID",
  bundleId: "com.googlecode.iterm2",
  macApps: [inApplications("iTerm")],
  reach: "pane",
  isTested: false,
} as const;

const iterm2Script = `on run argv
  if application id "com.googlecode.iterm2" is not running then return "closed"
  repeat with i from 1 to count of argv
    if shown(item i of argv) then return "found"
  end repeat
  return "none"
end run

on shown(wanted)
  tell application id "com.googlecode.iterm2"
    repeat with w in windows
      try
        repeat with t in tabs of w
          repeat with s in sessions of t
            try
              if (unique id of s is wanted) or (tty of s is wanted) then
                select w
                select t
                select s
                activate
                return true
              end if
            end try
          end repeat
        end repeat
      end try
    end repeat
  end tell
  return false
end shown`;

const frontTtyScript = `on run argv
  if application id "com.googlecode.iterm2" is not running then return ""
  tell application id "com.googlecode.iterm2" to return tty of current session of current window
end run`;

export const iterm2: Terminal = {
  ...description,
  ...createAppleRecipe(description, {
    *focus({ env, tty }) {
      const id = readVariable(env, variables, "ITERM_SESSION_ID")?.split(":")[1];
      const ids = [...(id === undefined ? [] : [id]), ...(isTtyPath(tty) ? [tty] : [])];
      return ids.length === 0 ? null : yield* runAppleScript("iTerm2", iterm2Script, ...ids);
    },
    findFrontTty: () => askAppleScript("iTerm2", frontTtyScript),
    /**
     * No slashes, and the whole variable: https://iterm2.com/documentation-url-scheme.html. Also finds minimized windows, which
     * AppleScript may not list.
     */
    link({ env }) {
      const session = readVariable(env, variables, "ITERM_SESSION_ID");
      return session === null ? null : `iterm2:reveal?sessionid=${session}`;
    },
  }),
};
