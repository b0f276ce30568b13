/** Terminal.app: the tab with the session's tty. */
import { appleApp } from "./apple-app.ts";
import { applescript } from "./plan.ts";
import { isTty } from "./shapes.ts";

/** Terminal.app can list an invisible window without tabs; to ask for those is error -10000. */
const script = `on run argv
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

export const row = appleApp({
  name: "Terminal",
  bundle: "com.apple.Terminal",
  program: "Terminal",
  says: "Apple_Terminal",
  *focus({ tty }) {
    return isTty(tty) ? yield* applescript("Terminal", script, tty) : null;
  },
});
