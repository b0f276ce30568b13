/** iTerm2: by AppleScript, which says whether it found the pane; else by iTerm2's own link, which does not. */
import { appleApp } from "./apple-app.ts";
import { applescript } from "./plan.ts";
import { claimed, isTty } from "./shapes.ts";

const script = `on run argv
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

export const row = appleApp({
  name: "iTerm2",
  bundle: "com.googlecode.iterm2",
  program: "iTerm2",
  says: "iTerm.app",
  *focus({ env, tty }) {
    const id = claimed(env, "ITERM_SESSION_ID")?.split(":")[1];
    const wanted = [...(id === undefined ? [] : [id]), ...(isTty(tty) ? [tty] : [])];
    return wanted.length === 0 ? null : yield* applescript("iTerm2", script, ...wanted);
  },
  /** Its documentation: no slashes, and the whole variable. Also finds minimized windows, which AppleScript may not list. */
  link({ env }) {
    const session = claimed(env, "ITERM_SESSION_ID");
    return session === null ? null : `iterm2:reveal?sessionid=${session}`;
  },
});
