/** What keys do in `beckon status --watch`. */
import { describe, expect, test } from "bun:test";
import { timing } from "../../../src/core/timing.ts";
import type { SessionView } from "../../../src/core/view/session-view.ts";
import { failed, now, over, session, working } from "../sessions.ts";
import { answerable, asks, openScreen } from "./harness.ts";

const keyOf = ({ provider, sessionId }: SessionView) => `${provider}:${sessionId}`;
const allow = { do: "allow" } as const;
const deny = { do: "deny", message: null } as const;
const dangers = ["deletes without asking (rm -rf)"];
const question = {
  header: "Colour",
  question: "Which colour?",
  options: ["Red", "Blue"].map((label) => ({ label, description: "" })),
  isMultiple: false,
};

describe("moving", () => {
  const many = Array.from({ length: 30 }, (_, n) => working(`p-${n}`, { since: now - 60_000 + n }));
  const selectedIn = (screen: ReturnType<typeof openScreen>) =>
    screen.screen().find((line) => line.startsWith("▸"));

  test("arrows, j and k move by one, and stop at the ends", () => {
    const screen = openScreen(many);
    expect(selectedIn(screen)).toContain("p-0 ");
    screen.press("k", "up");
    expect(selectedIn(screen)).toContain("p-0 ");
    screen.press("j", "down", "down", "k");
    expect(selectedIn(screen)).toContain("p-2 ");
    screen.press("end", "j");
    expect(selectedIn(screen)).toContain("p-29 ");
    screen.press("home");
    expect(selectedIn(screen)).toContain("p-0 ");
  });

  test.each([
    [80, 24, 30],
    [80, 24, 200],
    [40, 10, 200],
    [20, 4, 30],
  ])("in %d×%d with %d sessions, the selected one is always on the screen", (columns, rows, count) => {
    const sessions = Array.from({ length: count }, (_, n) => working(`p-${n}`, { since: now - 60_000 + n }));
    const screen = openScreen(sessions, { columns, rows });
    for (const key of ["pagedown", "j", "pagedown", "G", "k", "pageup", "pageup", "g", "end", "home"]) {
      screen.press(key);
      expect(screen.screen()).toHaveLength(rows);
      const shown = sessions.find((known) => keyOf(known) === screen.selected());
      expect(selectedIn(screen)).toStartWith(`▸ ◐ ${shown?.project}`);
    }
  });

  test("the selection stays on the same session when the list changes", () => {
    const [first, second, third] = [
      working("a", { since: 1 }),
      working("b", { since: 2 }),
      working("c", { since: 3 }),
    ];
    const screen = openScreen([first, second, third]);
    screen.press("j");
    expect(screen.selected()).toBe(keyOf(second));
    screen.receive([asks("new", answerable("1")), third, { ...second, since: 9 }, first]);
    expect(screen.selected()).toBe(keyOf(second));
    expect(selectedIn(screen)).toContain(" b ");
  });

  test("if the selected session is gone, the one in its place is selected", () => {
    const [first, second, third] = [
      working("a", { since: 1 }),
      working("b", { since: 2 }),
      working("c", { since: 3 }),
    ];
    const screen = openScreen([first, second, third]);
    screen.press("j");
    screen.receive([first, third]);
    expect(screen.selected()).toBe(keyOf(third));
    screen.receive([first]);
    expect(screen.selected()).toBe(keyOf(first));
    screen.receive([]);
    expect(screen.selected()).toBeNull();
    expect(() => screen.press("enter", "a", "d", "m", "s", "x", "j")).not.toThrow();
    expect(screen.effects).toEqual([]);
  });
});

