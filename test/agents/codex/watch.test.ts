/** What beckon learns from Codex's own files and processes, where no hook reports it. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentWatcher } from "../../../src/agents/agent.ts";
import { codex } from "../../../src/agents/codex/index.ts";
import { openEnvelope } from "../../../src/agents/envelope.ts";
import type { Session } from "../../../src/core/session/session.ts";
import { createStore, type Store } from "../../../src/state/store.ts";
import { waitUntil } from "../../wait-until.ts";

let home = "";
let rollout = "";
let store: Store;
let watcher: AgentWatcher | null = null;

const clock = () => ({ at: Date.now(), t: performance.now(), boot: "boot", host: "host" });
const find = (sessionId: string): Session | null => store.get({ agent: "codex", sessionId });

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "beckon-codex-watch-"));
  const folder = join(home, ".codex", "sessions", "2026", "11", "16");
  mkdirSync(folder, { recursive: true });
  rollout = join(folder, "rollout-s-1.jsonl");
  store = createStore();
  watcher = codex.watch({
    env: { HOME: home },
    clock,
    findSession: find,
    dispatch: (event) => store.dispatch(event),
    mask: (text) => text,
    onError: (text) => {
      throw new Error(text);
    },
    exec: async () => ({ code: null, stdout: "", stderr: "" }),
    listWindows: async () => [],
    findProgram: async () => null,
    addPendingRequest: () => () => {},
    report: () => {},
  });
  store.subscribe((session, event) => watcher?.follow(session, event));
});
afterEach(() => {
  watcher?.stop();
  rmSync(home, { recursive: true, force: true });
});

let count = 0;
function receiveHook(name: string, fields: object = {}, sessionId = "s-1"): void {
  const payload = {
    session_id: sessionId,
    turn_id: "t-1",
    hook_event_name: name,
    transcript_path: rollout,
    cwd: "/p",
    ...fields,
  };
  const _meta = { host: "host", pid: 69, procStart: "1", tty: "/dev/pts/3", env: { TMUX_PANE: "%0" } };
  const hook = openEnvelope({ provider: "codex", _meta, payload }, "codex", "host");
  const { at, t } = clock();
  const event = hook && codex.translate(hook, { id: `h-${++count}`, key: `k-${count}`, at, t });
  if (event) store.dispatch(event);
}

const addRow = (type: string, payload: object): void =>
  appendFileSync(rollout, `${JSON.stringify({ timestamp: new Date().toISOString(), type, payload })}\n`);

test("a turn that fails ends with its error, although no hook reports it", async () => {
  addRow("event_msg", { type: "task_started", turn_id: "t-1" });
  receiveHook("UserPromptSubmit", { prompt: "go" });
  await waitUntil(() => find("s-1")?.turn.running === true, 5_000);
  addRow("event_msg", { type: "task_complete", turn_id: "t-1", error: { message: "out of credits" } });
  await waitUntil(() => {
    watcher?.check([...store.sessions(clock())]);
    return find("s-1")?.turn.error === "out of credits";
  }, 5_000);
  expect(find("s-1")?.turn.running).toBe(false);
});

test("a session of `codex exec` is unattended", async () => {
  addRow("session_meta", { source: "exec" });
  receiveHook("SessionStart", { source: "startup" });
  await waitUntil(() => find("s-1")?.attended === false, 5_000);
});

test("/new ends the session before it, in the same process only", () => {
  receiveHook("SessionStart", { source: "startup" });
  receiveHook("SessionStart", { source: "clear" }, "s-2");
  expect(find("s-1")?.ended?.reason).toBe("clear");
  expect(find("s-2")?.ended).toBeNull();
});

test("the title that Codex makes up is shown", async () => {
  receiveHook("UserPromptSubmit", { prompt: "go" });
  const row = { id: "s-1", thread_name: "Fix the tests", updated_at: "2026-11-16T18:00:00Z" };
  writeFileSync(join(home, ".codex", "session_index.jsonl"), `${JSON.stringify(row)}\n`);
  watcher?.check([...store.sessions(clock())]);
  expect(find("s-1")?.title).toBe("Fix the tests");
});

test("a path outside of Codex's own sessions is not read", async () => {
  const outside = join(home, "outside.jsonl");
  writeFileSync(outside, `${JSON.stringify({ type: "session_meta", payload: { source: "exec" } })}\n`);
  expect(await codex.findTranscript(outside, { HOME: home })).toBeNull();
  addRow("session_meta", { source: "cli" });
  expect(await codex.findTranscript(rollout, { HOME: home })).not.toBeNull();
});
