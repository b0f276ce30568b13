/** Ghostty: by AppleScript on macOS (https://ghostty.org/docs/features/applescript); elsewhere only its window. */
import { createAppleRecipe } from "./applescript.ts";
import { askAppleScript, runAppleScript } from "./plan.ts";
import { type FocusRecipe, inApplications, type Terminal, type TerminalContext } from "./terminal.ts";
import { isTtyPath, wholePath } from "./variables.ts";
import { createWindowRecipe } from "./window-only.ts";

const description = {
  name: "Ghostty",
  kind: "terminal",
  processes: ["ghostty"],
  term: "xterm-ghostty",
  termProgram: "ghostty",
  variables: { GHOSTTY_RESOURCES_DIR: wholePath },
  ownVariables: ["GHOSTTY_RESOURCES_DIR"],
  bundleId: "com.mitchellh.ghostty",
  commands: ["ghostty"],
  macApps: [inApplications("Ghostty")],
  reach: "window",
  reachOnMac: "pane",
  isTested: false,
} as const;

/**
 * Ghostty 1.3 has no `tty`, later versions do. A terminal with another tty is not the right one, even in the same folder.
 * Its `id` does not help: GHOSTTY_SURFACE_ID is another number (https://github.com/ghostty-org/ghostty/discussions/10603). `focus` alone
 * does not always raise the window (https://github.com/st0012/cctop/pull/101).
 */
const ghosttyScript = `on run argv
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

const frontTtyScript = `on run argv
  if application id "com.mitchellh.ghostty" is not running then return ""
  tell application id "com.mitchellh.ghostty" to return tty of focused terminal of selected tab of front window
end run`;

/** An absolute path that cannot be taken for an option. */
const isFolder = (path: string | null): path is string =>
  path !== null && path.length <= 4_096 && !/\p{C}/u.test(path) && path.startsWith("/");

const onMac = createAppleRecipe(description, {
  *focus({ tty, cwd }) {
    const folder = isFolder(cwd) ? cwd : null;
    if (!isTtyPath(tty) && folder === null) return null;
    return yield* runAppleScript("Ghostty", ghosttyScript, isTtyPath(tty) ? tty : "", folder ?? "");
  },
  findFrontTty: () => askAppleScript("Ghostty", frontTtyScript),
});
const elsewhere = createWindowRecipe(description);
const recipeOn = ({ platform }: TerminalContext): FocusRecipe => (platform === "darwin" ? onMac : elsewhere);

export const ghostty: Terminal = {
  ...description,
  focus: (location, context) => recipeOn(context).focus(location, context),
  checkVisibility: (location, context) => recipeOn(context).checkVisibility(location, context),
};
