/** Codex's shared server: what its status and its requests make of a session. A small server speaks the recorded messages. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ServerWebSocket } from "bun";
import type { AgentWatcher, WatchedRequest } from "../../../src/agents/agent.ts";
import { codex } from "../../../src/agents/codex/index.ts";
import { openEnvelope } from "../../../src/agents/envelope.ts";
import type { Session } from "../../../src/core/session/session.ts";
import { createStore, type Store } from "../../../src/state/store.ts";
import { viewSession } from "../../core/view/session-view.ts";
import { waitUntil } from "../../wait-until.ts";
import { changesOf, recordedPatches } from "./recorded-patches.ts";

const threadId = "01a1e596-abf0-79c2-b989-3cb9682cf655";
const turnId = "turn-1";
const thread = {
  id: threadId,
  sessionId: threadId,
  cwd: "/home/dev/proj",
  path: null,
  name: "Fix the tests",
  source: "vscode",
  status: { type: "idle" },
};

type Message = Readonly<Record<string, unknown>>;

let home = "";
let store: Store;
let watcher: AgentWatcher | null = null;
let held: WatchedRequest[] = [];
let released = 0;
/** What the server answers, by method. */
let results: Record<string, object> = {};
/** Methods that it refuses, and its message. */
let refusals: Record<string, string> = {};
/** A method that it does not answer. */
let unanswered: string | null = null;
const problems: string[] = [];
let server: ReturnType<typeof startServer> | null = null;

const clock = () => ({ at: Date.now(), t: performance.now(), boot: "boot", host: "host" });
const sessions = (): Session[] => [...store.sessions(clock())];
const phase = () => {
  const [session] = sessions();
  return session ? viewSession(session, clock()).activityPhase : null;
};

/** Answers what beckon asks, and sends what the test says. */
function startServer() {
  const folder = join(home, ".codex", "app-server-control");
  mkdirSync(folder, { recursive: true });
  // As Codex does it: the path in its folder is a link.
  const target = join(home, "codex-daemon");
  symlinkSync(target, join(folder, "app-server-control.sock"));
  const calls: Message[] = [];
  results = {
    initialize: { userAgent: "codex" },
    "thread/loaded/list": { data: [threadId, "hidden-title-thread"] },
    "thread/list": { data: [thread] },
  };
  let client: ServerWebSocket<undefined> | null = null;
  const listening = Bun.serve({
    unix: target,
    fetch: (request, self) => (self.upgrade(request) ? undefined : new Response("no", { status: 400 })),
    websocket: {
      open(socket) {
        client = socket;
      },
      message(socket, text) {
        const message = JSON.parse(String(text)) as Message;
        calls.push(message);
        if (typeof message.method !== "string" || message.id === undefined) return;
        if (message.method === unanswered) return;
        const refusal = refusals[message.method];
        const answer =
          refusal === undefined
            ? { result: results[message.method] ?? {} }
            : { error: { code: -32_600, message: refusal } };
        socket.send(JSON.stringify({ id: message.id, ...answer }));
      },
    },
  });
  return {
    calls,
    methods: () => calls.map(({ method }) => method),
    send: (message: Message) => void client?.send(JSON.stringify(message)),
    status(status: Message, id = threadId) {
      const params = { threadId: id, status };
      client?.send(JSON.stringify({ method: "thread/status/changed", params, emittedAtMs: Date.now() }));
    },
    stop: () => listening.stop(true),
  };
}

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "beckon-codex-server-"));
  store = createStore();
  held = [];
  released = 0;
  refusals = {};
  unanswered = null;
  server = startServer();
  watcher = codex.watch({
    env: { HOME: home },
    clock,
    findSession: (sessionId) => sessions().find((session) => session.sessionId === sessionId) ?? null,
    dispatch: (event) => store.dispatch(event),
    mask: (text) => text,
    onError: (text) => void problems.push(text),
    exec: async () => ({ code: null, stdout: "", stderr: "" }),
    listWindows: async () => [],
    findProgram: async () => null,
    report: () => {},
    addPendingRequest(request) {
      held.push(request);
      return () => void released++;
    },
  });
  watcher?.scan([]);
  await waitUntil(() => server?.methods().includes("thread/list") === true, 5_000);
});
afterEach(() => {
  expect(problems.splice(0)).toEqual([]);
  watcher?.stop();
  server?.stop();
  rmSync(home, { recursive: true, force: true });
});