describe("filtering", () => {
  const list = [working("shop-api"), working("website"), failed("shop-web"), over("blog")];

  test("/ shows the sessions that have every word, in any case", () => {
    const screen = openScreen(list);
    screen.press("/", ..."SHOP");
    expect(screen.text()).toContain("/SHOP▏");
    expect(screen.text()).toContain("2 of 4");
    expect(screen.text()).not.toContain("website");
    screen.press(" ", ..."failed", "enter");
    expect(screen.screen().filter((line) => /^[▸ ] [●✗◌◐○·] /.test(line))).toHaveLength(1);
    expect(screen.selected()).toBe(keyOf(failed("shop-web")));
    screen.press("escape");
    expect(screen.text()).toContain("website");
    expect(screen.selected()).toBe(keyOf(failed("shop-web")));
  });

  test("letters go into the filter and do nothing else", () => {
    const screen = openScreen([asks("shop", answerable("1"))]);
    screen.press("/", "a", "d", "q", "m", "y");
    expect(screen.effects).toEqual([]);
    expect(screen.text()).toContain("No session matches.");
    screen.press("backspace", "backspace");
    expect(screen.text()).toContain("/adq▏");
    screen.press("ctrl-u");
    expect(screen.text()).toContain("/▏");
    screen.press("escape", "d");
    expect(screen.effects).toMatchObject([{ do: "answer" }]);
  });

  test("pasted text goes into the filter, and nowhere else", () => {
    const screen = openScreen([asks("shop", answerable("1"))]);
    screen.paste("ayd");
    expect(screen.effects).toEqual([]);
    screen.press("/");
    screen.paste("sh\nop");
    expect(screen.text()).toContain("/sh op▏");
  });
});

describe("a and d", () => {
  test("answer the ask that is on the screen", () => {
    const shop = asks("shop", answerable("shop-1"));
    const screen = openScreen([shop]);
    screen.press("a");
    expect(screen.effects).toMatchObject([{ do: "answer", ask: { answerId: "shop-1" }, answer: allow }]);
    screen.done("Allowed in shop: npm test");
    expect(screen.footer()).toBe("Allowed in shop: npm test");
    screen.press("d");
    expect(screen.effects.at(-1)).toMatchObject({ ask: { answerId: "shop-1" }, answer: deny });
  });

  test.each([
    ["dangerous", { dangers }],
    ["of several lines", { lines: ["npm ci", "npm test"] }],
    ["a plan", { kind: "plan" as const, tool: "ExitPlanMode" }],
    ["too long for the space below the list", { lines: ["x".repeat(80 * 20)] }],
  ])("a request that is %s is shown in full, and allowed with y only", (_, details) => {
    const screen = openScreen([
      asks("shop", answerable("1", details)),
      ...Array.from({ length: 20 }, (_, n) => working(`p-${n}`)),
    ]);
    screen.press("a");
    expect(screen.effects).toEqual([]);
    expect(screen.text()).toContain("shop (main) asks");
    screen.press("a", "enter-not-a-key");
    expect(screen.effects).toEqual([]);
    screen.press("pagedown", "pagedown", "y");
    expect(screen.effects).toMatchObject([{ do: "answer", ask: { answerId: "1" }, answer: allow }]);
  });

  test("what was not scrolled to the end cannot be allowed, but denied", () => {
    const lines = Array.from({ length: 60 }, (_, n) => `echo ${n}`);
    const open = () => {
      const screen = openScreen([asks("shop", answerable("1", { lines }))]);
      screen.press("a");
      return screen;
    };
    const screen = open();
    expect(screen.text()).toContain("41 more lines");
    screen.press("y", "end", "y");
    expect(screen.effects).toEqual([]);
    expect(screen.footer()).toBe("Read it to the end first: scroll down.");
    screen.press("pagedown", "pagedown");
    expect(screen.text()).toContain("echo 59");
    expect(screen.footer()).toStartWith("y allow");
    screen.press("home", "y");
    expect(screen.effects).toMatchObject([{ answer: allow }]);
    const other = open();
    other.press("d");
    expect(other.effects).toMatchObject([{ answer: deny }]);
  });

  test("after a resize the request must be seen again", () => {
    const lines = Array.from({ length: 30 }, (_, n) => `echo ${n}`);
    const screen = openScreen([asks("shop", answerable("1", { lines }))]);
    screen.press("a", "pagedown", "pagedown");
    expect(screen.footer()).toStartWith("y allow");
    screen.resize(40, 10);
    expect(screen.footer()).toStartWith("↓ read on");
    screen.press("y");
    expect(screen.effects).toEqual([]);
  });

  test("a request that is not whole cannot be allowed", () => {
    const screen = openScreen([asks("shop", answerable("1", { isWhole: false }))]);
    screen.press("a");
    expect(screen.text()).toContain("Not all of it can be shown here");
    expect(screen.footer()).not.toContain("allow");
    screen.press("y", "j", "y");
    expect(screen.effects).toEqual([]);
    screen.press("d");
    expect(screen.effects).toMatchObject([{ answer: deny }]);
  });

  test("a question is answered with the number of an option", () => {
    const details = { kind: "question" as const, tool: "AskUserQuestion", questions: [question] };
    const screen = openScreen([asks("shop", answerable("1", details))]);
    screen.press("a", "y", "3", "9");
    expect(screen.effects).toEqual([]);
    screen.press("2");
    expect(screen.effects).toMatchObject([{ answer: { do: "reply", replies: [["Blue"]] } }]);
  });

  test("several questions, or several choices, are not answered with a digit", () => {
    for (const questions of [[question, question], [{ ...question, isMultiple: true }]]) {
      const details = { kind: "question" as const, tool: "AskUserQuestion", questions };
      const screen = openScreen([asks("shop", answerable("1", details))]);
      screen.press("a", "1");
      expect(screen.effects).toEqual([]);
      expect(screen.text()).toContain("beckon answer");
    }
  });

  test("of several asks, the user chooses one", () => {
    const screen = openScreen([
      asks("shop", answerable("first"), answerable("second", { lines: ["npm ci"] })),
    ]);
    screen.press("d");
    expect(screen.effects).toEqual([]);
    expect(screen.text()).toContain("ask 1 of 2");
    screen.press("tab");
    expect(screen.text()).toContain("ask 2 of 2");
    expect(screen.text()).toContain("npm ci");
    screen.press("d");
    expect(screen.effects).toMatchObject([{ ask: { answerId: "second" }, answer: deny }]);
  });

  test("what cannot be answered from here is explained", () => {
    const { answerId: _, asked: __, ...unanswerable } = answerable("1");
    const screen = openScreen([
      asks("shop", { ...unanswerable, answerable: false, why: "a subagent asks" }),
      working("blog"),
    ]);
    screen.press("a");
    expect(screen.footer()).toBe("shop cannot be answered from here: a subagent asks. Enter goes there.");
    screen.press("j", "d");
    expect(screen.footer()).toBe("blog is not waiting for an answer.");
    expect(screen.effects).toEqual([]);
  });

  test("while beckon does not run, nothing is answered", () => {
    const { answerId: _, asked: __, ...saved } = answerable("1");
    const screen = openScreen([]);
    screen.receive([asks("shop", { ...saved, answerable: false })], { isRunning: false });
    screen.press("a");
    expect(screen.footer()).toBe("beckon is not running. Start it with: beckon start");
    expect(screen.effects).toEqual([]);
  });
});

