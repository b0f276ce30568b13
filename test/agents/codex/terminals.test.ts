/** The terminal of a session that the shared server runs is found by its title, or not at all. */
import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findTerminal, isTitle, listTitles } from "../../../src/agents/codex/watch/terminals.ts";
import type { DesktopWindow } from "../../../src/core/terminals/plan.ts";

const thread = { name: "Fix the tests", cwd: "/home/dev/proj" };
const title = "Fix the tests | proj";
const createTerminal = (
  pid: number,
  env: Readonly<Record<string, string>>,
  ancestors: readonly number[],
) => ({
  pid,
  procStart: "1",
  tty: `/dev/pts/${pid}`,
  env: { SECRET: "not for beckon", ...env },
  ancestors,
  isShared: true,
});
const inTmux = (pid: number) =>
  createTerminal(pid, { TMUX: "/run/tmux.sock,40,0", TMUX_PANE: `%${pid}` }, [40]);

const foreignSocket = "/tmp/tmux-1001/default";

interface Desk {
  readonly terminals: readonly ReturnType<typeof createTerminal>[];
  /** By tmux pane. The pane %1 has the terminal /dev/pts/1. */
  readonly panes?: Readonly<Record<string, string>>;
  readonly windows?: readonly DesktopWindow[];
}

const find = ({ terminals, panes = {}, windows = [] }: Desk, about: { readonly name?: null } = {}) =>
  findTerminal(
    { ...thread, ...about },
    {
      listTerminals: () => terminals,
      listWindows: async () => windows,
      isOwnSocket: (path) => path !== foreignSocket,
      async exec(argv) {
        expect(argv).not.toContain(foreignSocket);
        const pane = argv[argv.indexOf("-t") + 1] ?? "";
        return { code: 0, stdout: `/dev/pts/${pane.slice(1)}\t${panes[pane] ?? ""}\n`, stderr: "" };
      },
    },
  );

test.each([
  ["Fix the tests | proj", true],
  ["⠏ Fix the tests | proj", true],
  ["[ . ] Action Required | Fix the tests | proj", true],
  ["Do not Fix the tests | proj", false],
  ["Fix the tests | project", false],
  ["Fix the tests", false],
])("%s: %p", (text, isOwn) => {
  expect(isTitle(text, listTitles(thread))).toBe(isOwn);
});

test("long parts of a title are cut as Codex cuts them", () => {
  const cwd = "/home/dev/a-project-with-a-name-that-is-long";
  const name = "This thread title is intentionally much longer than forty-eight characters";
  const [own = ""] = listTitles({ name, cwd });
  expect(own).toBe("This thread title is intentionally much longe... | a-project-with-a-name...");
  expect(isTitle(`⠋ ${own}`, [own])).toBe(true);
});

test("in a folder of a repository, the title names the repository", () => {
  const root = mkdtempSync(join(tmpdir(), "beckon-codex-title-"));
  try {
    mkdirSync(join(root, "shop", ".git"), { recursive: true });
    const titles = listTitles({ name: "Fix the tests", cwd: join(root, "shop", "src", "cart") });
    expect(titles).toEqual(["Fix the tests | cart", "Fix the tests | shop"]);
  } finally {
    rmSync(root, { recursive: true });
  }
});

test("focus leads to the only pane with the session's title", async () => {
  const panes = { "%0": "bash", "%1": `[ . ] Action Required | ${title}` };
  expect(await find({ terminals: [inTmux(0), inTmux(1)], panes })).toEqual({
    kind: "found",
    place: {
      local: true,
      pid: 1,
      procStart: "1",
      tty: "/dev/pts/1",
      terminalSessionId: "%1",
      env: { TMUX: "/run/tmux.sock,40,0", TMUX_PANE: "%1" },
    },
  });
});

test("another user's tmux is not asked: it could make beckon run a command", async () => {
  const foreign = createTerminal(1, { TMUX: `${foreignSocket},40,0`, TMUX_PANE: "%1" }, [40]);
  expect(await find({ terminals: [foreign], panes: { "%1": title } })).toMatchObject({ kind: "none" });
});

test("two terminals with the same title are never guessed between", async () => {
  const several = { kind: "none" as const, why: "several terminals have its title" };
  expect(await find({ terminals: [inTmux(0), inTmux(1)], panes: { "%0": title, "%1": title } })).toEqual(
    several,
  );
  const terminals = [inTmux(1), createTerminal(7, {}, [70])];
  const windows = [{ id: "5", pid: 70, title }];
  expect(await find({ terminals, panes: { "%1": title }, windows })).toEqual(several);
});

test("outside of tmux, the window with the title leads to the codex in it", async () => {
  const terminals = [createTerminal(7, { WINDOWID: "9" }, [71, 70]), createTerminal(8, {}, [80])];
  const windows = [
    { id: "4", pid: 80, title: "Something else | proj" },
    { id: "5", pid: 70, title: `⠋ ${title}` },
  ];
  expect(await find({ terminals, windows })).toMatchObject({
    kind: "found",
    place: { pid: 7, tty: "/dev/pts/7" },
  });
});

test("a window with the title that runs no codex is not the session's", async () => {
  const windows = [
    { id: "5", pid: 99, title },
    { id: "6", pid: null, title },
  ];
  expect(await find({ terminals: [createTerminal(7, {}, [70])], windows })).toEqual({
    kind: "none",
    why: "neither a tmux pane nor a window has its title: it may be in a tab that is not shown",
  });
});

test("a codex in a window that was opened from tmux is not taken for the one in the pane", async () => {
  const fromPane = createTerminal(7, { TMUX: "/run/tmux.sock,40,0", TMUX_PANE: "%1" }, [70]);
  const windows = [{ id: "5", pid: 70, title: "Another | proj" }];
  const found = await find({ terminals: [inTmux(1), fromPane], panes: { "%1": title }, windows });
  expect(found).toMatchObject({ kind: "found", place: { pid: 1, tty: "/dev/pts/1" } });
});

test("if one program shows several sessions of Codex, only the window with the title is known", async () => {
  const terminals = [createTerminal(7, {}, [70]), createTerminal(8, {}, [70])];
  expect(await find({ terminals, windows: [{ id: "5", pid: 70, title }] })).toMatchObject({
    kind: "found",
    place: { pid: null, tty: null, env: { WINDOWID: "5" } },
  });
  // KDE's ids cannot be used for focus.
  expect(await find({ terminals, windows: [{ id: "{a-b}", pid: 70, title }] })).toEqual({
    kind: "none",
    why: "several terminals of the same program run codex",
  });
});

test("a codex with the same title that runs a session of its own is not taken for it", async () => {
  const own = { ...createTerminal(7, {}, [70]), isShared: false };
  const windows = [{ id: "5", pid: 70, title }];
  expect(await find({ terminals: [own, inTmux(1)], windows })).toMatchObject({ kind: "none" });
  const ownPane = { ...inTmux(1), isShared: false };
  expect(await find({ terminals: [ownPane, inTmux(2)], panes: { "%1": title } })).toMatchObject({
    kind: "none",
  });
  // A session of the server is in a tab of the same program: which of them has the title is not known.
  const terminals = [own, createTerminal(8, {}, [70])];
  expect(await find({ terminals, windows })).toMatchObject({ kind: "found", place: { pid: null } });
});

test("without a title or a terminal, the reason is given", async () => {
  expect(await find({ terminals: [inTmux(1)] }, { name: null })).toEqual({
    kind: "none",
    why: "it has no title yet to find its terminal by",
  });
  expect(await find({ terminals: [] })).toEqual({
    kind: "none",
    why: "no terminal on this machine shows a session of that server",
  });
});