const busy = { type: "active", activeFlags: [] };
const waitingOnApproval = { type: "active", activeFlags: ["waitingOnApproval"] };

const approval = {
  id: 0,
  method: "item/commandExecution/requestApproval",
  params: {
    threadId,
    turnId,
    itemId: "call-1",
    reason: "Needs the network",
    command: "/bin/bash -lc 'npm publish'",
    cwd: "/home/dev/proj",
    availableDecisions: ["accept", "cancel"],
  },
};

function receiveHook(name: string, fields: Message): void {
  const payload = {
    session_id: threadId,
    turn_id: turnId,
    hook_event_name: name,
    cwd: "/home/dev/proj",
    ...fields,
  };
  const hook = openEnvelope({ provider: "codex", _meta: {}, payload }, "codex", "host");
  const { at, t } = clock();
  const event = hook && codex.translate(hook, { id: `hook-${name}-${t}`, key: `${name}-${t}`, at, t });
  if (event) store.dispatch(event);
}

test("without any hook, a session works, waits and is idle again as its status says", async () => {
  server?.status(busy);
  await waitUntil(() => phase() === "busy", 5_000);
  expect(sessions()[0]).toMatchObject({ sessionId: threadId, cwd: "/home/dev/proj", title: "Fix the tests" });
  server?.status(waitingOnApproval);
  await waitUntil(() => phase() === "waiting_permission", 5_000);
  server?.status({ type: "active", activeFlags: ["waitingOnUserInput"] });
  server?.status({ type: "idle" });
  await waitUntil(() => phase() === "interactable", 5_000);
});

test("a session of another folder with the same name and title is not taken for its terminal", async () => {
  results["thread/list"] = {
    data: [thread, { ...thread, id: "other", sessionId: "other", cwd: "/srv/proj" }],
  };
  server?.status(busy, "other");
  server?.status(busy);
  await waitUntil(() => sessions().length === 2, 5_000);
  const [session] = sessions();
  expect(await watcher?.locate?.(session as Session)).toContain("another session has the same title");
});

test("a second request of the same call is an ask of its own", async () => {
  server?.status(waitingOnApproval);
  server?.send(approval);
  await waitUntil(() => held.length === 1, 5_000);
  server?.send({ method: "serverRequest/resolved", params: { threadId, requestId: 0 } });
  server?.send({ ...approval, id: 1, params: { ...approval.params, command: "/bin/bash -lc 'id'" } });
  await waitUntil(() => held.length === 2, 5_000);
  expect(held[1]?.request).not.toBe(held[0]?.request as string);
  expect(sessions()[0]?.asks.some(({ request }) => request === held[1]?.request)).toBe(true);
});

test("a session that the server lists but does not run is not its own", async () => {
  const ended = { ...thread, id: "ended", sessionId: "ended", status: { type: "notLoaded" } };
  results["thread/list"] = { data: [thread, ended] };
  server?.status(busy, "hidden-title-thread");
  server?.status(busy);
  await waitUntil(() => phase() === "busy", 5_000);
  const [session] = sessions();
  if (!session) throw new Error("no session");
  expect(await watcher?.locate?.(session)).not.toContain("another session has the same title");
  expect(watcher?.continuesElsewhere(session)).toBe(true);
  // Another process ran it, and has ended.
  expect(watcher?.continuesElsewhere({ ...session, sessionId: "ended" })).toBe(false);
});

test("a session that got its name late, or another one, is looked for by the new name", async () => {
  results["thread/list"] = { data: [{ ...thread, name: null }] };
  server?.status(busy);
  await waitUntil(() => phase() === "busy", 5_000);
  const [session] = sessions();
  expect(await watcher?.locate?.(session as Session)).toContain("it has no title yet");
  results["thread/list"] = { data: [thread] };
  expect(await watcher?.locate?.(session as Session)).not.toContain("it has no title yet");
});

