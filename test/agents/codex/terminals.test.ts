/** The terminal of a session that the shared server runs is found by its title, or not at all. */
import { expect, test } from "bun:test";
import { findTerminal, isTitleOf } from "../../../src/agents/codex/watch/terminals.ts";

const thread = { name: "Fix the tests", cwd: "/home/dev/proj" };
const terminals = ["%0", "%1"].map((pane, index) => ({
  pid: 100 + index,
  procStart: `${index}`,
  env: { TMUX: "/run/tmux.sock,40,0", TMUX_PANE: pane, SECRET: "not for beckon" },
}));

/** A tmux whose panes have these titles. */
const tmux = (titles: Readonly<Record<string, string>>) => async (argv: readonly string[]) => {
  const pane = argv[argv.indexOf("-t") + 1] ?? "";
  return { code: 0, stdout: `/dev/pts/${pane.slice(1)}\t${titles[pane] ?? ""}\n`, stderr: "" };
};

test.each([
  ["Fix the tests | proj", true],
  ["⠏ Fix the tests | proj", true],
  ["[ . ] Action Required | Fix the tests | proj", true],
  ["Do not Fix the tests | proj", false],
  ["Fix the tests | project", false],
  ["Fix the tests", false],
])("%s: %p", (title, isOwn) => {
  expect(isTitleOf(title, thread.name, thread.cwd)).toBe(isOwn);
});

test("focus leads to the only pane with the session's title", async () => {
  const exec = tmux({ "%0": "bash", "%1": "[ . ] Action Required | Fix the tests | proj" });
  expect(await findTerminal(thread, exec, terminals)).toEqual({
    kind: "found",
    place: {
      local: true,
      pid: 101,
      procStart: "1",
      tty: "/dev/pts/1",
      terminalSessionId: "%1",
      env: { TMUX: "/run/tmux.sock,40,0", TMUX_PANE: "%1" },
    },
  });
});

test("two panes with the same title are never guessed between", async () => {
  const title = "Fix the tests | proj";
  const found = await findTerminal(thread, tmux({ "%0": title, "%1": title }), terminals);
  expect(found).toEqual({ kind: "none", why: "several terminals have its title" });
});

test("without a title, or outside of tmux, the reason is said", async () => {
  expect(await findTerminal({ ...thread, name: null }, tmux({}), terminals)).toMatchObject({ kind: "none" });
  const outside = [{ pid: 7, procStart: "1", env: {} }];
  expect(await findTerminal(thread, tmux({}), outside)).toEqual({
    kind: "none",
    why: "no tmux pane has its title, and other terminals do not say theirs",
  });
});
