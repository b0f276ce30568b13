/** Terminals that AppleScript controls on macOS. Values go in as arguments of the script, never into its text. */
import { describeTerminal, isTtyPath, readVariable } from "../../core/terminals.ts";
import { queryWindow } from "./detect.ts";
import { isRunning } from "./macos.ts";
import { immediate, type Plan, run, runAppleScript } from "./plan.ts";
import { type FocusResult, impossible, type PaneLocation, type TerminalRecipe } from "./recipe.ts";
import { createWindowRecipe } from "./window-only.ts";

interface AppleApp {
  readonly name: string;
  readonly bundleId: string;
}

interface AppleScripting {
  /**
   * What the script returns. `found`: the tab is shown. `alone`: the only tab in the session's folder is shown. `closed`:
   * the application does not run. `denied`: the user has not allowed it. Anything else: the tab was not found.
   */
  readonly focus: (location: PaneLocation) => Plan<string | null>;
  /** A link that shows the tab without a permission, but does not confirm it. */
  readonly link?: (location: PaneLocation) => string | null;
}

function createAppleRecipe(app: AppleApp, scripting: AppleScripting): TerminalRecipe {
  return {
    focus: (location, { platform }) =>
      platform === "darwin"
        ? planAppleFocus(location, app, scripting)
        : immediate(impossible(`${app.name} runs on macOS only`)),
    checkVisibility: (location) =>
      immediate({ kind: "window", query: queryWindow(location, { ids: [app.bundleId] }), isCertain: false }),
  };
}

function* planAppleFocus(
  location: PaneLocation,
  { name, bundleId }: AppleApp,
  { focus, link }: AppleScripting,
): Plan<FocusResult> {
  const answer = yield* focus(location);
  if (answer === "found") return { kind: "front", limit: null };
  if (answer === "alone") {
    const limit = `${name} does not say which tab it is: this is the only one in its folder`;
    return { kind: "front", limit };
  }
  // Opening a link or the application would start an application that the user has quit.
  const runs = location.lineage.length > 0 || (answer !== "closed" && (yield* isRunning(bundleId)));
  if (!runs) return impossible(`${name} is not running`);
  const url = link?.(location) ?? null;
  if (url !== null && (yield* run(["open", url])).code === 0) {
    const unconfirmed = `${name} was asked to show its tab, but does not confirm that it did`;
    return { kind: "front", limit: answer === "denied" ? notFoundLimit(answer, name) : unconfirmed };
  }
  const query = queryWindow(location, { ids: [bundleId] });
  return { kind: "window", query, limit: notFoundLimit(answer, name) };
}

function notFoundLimit(answer: string | null, app: string): string {
  return answer === "denied"
    ? `macOS does not let beckon control ${app}: allow it in System Settings → Privacy & Security → Automation`
    : `its tab was not found in ${app}`;
}

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

export const iterm2 = createAppleRecipe(describeTerminal("iterm2"), {
  *focus({ env, tty }) {
    const id = readVariable(env, "ITERM_SESSION_ID")?.split(":")[1];
    const ids = [...(id === undefined ? [] : [id]), ...(isTtyPath(tty) ? [tty] : [])];
    return ids.length === 0 ? null : yield* runAppleScript("iTerm2", iterm2Script, ...ids);
  },
  /** As documented: no slashes, and the whole variable. Also finds minimized windows, which AppleScript may not list. */
  link({ env }) {
    const session = readVariable(env, "ITERM_SESSION_ID");
    return session === null ? null : `iterm2:reveal?sessionid=${session}`;
  },
});

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

export const terminalApp = createAppleRecipe(describeTerminal("terminal-app"), {
  *focus({ tty }) {
    return isTtyPath(tty) ? yield* runAppleScript("Terminal", terminalAppScript, tty) : null;
  },
});

/**
 * Ghostty 1.3 has no `tty`, later versions do. A terminal with another tty is not the right one, even in the same folder.
 * Its `id` does not help: GHOSTTY_SURFACE_ID is another number.
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

const ghosttyOnMac = createAppleRecipe(describeTerminal("ghostty"), {
  *focus({ tty, cwd }) {
    const folder = isFolder(cwd) ? cwd : null;
    if (!isTtyPath(tty) && folder === null) return null;
    return yield* runAppleScript("Ghostty", ghosttyScript, isTtyPath(tty) ? tty : "", folder ?? "");
  },
});

/** An absolute path that cannot be taken for an option. */
const isFolder = (path: string | null): path is string =>
  path !== null && path.length <= 4_096 && !/\p{C}/u.test(path) && path.startsWith("/");

const ghosttyElsewhere = createWindowRecipe(describeTerminal("ghostty"));

export const ghostty: TerminalRecipe = {
  focus: (location, context) =>
    (context.platform === "darwin" ? ghosttyOnMac : ghosttyElsewhere).focus(location, context),
  checkVisibility: (location, context) =>
    (context.platform === "darwin" ? ghosttyOnMac : ghosttyElsewhere).checkVisibility(location, context),
};
