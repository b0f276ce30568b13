/** Ghostty: by AppleScript on macOS (1.3 and later); elsewhere its tabs cannot be chosen from outside. */
import { appleApp } from "./apple-app.ts";
import { wantedOf } from "./around.ts";
import { applescript } from "./plan.ts";
import type { TerminalRow } from "./row.ts";
import { folder, isTty } from "./shapes.ts";

/**
 * Ghostty 1.3 does not know `tty`, later ones do. One that says another tty is not it, whatever its folder. Its `id` is
 * of no use: GHOSTTY_SURFACE_ID is another number.
 */
const script = `on run argv
  set wantedTty to item 1 of argv
  set wantedFolder to item 2 of argv
  if application id "com.mitchellh.ghostty" is not running then return "closed"
  tell application id "com.mitchellh.ghostty"
    set sameTty to {}
    set sameFolder to {}
    repeat with w in windows
      try
        repeat with b in tabs of w
          repeat with t in terminals of b
            set itsTty to ""
            try
              set itsTty to tty of t
              if itsTty is missing value then set itsTty to ""
            end try
            try
              if itsTty is not "" and itsTty is wantedTty then
                set end of sameTty to {contents of w, contents of t}
              else if (itsTty is "" or wantedTty is "") and wantedFolder is not "" then
                if working directory of t is wantedFolder then set end of sameFolder to {contents of w, contents of t}
              end if
            end try
          end repeat
        end repeat
      end try
    end repeat
    set outcome to "found"
    set matches to sameTty
    if (count of matches) is 0 then
      set outcome to "alone"
      set matches to sameFolder
    end if
    if (count of matches) is not 1 then return "none"
    set {itsWindow, itsTerminal} to item 1 of matches
    try
      activate window itsWindow
    end try
    focus itsTerminal
    activate
  end tell
  return outcome
end run`;

const onMac = appleApp({
  name: "Ghostty",
  bundle: "com.mitchellh.ghostty",
  program: "ghostty",
  says: "ghostty",
  *focus({ tty, cwd }) {
    const path = folder(cwd);
    if (!isTty(tty) && path === null) return null;
    return yield* applescript("Ghostty", script, isTty(tty) ? tty : "", path ?? "");
  },
});

export const row: TerminalRow = {
  ...onMac,
  *focus(spot, here) {
    if (here.platform === "darwin") return yield* onMac.focus(spot, here);
    return {
      kind: "window",
      wanted: wantedOf(spot),
      why: "on this system Ghostty cannot switch tabs from outside",
    };
  },
  *look(spot, here) {
    if (here.platform === "darwin") return yield* onMac.look(spot, here);
    return { kind: "window", wanted: wantedOf(spot), sure: false };
  },
};
