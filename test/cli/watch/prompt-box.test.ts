/** The next prompt in `beckon status --watch`. */
import { expect, test } from "bun:test";
import type { PromptView, SessionPrompts } from "../../../src/core/interfaces/wire.ts";
import { working } from "../sessions.ts";
import { openScreen } from "./harness.ts";

const session = working("shop-api");
const queued: PromptView = {
  id: "00000001",
  session: "claude:s",
  text: "now the tests",
  state: "queued",
  since: 0,
  says: "it works: sent when this turn ends",
};

function openBox(known: Partial<SessionPrompts> = {}) {
  const screen = openScreen([session]);
  screen.press("p");
  screen.receivePrompts({ prompts: [], obstacle: null, way: "Arrives as a message from @beckon", ...known });
  return screen;
}
const sent = (screen: ReturnType<typeof openScreen>) =>
  screen.effects.filter((effect) => effect.do === "send").map(({ text }) => text);

test("p opens a box, Enter sends what is written, and what became of it is said in the list", () => {
  const screen = openBox();
  screen.press(..."/clear, please");
  expect(screen.text()).toContain("Next prompt for shop-api");
  expect(screen.text()).toContain("Arrives as a message from @beckon");
  expect(screen.text()).toContain("›  /clear, please▏");
  screen.press("enter", "enter");
  expect(sent(screen)).toEqual(["/clear, please"]);
  screen.done("Delivered at 14:31.");
  expect(screen.footer()).toContain("Delivered at 14:31.");
  expect(screen.text()).toContain("▸");
});

test("keys of the list are text in the box, and Esc sends nothing", () => {
  const screen = openBox();
  screen.press("q", "x", "m", "a", "escape");
  expect(screen.effects.filter(({ do: what }) => what !== "prompts")).toEqual([]);
  expect(screen.text()).toContain("▸");
});

test("pasted lines and keys that came together send nothing", () => {
  const screen = openBox();
  screen.paste("one\r\ntwo\r");
  screen.pressTogether("x", "enter", "y");
  expect(sent(screen)).toEqual([]);
  screen.press("enter");
  expect(sent(screen)).toEqual(["one\ntwo\nx\ny"]);
});

test("what could not be sent stays in the box", () => {
  const screen = openBox();
  screen.press("g", "o", "enter");
  screen.done("nothing was sent: it asks you something", true);
  expect(screen.footer()).toContain("it asks you something");
  expect(screen.text()).toContain("›  go▏");
});

test("a session that takes none says why before anything is written", () => {
  const screen = openBox({ obstacle: "it skips all permissions", way: null });
  screen.press("g", "o", "enter");
  expect(screen.text()).toContain("Not possible: it skips all permissions.");
  expect(sent(screen)).toEqual([]);
});

test("what waits is shown, is read again with the list, and Backspace takes the last one back", () => {
  const screen = openBox({ prompts: [queued] });
  expect(screen.text()).toContain("now the tests");
  expect(screen.text()).toContain("Queued: it works: sent when this turn ends");
  screen.receive([session]);
  expect(screen.effects.at(-1)).toMatchObject({ do: "prompts" });
  screen.press("backspace");
  expect(screen.effects.at(-1)).toMatchObject({ do: "take back", prompt: { id: "00000001" } });
  screen.takeBack("now the tests");
  screen.receivePrompts({ prompts: [], obstacle: null, way: null });
  expect(screen.text()).toContain("›  now the tests▏");
});

test.each([
  [40, 10],
  [20, 4],
])("in %d×%d, the end of a long prompt is in sight and nothing is wider", (columns, rows) => {
  const screen = openBox({ prompts: [queued, queued, queued] });
  screen.resize(columns, rows);
  screen.paste("word ".repeat(100));
  expect(screen.screen()).toHaveLength(rows);
  expect(screen.text()).toContain("▏");
  for (const line of screen.screen()) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(columns);
});
