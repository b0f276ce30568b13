/** Sessions that Copilot CLI has open, before its hooks report them or where it has none. */
import { afterEach, beforeEach, expect } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { watchCopilot } from "../../../src/agents/copilot/watch/index.ts";
import { createInternalEvent, type EventSubject } from "../../../src/core/session/event.ts";
import { createStore } from "../../../src/state/store.ts";
import { testWith } from "../../needs.ts";
import { createWatchContext } from "../watch-context.ts";

const test = testWith("linux");
const now = 1_794_800_000_000;
let home = "";
let stopAll: (() => void)[] = [];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "beckon-copilot-"));
});
afterEach(() => {
  for (const stop of stopAll) stop();
  stopAll = [];
  rmSync(home, { recursive: true, force: true });
});

/** A process of this name that waits. */
async function startProgram(name: string): Promise<number> {
  const script = join(home, name);
  writeFileSync(script, "echo started; read line\n");
  const child = Bun.spawn(["sh", script], { stdin: "pipe", stdout: "pipe", stderr: "ignore" });
  stopAll.push(() => child.kill());
  await child.stdout.getReader().read();
  return child.pid;
}
const startCli = () => startProgram("copilot");

function putOpenSessions(sessions: Readonly<Record<string, object>>): void {
  writeFileSync(join(home, ".copilot/open-sessions-state.json"), JSON.stringify(sessions));
}

function putSession(sessionId: string, pid: number): void {
  const folder = join(home, ".copilot/session-state", sessionId);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `inuse.${pid}.lock`), `${pid}\n`);
  writeFileSync(join(folder, "workspace.yaml"), `id: ${sessionId}\ncwd: /home/ann/docs\nname: Docs\n`);
}

function openWatcher() {
  const store = createStore();
  let at = now;
  const clock = () => ({ at, t: at - now, boot: "boot", host: "host" });
  const findSession = (sessionId: string) => store.get({ agent: "copilot", sessionId });
  const watcher = watchCopilot(createWatchContext("copilot", store, { home, clock }));
  stopAll.push(() => watcher.stop());
  return {
    findSession,
    check: () => {
      at += 1_000;
      watcher.check(store.sessions(clock()));
    },
    hook: (sessionId: string, change: Parameters<typeof createInternalEvent>[3]) => {
      at += 1_000;
      const subject: EventSubject = { agent: "copilot", sessionId };
      store.dispatch(createInternalEvent(`hook-${at}`, clock(), subject, change));
    },
  };
}

const opened = (seconds: number, working = false) => ({
  schemaVersion: 1,
  openedAt: new Date(now + seconds * 1_000).toISOString(),
  working,
});

test("a session is listed as soon as it is open, and gone if it is closed without a prompt", async () => {
  const { findSession, check } = openWatcher();
  putSession("s1", await startCli());
  putOpenSessions({ s1: opened(0) });
  check();
  expect(findSession("s1")).toMatchObject({
    cwd: "/home/ann/docs",
    ended: null,
    turn: { running: false },
    place: { local: true, pid: expect.any(Number) },
  });
  putOpenSessions({});
  check();
  expect(findSession("s1")?.ended).toMatchObject({ whileBusy: false });
});

test("a resumed session, which has no lock before its first prompt, is found by its process's log", async () => {
  const { findSession, check } = openWatcher();
  mkdirSync(join(home, ".copilot/logs"), { recursive: true });
  const log = join(home, `.copilot/logs/process-1794918705759-${await startCli()}.log`);
  writeFileSync(log, "2026-11-17T12:31:45.938Z [INFO] Registering foreground session: s1\n");
  putOpenSessions({ s1: opened(0), s2: opened(0) });
  check();
  expect(findSession("s1")).toMatchObject({ ended: null, place: { pid: expect.any(Number) } });
  expect(findSession("s2")).toBeNull();
});

test("a session that was killed is not listed, nor one whose process id another program has now", async () => {
  const { findSession, check } = openWatcher();
  putSession("killed", 2 ** 22 - 1);
  putSession("other", await startProgram("editor"));
  putOpenSessions({ killed: opened(0), other: opened(0), "../other": opened(0) });
  check();
  expect([findSession("killed"), findSession("other")]).toEqual([null, null]);
});

test("a session that was resumed is listed again, and one that is just closing is not", async () => {
  const { findSession, check, hook } = openWatcher();
  putSession("s1", await startCli());
  putOpenSessions({ s1: opened(0) });
  check();
  hook("s1", { kind: "prompt", text: "go", byMachine: false });
  hook("s1", { kind: "session-end", reason: "exit" });
  putOpenSessions({ s1: { ...opened(0), refreshedAt: "later" } });
  check();
  expect(findSession("s1")?.ended).not.toBeNull();
  putOpenSessions({ s1: opened(4) });
  check();
  expect(findSession("s1")).toMatchObject({ ended: null, startSource: "resume" });
});

test("a session without hooks is shown at work and ready; hooks decide where there are any", async () => {
  const { findSession, check, hook } = openWatcher();
  putSession("s1", await startCli());
  putOpenSessions({ s1: opened(0, true) });
  check();
  expect(findSession("s1")?.turn.running).toBe(true);
  putOpenSessions({ s1: opened(0, false) });
  check();
  expect(findSession("s1")?.turn.running).toBe(false);
  hook("s1", { kind: "prompt", text: "go", byMachine: false });
  putOpenSessions({ s1: { ...opened(0, false), refreshedAt: "later" } });
  check();
  expect(findSession("s1")?.turn.running).toBe(true);
});

test("countless killed sessions in the list cost little, and the running one is found", async () => {
  const { findSession, check } = openWatcher();
  const logs = join(home, ".copilot/logs");
  mkdirSync(logs, { recursive: true });
  for (let n = 0; n < 300; n++) writeFileSync(join(logs, `process-1-${2_000_000_000 + n}.log`), "");
  const killed = Array.from({ length: 5_000 }, (_, n) => [`killed-${n}`, opened(-60 - n)] as const);
  putSession("running", await startCli());
  putOpenSessions({ ...Object.fromEntries(killed), running: opened(0) });
  const started = performance.now();
  check();
  expect(performance.now() - started).toBeLessThan(1_000);
  expect(findSession("running")).toMatchObject({ ended: null });
});