describe("after an answer", () => {
  const waiting = (project: string, answerId: string, minutes: number) => ({
    ...asks(project, answerable(answerId)),
    since: now - minutes * 60_000,
  });
  const [first, second, third] = [waiting("a", "1", 9), waiting("b", "2", 5), waiting("c", "3", 1)];
  const selectedIn = (screen: ReturnType<typeof openScreen>) =>
    screen.screen().find((line) => line.startsWith("▸")) ?? "";

  test("the next session that waits is selected, from the last one the first", () => {
    const screen = openScreen([first, second, third, working("d")]);
    screen.press("j", "a");
    expect(selectedIn(screen)).toContain("b (main)");
    screen.done("Allowed");
    expect(selectedIn(screen)).toContain("c (main)");
    screen.receive([first, working("b"), third, working("d")]);
    screen.answerDetails();
    screen.press("d");
    screen.receive([first, working("b"), working("c"), working("d")]);
    screen.done("Denied");
    expect(selectedIn(screen)).toContain("a (main)");
    screen.answerDetails();
    screen.press("a");
    screen.receive([working("a"), working("b"), working("c"), working("d")]);
    screen.done("Allowed");
    expect(selectedIn(screen)).toContain("a (main)");
    expect(screen.effects).toMatchObject([
      { ask: { answerId: "2" }, answer: allow },
      { ask: { answerId: "3" }, answer: deny },
      { ask: { answerId: "1" }, answer: allow },
    ]);
  });

  test("what is selected then has to be read before a key answers it", () => {
    const screen = openScreen([first, second]);
    screen.press("d");
    screen.done("Denied");
    screen.answerDetails();
    screen.pressNow("d");
    expect(screen.effects).toHaveLength(1);
    expect(screen.footer()).toBe("That was too quick: read it, then answer again.");
  });

  test("the selection stays if the answer failed, the user has moved, or the session asks more", () => {
    const failing = openScreen([first, second]);
    failing.press("d");
    failing.done("No", true);
    expect(selectedIn(failing)).toContain("a (main)");
    const moving = openScreen([first, second, working("d")]);
    moving.press("d", "end");
    moving.done("Denied");
    expect(selectedIn(moving)).toContain("d (main)");
    const more = openScreen([asks("a", answerable("1", { dangers }), answerable("9")), second]);
    more.press("a", "y");
    more.done("Allowed");
    expect(selectedIn(more)).toContain("a (main)");
  });
});

