/** Qwen Code's second channel, with a real pipe: requests become answerable, and answers end in the file that Qwen Code reads. */
import { afterEach, expect } from "bun:test";
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { appendFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { WatchedRequest } from "../../../src/agents/agent.ts";
import { openEnvelope } from "../../../src/agents/envelope.ts";
import { qwenAnswering } from "../../../src/agents/qwen/answering.ts";
import { qwen } from "../../../src/agents/qwen/index.ts";
import { createQwenSetup } from "../../../src/agents/qwen/setup/index.ts";
import type { Answer } from "../../../src/core/session/ask-details.ts";
import { createStore } from "../../../src/state/store.ts";
import { exec } from "../../../src/system/exec.ts";
import { testWith } from "../../needs.ts";
import { waitUntil } from "../../wait-until.ts";
import { createWatchContext } from "../watch-context.ts";

const waitMs = 10_000;
const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

const { createRegistration, entries } = createQwenSetup({ systemPaths: [] });
const { add } = createRegistration({ version: null, binary: "/opt/beckon", home: null, platform: "linux" });

async function openChannel() {
  const home = mkdtempSync(join(tmpdir(), "beckon-qwen-"));
  const [settings, events, answers] = ["settings.json", "beckon-events", "beckon-answers.jsonl"].map((name) =>
    join(home, ".qwen", name),
  ) as [string, string, string];
  mkdirSync(join(home, ".qwen"));
  writeFileSync(settings, add("{}"));
  // What Qwen Code leaves if it starts where no pipe is.
  writeFileSync(events, "a conversation");
  const store = createStore();
  let t = 0;
  const clock = () => ({ at: 1_794_800_000_000 + t, t, boot: "boot", host: "host" });
  const pending = new Map<string, WatchedRequest>();
  const watcher = qwen.watch({
    ...createWatchContext("qwen", store, { home, clock }),
    exec,
    mask: (text) => text.replaceAll("hunter2", "***"),
    addPendingRequest(request) {
      pending.set(request.request, request);
      return () => void pending.delete(request.request);
    },
  });
  if (!watcher) throw new Error("nothing is watched");
  const check = () => watcher.check(store.sessions(clock()));
  stops.push(() => {
    watcher.stop();
    rmSync(home, { recursive: true, force: true });
  });
  check();
  await waitUntil(() => existsSync(answers) && lstatSync(events).isFIFO(), waitMs);
  return {
    pending,
    check,
    settings,
    events,
    readAnswers: () => readFileSync(answers, "utf8"),
    listAsks: (session: string) =>
      store.get({ agent: "qwen", sessionId: session })?.asks.map(({ summary }) => summary) ?? [],
    /** The hook of a request: its command as beckon's ingest has masked it. */
    ask(session: string, command: string): void {
      t += 2_000;
      const base = { session_id: session, cwd: "/proj", hook_event_name: "PermissionRequest" };
      const payload = { ...base, tool_name: "run_shell_command", tool_input: { command } };
      const message = openEnvelope({ payload, _meta: {} }, "qwen", null);
      const id = `${session} ${command}`;
      const event = message && qwen.translate(message, { ...clock(), id, key: id });
      if (event) store.dispatch(event);
      const now = store.get({ agent: "qwen", sessionId: session });
      if (event && now) watcher.follow(now, event);
    },
    /** A line as Qwen Code 0.24.4 writes it. */
    write: (line: object) => appendFile(events, `${JSON.stringify(line)}\n`),
  };
}

const asking = (request_id: string, command: string) => ({
  type: "control_request",
  request_id,
  request: { subtype: "can_use_tool", tool_name: "run_shell_command", tool_use_id: "c1", input: { command } },
});

const resolved = (request_id: string, allowed: boolean) => ({
  type: "control_response",
  response: { subtype: "success", request_id, response: { allowed } },
});

const testPipe = testWith("linux", "mkfifo");

testPipe("a request is answered while its dialog is open, and ends when Qwen Code says so", async () => {
  const channel = await openChannel();
  channel.ask("s1", "touch a");
  await channel.write({ type: "stream_event", event: { text: "x".repeat(200_000) } });
  await channel.write(asking("r1", "touch a"));
  await waitUntil(() => channel.pending.size === 1, waitMs);
  const [request] = [...channel.pending.values()];
  const answer = (given: Answer) => qwenAnswering.decide(request?.payload ?? {}, given);
  expect(qwenAnswering.describe(request?.payload ?? {}, { cwd: "/proj" })).toMatchObject({
    heading: "Run a command",
    lines: ["touch a"],
    isWhole: true,
  });
  expect(answer({ do: "deny", message: "no" })).toContain("takes no message");
  expect(request?.send(answer({ do: "allow" }) as object)).toBe(true);
  expect(channel.readAnswers()).toBe('{"type":"confirmation_response","request_id":"r1","allowed":true}\n');
  await channel.write(resolved("r1", true));
  await waitUntil(() => channel.listAsks("s1").length === 0, waitMs);
  expect(channel.pending.size).toBe(0);
});

testPipe("of parallel requests each ends by itself", async () => {
  const channel = await openChannel();
  channel.ask("s1", "touch a");
  channel.ask("s1", "touch b");
  for (const name of ["a", "b"]) await channel.write(asking(`r-${name}`, `touch ${name}`));
  await waitUntil(() => channel.pending.size === 2, waitMs);
  await channel.write(resolved("r-a", true));
  await waitUntil(() => channel.pending.size === 1, waitMs);
  expect(channel.listAsks("s1")).toEqual(["touch b"]);
});

testPipe("a request that two sessions could have made is not answered; one with a secret is", async () => {
  const channel = await openChannel();
  channel.ask("s1", "make");
  channel.ask("s2", "make");
  channel.ask("s3", "login ***");
  await channel.write(asking("r1", "make"));
  await channel.write(asking("r3", "login hunter2"));
  await waitUntil(() => channel.pending.size === 1, waitMs);
  expect([...channel.pending.values()].map(({ sessionId }) => sessionId)).toEqual(["s3"]);
});

testPipe("after uninstall the pipe is gone", async () => {
  const channel = await openChannel();
  writeFileSync(channel.settings, entries.remove(readFileSync(channel.settings, "utf8")));
  await waitUntil(() => {
    channel.check();
    return !existsSync(channel.events);
  }, waitMs);
});