/** A session whose rollout file has these rows. */
async function startRollout(rows: readonly object[]): Promise<void> {
  const path = join(home, ".codex/sessions/rollout.jsonl");
  mkdirSync(join(home, ".codex/sessions"));
  const meta = { type: "session_meta", payload: { source: "cli", git: { branch: "main" } } };
  writeFileSync(path, [meta, ...rows].map((row) => `${JSON.stringify(row)}\n`).join(""));
  results["thread/list"] = { data: [{ ...thread, path }] };
  // A thread that beckon does not know makes it read the list again.
  server?.status(busy, "unknown");
  server?.status(busy);
  await waitUntil(() => {
    watcher?.check(sessions());
    return sessions()[0]?.gitBranch === "main";
  }, 5_000);
}

test("a patch that is applied in another folder is left to the terminal", async () => {
  const patch = "*** Begin Patch\n*** Update File: a.txt\n+x\n*** End Patch";
  const createRow = (call_id: string, workdir?: string) => ({
    type: "response_item",
    payload: {
      type: "function_call",
      name: "exec_command",
      arguments: JSON.stringify({ cmd: `apply_patch <<'EOF'\n${patch}\nEOF\n`, workdir }),
      call_id,
    },
  });
  const folders = { plain: undefined, same: "/home/dev/proj", elsewhere: "/etc" };
  await startRollout(Object.entries(folders).map(([id, folder]) => createRow(id, folder)));
  server?.status(waitingOnApproval);
  for (const [id, itemId] of Object.keys(folders).entries())
    server?.send({ id, method: "item/fileChange/requestApproval", params: { threadId, turnId, itemId } });
  await waitUntil(() => held.length === 3, 5_000);
  expect(held.map(({ payload }) => payload.patch)).toEqual([patch, patch, undefined]);
});

describe("a change of files", () => {
  const [recorded] = recordedPatches;
  if (recorded === undefined) throw new Error("no recorded patch");
  const { row, request, resumed } = recorded;
  const item = { type: "fileChange", id: request.params.itemId, changes: changesOf(recorded) };
  const ask = () =>
    server?.send({ ...request, params: { ...request.params, threadId, turnId } } as unknown as Message);
  const describeHeld = () =>
    codex.answering?.describe(held[0]?.payload ?? {}, { cwd: "/home/dev/proj" }) ?? null;
  const countResumes = () => server?.methods().filter((method) => method === "thread/resume").length;

  test("that waited before beckon subscribed is what the server's item says", async () => {
    await startRollout([row]);
    results["thread/resume"] = resumed;
    server?.status(waitingOnApproval);
    ask();
    await waitUntil(() => held.length === 1, 5_000);
    expect(describeHeld()).toMatchObject({ isWhole: true, heading: "Change files" });
    expect(describeHeld()?.lines.slice(0, 2)).toEqual(["⟨write⟩ /home/dev/.profile", "+echo pwned"]);
    expect(sessions()[0]?.asks).toMatchObject([{ summary: "/home/dev/.profile, /home/dev/proj/docs.md" }]);
  });

  test("that came while beckon was subscribed is what its item said, without asking for it", async () => {
    await startRollout([row]);
    server?.status(waitingOnApproval);
    await waitUntil(() => countResumes() === 1, 5_000);
    server?.send({ method: "item/started", params: { threadId, turnId, item } });
    ask();
    await waitUntil(() => held.length === 1, 5_000);
    expect(describeHeld()?.isWhole).toBe(true);
    expect(countResumes()).toBe(1);
  });

  test("that the server does not send is alerted, and asked for once", async () => {
    await startRollout([row]);
    server?.status(waitingOnApproval);
    ask();
    await waitUntil(() => held.length === 1, 5_000);
    expect(sessions()[0]?.asks).toMatchObject([{ kind: "permission", tool: "Edit" }]);
    expect(describeHeld()).toMatchObject({ isWhole: false });
    expect(describeHeld()?.lines[0]).toBe("⟨the change is in the terminal only⟩");
    // The server repeats the request for each subscription.
    ask();
    server?.status(waitingOnApproval, "unknown");
    await waitUntil(() => server?.methods().at(-1) === "thread/list", 5_000);
    expect(countResumes()).toBe(2);
    expect(held).toHaveLength(1);
  });

  test("is not what the item of an earlier wait said", async () => {
    await startRollout([row]);
    server?.status(waitingOnApproval);
    server?.send({ method: "item/started", params: { threadId, turnId, item } });
    server?.status(busy);
    server?.status(waitingOnApproval);
    ask();
    await waitUntil(() => held.length === 1, 5_000);
    expect(describeHeld()?.isWhole).toBe(false);
  });

  test("is alerted if the server refuses to send it", async () => {
    await startRollout([row]);
    server?.status(waitingOnApproval);
    await waitUntil(() => countResumes() === 1, 5_000);
    refusals = { "thread/resume": "unknown field" };
    ask();
    await waitUntil(() => held.length === 1, 5_000);
    expect(describeHeld()?.isWhole).toBe(false);
    expect(problems.splice(0)).toEqual(["Codex's server: unknown field"]);
  });

  test("cannot be answered if its server ends before it has sent it", async () => {
    await startRollout([row]);
    server?.status(waitingOnApproval);
    await waitUntil(() => countResumes() === 1, 5_000);
    unanswered = "thread/resume";
    ask();
    await waitUntil(() => countResumes() === 2, 5_000);
    server?.stop();
    await waitUntil(() => {
      watcher?.check(sessions());
      return sessions()[0]?.ended != null;
    }, 5_000);
    expect(held).toEqual([]);
  });
});