describe("sessions that ended", () => {
  test("are one line, until e lists them", () => {
    const screen = openScreen([working("shop"), over("old"), over("older")]);
    const rows = () =>
      screen
        .screen()
        .slice(2, 5)
        .map((line) => line.trimEnd());
    expect(rows()).toEqual([expect.stringMatching(/^▸ ◐ shop /), "  · 2 ended: press e", expect.anything()]);
    screen.press("j", "j");
    expect(screen.selected()).toContain(keyOf(working("shop")));
    screen.press("e");
    expect(rows().map((row) => row.slice(2, 7))).toEqual(["◐ sho", "· old", "· old"]);
    screen.press("end", "e");
    expect(screen.selected()).toContain(keyOf(working("shop")));
    expect(rows()[1]).toBe("  · 2 ended: press e");
  });

  test("are found by the filter", () => {
    const screen = openScreen([working("shop"), over("old")]);
    screen.press("/", "o", "l", "d");
    expect(screen.text()).toContain("· old (main)");
  });
});

describe("a key counts for what was on the screen when it was pressed", () => {
  test("an ask that has just replaced another is not answered", () => {
    const screen = openScreen([asks("shop", answerable("old"))]);
    screen.wait(5_000);
    const replaced = [asks("shop", answerable("new", { lines: ["rm -rf build"], dangers }))];
    screen.receive(replaced);
    screen.pressNow("d");
    expect(screen.effects).toEqual([]);
    expect(screen.footer()).toBe("That was too quick: read it, then answer again.");
    screen.pressNow("a");
    screen.answerDetails();
    expect(screen.effects).toEqual([]);
    expect(screen.text()).toContain("rm -rf build");
  });

  test("a harmless ask that has just appeared is shown, not allowed", () => {
    const screen = openScreen([working("shop")]);
    screen.wait(5_000);
    screen.receive([asks("shop", answerable("new"))]);
    screen.answerDetails();
    screen.pressNow("a");
    expect(screen.effects).toEqual([]);
    expect(screen.text()).toContain("shop (main) asks");
    screen.press("y");
    expect(screen.effects).toMatchObject([{ ask: { answerId: "new" }, answer: allow }]);
  });

  test("a harmless ask whose text has just come is shown, not allowed", () => {
    const screen = openScreen([working("shop")]);
    screen.receive([asks("shop", answerable("new"))]);
    screen.wait(5_000);
    screen.answerDetails();
    screen.pressNow("a");
    expect(screen.effects).toEqual([]);
    expect(screen.text()).toContain("shop (main) asks");
  });

  test("keys that came together answer nothing", () => {
    const screen = openScreen([asks("shop", answerable("1"))]);
    screen.wait(5_000);
    screen.pressTogether("j", "d");
    screen.pressTogether("a", "y", "d");
    expect(screen.effects).toEqual([]);
    expect(screen.text()).toContain("shop (main) asks");
    screen.press("y");
    expect(screen.effects).toMatchObject([{ ask: { answerId: "1" }, answer: allow }]);
  });

  test("y right after a request was opened does not allow it", () => {
    const [first, second] = [answerable("1", { dangers }), answerable("2", { dangers })];
    const screen = openScreen([asks("shop", first, second)]);
    screen.press("a");
    screen.wait(timing.minReadMs - 1);
    screen.pressNow("y");
    expect(screen.effects).toEqual([]);
    expect(screen.footer()).toBe("That was too quick: read it, then answer again.");
    // Another request in its place has to be read too.
    screen.press("tab");
    screen.pressNow("y");
    expect(screen.effects).toEqual([]);
    screen.wait(timing.minReadMs);
    screen.pressNow("y");
    expect(screen.effects).toMatchObject([{ ask: { answerId: "2" }, answer: allow }]);
  });

  test("an open request that was answered elsewhere is closed", () => {
    const screen = openScreen([asks("shop", answerable("1", { dangers }))]);
    screen.press("a");
    screen.receive([working("shop")]);
    expect(screen.footer()).toBe("This ask is gone: it was answered elsewhere, or it ended.");
    expect(screen.text()).not.toContain("shop (main) asks");
  });

  test("an open request stays the same when the session asks another thing", () => {
    const old = answerable("old", { dangers, lines: ["rm -rf build"] });
    const screen = openScreen([asks("shop", old)]);
    screen.press("a");
    screen.receive([asks("shop", answerable("other"), old)]);
    screen.answerDetails();
    screen.press("y");
    expect(screen.effects).toMatchObject([{ ask: { answerId: "old" } }]);
  });

  test("details of an ask that was replaced meanwhile do not open", () => {
    const screen = openScreen([working("blog", { lastEventAt: 0 })]);
    const first = asks("shop", answerable("old", { dangers }));
    screen.receive([first]);
    screen.wait(5_000);
    screen.pressNow("a");
    screen.receive([asks("shop", answerable("new", { dangers }))]);
    screen.answerDetails();
    expect(screen.text()).not.toContain("shop (main) asks");
    screen.press("y");
    expect(screen.effects).toEqual([]);
  });

  test("a second answer waits for the first", () => {
    const screen = openScreen([asks("shop", answerable("1"))]);
    screen.press("a", "a", "d");
    expect(screen.effects).toHaveLength(1);
    expect(screen.footer()).toBe("Your last answer is still being sent.");
  });
});

