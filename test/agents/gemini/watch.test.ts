/** What Gemini CLI's processes and transcript say that its hooks do not: a command was approved, or stopped with Esc. */
import { afterEach, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { watchGemini } from "../../../src/agents/gemini/watch/index.ts";
import { type Change, createInternalEvent, type EventSubject } from "../../../src/core/session/event.ts";
import { createStore } from "../../../src/state/store.ts";
import { testWith } from "../../needs.ts";
import { waitUntil } from "../../wait-until.ts";
import { createWatchContext } from "../watch-context.ts";

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/** A process that runs this command in a shell, as Gemini CLI does. */
async function startCli(command: string): Promise<number> {
  const child = Bun.spawn(["sh", "-c", 'echo started; bash -c "{ $COMMAND; }"; true'], {
    env: { PATH: process.env.PATH, COMMAND: command },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
  });
  stops.push(() => {
    child.stdin.end();
    child.kill();
  });
  await child.stdout.getReader().read();
  return child.pid;
}

function openWatcher() {
  const home = mkdtempSync(join(tmpdir(), "beckon-gemini-"));
  const transcriptPath = join(home, ".gemini/tmp/proj/chats/s.jsonl");
  mkdirSync(join(transcriptPath, ".."), { recursive: true });
  writeFileSync(transcriptPath, "");
  const store = createStore();
  let t = 0;
  const clock = () => ({ at: startedAt + t, t, boot: "boot", host: "host" });
  const watcher = watchGemini(createWatchContext("gemini", store, { home, clock }));
  stops.push(() => {
    watcher.stop();
    rmSync(home, { recursive: true, force: true });
  });
  return {
    findSession: (sessionId: string) => store.get({ agent: "gemini", sessionId }),
    sendHook(sessionId: string, change: Change, pid: number | null = null): void {
      t += 2_000;
      const place = { local: true, pid, procStart: null, tty: null, terminalSessionId: null, env: {} };
      const subject: EventSubject = { agent: "gemini", sessionId, transcriptPath, place };
      store.dispatch(createInternalEvent(`hook-${t}`, clock(), subject, change));
    },
    addLine(line: object): void {
      t += 100;
      appendFileSync(transcriptPath, `${JSON.stringify(line)}\n`);
    },
    readTime: () => new Date(startedAt + t).toISOString(),
    waitFor: (isDone: () => boolean) =>
      waitUntil(() => {
        t += 100;
        watcher.check(store.sessions(clock()));
        return isDone();
      }, 5_000),
  };
}

const startedAt = 1_794_800_000_000;
const command = "read line; echo approved";

testWith("linux")(
  "an ask is over as soon as its command runs, and stays while another one does",
  async () => {
    const { findSession, sendHook, waitFor } = openWatcher();
    const ask = { kind: "ask", ask: "permission", tool: "Shell", inputKey: null, options: [] } as const;
    sendHook("approved", { ...ask, summary: command }, await startCli(command));
    sendHook("waiting", { ...ask, summary: command }, await startCli("read line; echo another"));
    await waitFor(() => findSession("approved")?.asks.length === 0);
    expect(findSession("waiting")?.asks).toHaveLength(1);
  },
);

test("a command that Esc stopped does not count as work if its hook comes late", async () => {
  const { findSession, sendHook, addLine, readTime, waitFor } = openWatcher();
  const call = { tool: "Shell", toolUseId: "c", skill: null } as const;
  const isRunning = () => findSession("s")?.turn.running === true;
  sendHook("s", { kind: "prompt", text: "go", byMachine: false });
  sendHook("s", { kind: "tool-start", ...call, inputKey: "c", summary: "sleep 30" });
  addLine({ type: "info", timestamp: readTime(), content: "Request cancelled." });
  await waitFor(() => !isRunning());
  sendHook("s", { kind: "tool-end", ...call, outcome: "ok" });
  expect(isRunning()).toBe(true);
  const toolCalls = [{ id: "c", status: "cancelled", timestamp: readTime() }];
  addLine({ type: "gemini", id: "r", timestamp: readTime(), content: "", toolCalls });
  await waitFor(() => !isRunning());
});
