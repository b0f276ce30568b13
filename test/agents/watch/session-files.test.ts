/** Following the files that agents write for their sessions. */
import { afterAll, beforeEach, expect, test } from "bun:test";
import { appendFileSync, mkdtempSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { followFile } from "../../../src/agents/watch/growing-file.ts";
import { watchSessionFiles } from "../../../src/agents/watch/session-files.ts";
import { type AgentEvent, createInternalEvent } from "../../../src/core/session/event.ts";
import { type EventWindow, reduce } from "../../../src/core/session/reduce.ts";
import { waitUntil } from "../../wait-until.ts";

const folder = mkdtempSync(join(tmpdir(), "beckon-files-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let path = "";
let files = 0;
beforeEach(() => {
  path = join(folder, `${++files}.jsonl`);
});

function readAll(file: ReturnType<typeof followFile>) {
  const lines: string[] = [];
  const result = file.readNew((line) => lines.push(line));
  return { result, lines };
}

test("only complete new lines are read, and each once", () => {
  const file = followFile(path);
  expect(readAll(file)).toEqual({ result: "missing", lines: [] });
  writeFileSync(path, "one\ntwo\nthr");
  expect(readAll(file)).toEqual({ result: "done", lines: ["one", "two"] });
  expect(readAll(file).lines).toEqual([]);
  appendFileSync(path, "ee\n");
  expect(readAll(file).lines).toEqual(["three"]);
});

test("a file that was replaced by a shorter one is read again", () => {
  const file = followFile(path);
  writeFileSync(path, "a long first line\n");
  readAll(file);
  writeFileSync(path, "new\n");
  expect(readAll(file)).toEqual({ result: "replaced", lines: [] });
  expect(readAll(file).lines).toEqual(["new"]);
});

test("a link that was put in the file's place is not followed", () => {
  const file = followFile(path);
  writeFileSync(path, "one\n");
  readAll(file);
  unlinkSync(path);
  symlinkSync("/etc/passwd", path);
  expect(() => readAll(file)).toThrow();
});

/** One session of an agent that writes "interrupted" into its file. */
function createWatcher({
  onError = () => {},
  findFile = async () => path,
}: {
  readonly onError?: (text: string) => void;
  readonly findFile?: () => Promise<string>;
} = {}) {
  let window: EventWindow | undefined;
  let t = 0;
  const clock = () => ({ at: t, t, boot: null, host: null });
  const dispatch = (event: AgentEvent) => {
    window = reduce(window, event);
  };
  const about = { agent: "example", sessionId: "s" };
  const watcher = watchSessionFiles<string[]>(
    {
      env: {},
      clock,
      findSession: () => window?.session ?? null,
      dispatch,
      mask: (text) => text,
      onError,
      exec: async () => ({ code: null, stdout: "", stderr: "" }),
      listWindows: async () => [],
      findProgram: async () => null,
      addPendingRequest: () => () => {},
      report: () => {},
    },
    {
      agent: "example",
      findFile,
      createState: () => [],
      addLine: (state, line) => state.push(line),
      onRead: (session, state) => {
        if (session.turn.running && state.includes("interrupted"))
          dispatch(createInternalEvent(`i-${t}`, clock(), about, { kind: "interrupted" }));
      },
      isUrgent: ({ turn }) => turn.running,
      isUnattended: () => false,
      readAfter: new Set(["turn-end"]),
    },
  );
  return {
    watcher,
    isRunning: () => window?.session.turn.running,
    send(kind: "prompt" | "turn-end") {
      t += 1_000;
      const change =
        kind === "prompt"
          ? ({ kind, text: "", byMachine: false } as const)
          : ({ kind, error: null, lastResponse: null, background: null } as const);
      const event = createInternalEvent(`e-${t}`, clock(), about, change);
      dispatch(event);
      if (window) watcher.follow(window.session, event);
    },
  };
}

test("what the file reports while a turn runs is seen within a fraction of a second", async () => {
  const { watcher, send, isRunning } = createWatcher();
  writeFileSync(path, "started\n");
  send("prompt");
  expect(isRunning()).toBe(true);
  appendFileSync(path, "interrupted\n");
  await waitUntil(() => isRunning() === false, 2_000);
  watcher.stop();
});

test("a fault while a file is looked for is in the log, and not the end of the app", async () => {
  const errors: string[] = [];
  const { watcher, send } = createWatcher({
    onError: (text) => errors.push(text),
    findFile: () => Promise.reject(new Error("the disk is gone")),
  });
  send("prompt");
  await waitUntil(() => errors.length > 0, 2_000);
  watcher.stop();
  expect(errors[0]).toContain("the disk is gone");
});