test("the hidden thread that makes up titles is not a session", async () => {
  server?.status(busy, "hidden-title-thread");
  server?.status(busy);
  await waitUntil(() => phase() === "busy", 5_000);
  expect(sessions().map(({ sessionId }) => sessionId)).toEqual([threadId]);
});

test("beckon subscribes only while a session waits, and its answer goes to the server once", async () => {
  server?.status(busy);
  await waitUntil(() => phase() === "busy", 5_000);
  expect(server?.methods()).not.toContain("thread/resume");
  server?.status(waitingOnApproval);
  await waitUntil(() => server?.methods().includes("thread/resume") === true, 5_000);
  server?.send(approval);
  await waitUntil(() => held.length === 1, 5_000);
  const [session] = sessions();
  expect(session?.asks).toMatchObject([{ kind: "permission", tool: "Bash", summary: "npm publish" }]);
  expect(held[0]?.request).toBe(session?.asks[0]?.request ?? "");
  expect(held[0]?.send({ decision: "accept" })).toBe(true);
  await waitUntil(
    () => server?.calls.some(({ id, result }) => id === 0 && result !== undefined) === true,
    5_000,
  );
  server?.send({ method: "serverRequest/resolved", params: { threadId, requestId: 0 } });
  server?.status(busy);
  await waitUntil(() => server?.methods().includes("thread/unsubscribe") === true, 5_000);
  expect(released).toBe(1);
  expect(sessions()[0]?.asks).toEqual([]);
});

test("a hook and the server that ask the same are one ask", async () => {
  receiveHook("UserPromptSubmit", { prompt: "publish" });
  const input = { tool_name: "Bash", tool_input: { command: "npm publish" } };
  receiveHook("PreToolUse", { ...input, tool_use_id: "call-1" });
  receiveHook("PermissionRequest", { ...input, tool_input: { command: "npm publish", description: "Why" } });
  server?.status(waitingOnApproval);
  await waitUntil(() => server?.methods().includes("thread/resume") === true, 5_000);
  server?.send(approval);
  await waitUntil(() => held.length === 1, 5_000);
  expect(sessions()[0]?.asks).toHaveLength(1);
  expect(held[0]?.request).toBe(sessions()[0]?.asks[0]?.request ?? "");
});

test("after the server has gone, its sessions have ended", async () => {
  server?.status(busy);
  await waitUntil(() => phase() === "busy", 5_000);
  server?.stop();
  await waitUntil(() => {
    watcher?.check(sessions());
    return sessions()[0]?.ended !== null;
  }, 8_000);
  expect(sessions()[0]?.ended?.reason).toBe("process gone");
});

test("a call that the server refuses is in the log once", async () => {
  refusals = { "thread/list": "unknown method" };
  for (const id of ["t-8", "t-9"]) server?.status(busy, id);
  await waitUntil(() => server?.methods().filter((method) => method === "thread/list").length === 3, 5_000);
  server?.status(waitingOnApproval);
  await waitUntil(() => phase() === "waiting_permission", 5_000);
  expect(problems.splice(0)).toEqual(["Codex's server: unknown method"]);
});
