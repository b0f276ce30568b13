import { describe, expect, test } from "bun:test";
import type { FocusOutcome } from "../../../src/core/terminals/terminal.ts";
import { formatFocusOutcome } from "../../../src/core/view/focus-text.ts";
import { ended, working } from "./menu/fixture.ts";

const session = working("shop", 0);
const format = (outcome: FocusOutcome, of: Parameters<typeof formatFocusOutcome>[1] = session) => {
  const { title, lines } = formatFocusOutcome(outcome, of);
  return `${title}. ${lines.join(" ")}`;
};

describe("the message after going to a terminal", () => {
  test.each<[string, FocusOutcome, string]>([
    [
      "all the way",
      { result: "exact", by: "tmux, X11", why: null },
      "You are there. This is its terminal (tmux, X11).",
    ],
    [
      "to its window",
      { result: "window", by: "Tilix, X11", why: "Tilix does not let other programs select a tab" },
      "As close as beckon gets. This is its window (Tilix, X11). Tilix does not let other programs select a tab. Where to look: pts/1, in /home/dev/shop.",
    ],
    [
      "nowhere",
      { result: "impossible", by: "", why: "no window of its terminal was found on X11" },
      "beckon cannot take you there. No window of its terminal was found on X11. Where to look: pts/1, in /home/dev/shop.",
    ],
    [
      "nowhere, by a program that writes its name small",
      { result: "impossible", by: "tmux", why: "tmux could not select the pane: it gave no reason." },
      "beckon cannot take you there. tmux could not select the pane: it gave no reason. Where to look: pts/1, in /home/dev/shop.",
    ],
    [
      "to its window, in a terminal that writes its name with a small letter",
      { result: "window", by: "kitty, X11", why: "kitty's remote control is off" },
      "As close as beckon gets. This is its window (kitty, X11). kitty's remote control is off. Where to look: pts/1, in /home/dev/shop.",
    ],
  ])("%s", (_, outcome, words) => expect(format(outcome)).toBe(words));

  test("does not name a terminal for a session that has ended or is unknown", () => {
    const outcome: FocusOutcome = { result: "impossible", by: "", why: "nothing needs you now" };
    const words = "beckon cannot take you there. Nothing needs you now.";
    expect(format(outcome, ended("shop", 0))).toBe(words);
    expect(format(outcome, null)).toBe(words);
    expect(format(outcome, { ...session, place: null, cwd: null })).toBe(words);
  });

  test("contains no control characters of a folder's name", () => {
    const outcome: FocusOutcome = { result: "impossible", by: "", why: "x" };
    expect(format(outcome, { ...session, cwd: "/a\u001b[2J\n\u202eb" })).toEndWith("in /a b.");
  });
});
