/** An approved command of Gemini CLI, which neither a hook nor the transcript reports before it has run. */
import { afterEach, expect } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { watchGemini } from "../../../src/agents/gemini/watch/index.ts";
import { createInternalEvent, type EventSubject } from "../../../src/core/session/event.ts";
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

const command = "read line; echo approved";

testWith("linux")(
  "an ask is over as soon as its command runs, and stays while another one does",
  async () => {
    const home = mkdtempSync(join(tmpdir(), "beckon-gemini-"));
    stops.push(() => rmSync(home, { recursive: true, force: true }));
    const transcriptPath = join(home, ".gemini/tmp/proj/chats/s.jsonl");
    mkdirSync(join(transcriptPath, ".."), { recursive: true });
    writeFileSync(transcriptPath, "");
    const store = createStore();
    let t = 0;
    const clock = () => ({ at: 1_000 + t, t, boot: "boot", host: "host" });
    const watcher = watchGemini(createWatchContext("gemini", store, { home, clock }));
    stops.push(() => watcher.stop());

    const ask = (sessionId: string, pid: number): void => {
      const place = { local: true, pid, procStart: null, tty: null, terminalSessionId: null, env: {} };
      const subject: EventSubject = { agent: "gemini", sessionId, transcriptPath, place };
      const change = { kind: "ask", ask: "permission", tool: "Shell", inputKey: null, options: [] } as const;
      store.dispatch(
        createInternalEvent(`ask-${sessionId}`, clock(), subject, { ...change, summary: command }),
      );
    };
    ask("approved", await startCli(command));
    ask("waiting", await startCli("read line; echo another"));
    const countAsks = (sessionId: string) => store.get("gemini", sessionId)?.asks.length;
    await waitUntil(() => {
      t += 1_000;
      watcher.check(store.sessions(clock()));
      return countAsks("approved") === 0;
    }, 5_000);
    expect(countAsks("waiting")).toBe(1);
  },
);