describe("other keys", () => {
  test("Enter goes to the session's terminal, also from a request", () => {
    const shop = asks("shop", answerable("1", { dangers }));
    const screen = openScreen([shop]);
    screen.press("enter", "a", "enter");
    expect(screen.effects).toMatchObject([
      { do: "focus", session: { sessionId: shop.sessionId } },
      { do: "focus", session: { sessionId: shop.sessionId } },
    ]);
  });

  test("m and s turn it on and off again, x dismisses", () => {
    const screen = openScreen([working("shop")]);
    screen.press("m", "s", "x");
    screen.receive([working("shop", { silence: "muted", silenceKind: "muted" })]);
    screen.press("m");
    screen.receive([working("shop", { silence: "snoozed until 14:20", silenceKind: "snoozed" })]);
    screen.press("s");
    expect(screen.effects).toMatchObject([
      { do: "mute", isOn: true },
      { do: "snooze", minutes: 15 },
      { do: "dismiss" },
      { do: "mute", isOn: false },
      { do: "snooze", minutes: 0 },
    ]);
  });

  test("a session that has ended cannot be muted", () => {
    const screen = openScreen([over("shop")]);
    screen.press("e", "m");
    expect(screen.footer()).toBe("shop has ended.");
    expect(screen.effects).toEqual([]);
  });

  test("? shows the keys, and any other key goes back", () => {
    const screen = openScreen([session("shop")], { columns: 40, rows: 10 });
    screen.press("?");
    expect(screen.text()).toContain("j k");
    expect(screen.text()).not.toContain("quit");
    screen.press("end");
    expect(screen.text()).toContain("seen all");
    screen.press("x");
    expect(screen.text()).toContain("shop");
    expect(screen.effects).toEqual([]);
  });

  test.each(["q", "Q", "ctrl-c", "ctrl-d"])("%s quits", (key) => {
    const screen = openScreen([session("shop")]);
    screen.press(key);
    expect(screen.effects).toEqual([{ do: "quit" }]);
  });

  test("Ctrl-C quits from everywhere", () => {
    for (const key of ["/", "?", "a"]) {
      const screen = openScreen([asks("shop", answerable("1", { dangers }))]);
      screen.press(key, "ctrl-c");
      expect(screen.effects).toEqual([{ do: "quit" }]);
    }
  });

  test("a message goes away after a while, or with the next key", () => {
    const list = [working("shop")];
    const screen = openScreen(list);
    screen.done("It worked.");
    expect(screen.footer()).toBe("It worked.");
    screen.wait(10_000);
    screen.receive(list);
    expect(screen.footer()).toContain("q quit");
    screen.done("It failed.", true);
    screen.press("j");
    expect(screen.footer()).toContain("q quit");
  });
});

test("details are read once for each ask, and again if they did not come", () => {
  const list = [asks("shop", answerable("1"))];
  const screen = openScreen(list);
  screen.receive(list);
  screen.press("j", "k");
  expect(screen.pending).toEqual([]);
  screen.receive([asks("shop", answerable("2"))]);
  expect(screen.pending).toHaveLength(1);
  screen.receive([asks("shop", answerable("2"))]);
  expect(screen.pending).toHaveLength(2);
});
