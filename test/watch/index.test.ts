import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import type { AgentEvent } from "../../src/core/session/event.ts";
import { createInternalEvent } from "../../src/core/session/event.ts";
import { createSession, type Session } from "../../src/core/session/session.ts";
import { createClock } from "../../src/system/clock.ts";
import { readStartTime } from "../../src/system/processes.ts";
import { watchAgents } from "../../src/watch/index.ts";
import { testWith } from "../needs.ts";

const clock = createClock();
let child: Bun.Subprocess;
let watch: ReturnType<typeof watchAgents> | null = null;
let ended: string[] = [];

function createRunning(sessionId: string, pid: number, procStart: string | null): Session {
  const place = { local: true, pid, procStart, tty: null, terminalSessionId: null, env: {} };
  const event = createInternalEvent("1", clock(), { agent: "x", sessionId, place }, { kind: "no-change" });
  return { ...createSession(event), place };
}

function watchSessions(...sessions: Session[]): void {
  watch = watchAgents({
    agents: new Map(),
    env: {},
    clock,
    sessions: () => sessions.filter(({ sessionId }) => !ended.includes(sessionId)),
    get: () => null,
    dispatch: ({ sessionId }: AgentEvent) => void ended.push(sessionId),
    mask: (text) => text,
    exec: async () => ({ code: null, stdout: "", stderr: "" }),
    addPendingRequest: () => () => {},
    report: () => {},
    listWindows: async () => [],
    findProgram: async () => null,
    readLineage: null,
    onError: (text) => {
      throw new Error(text);
    },
  });
}

beforeEach(() => {
  ended = [];
  child = Bun.spawn(["sleep", "600"]);
  jest.useFakeTimers();
});
afterEach(async () => {
  watch?.stop();
  jest.useRealTimers();
  child.kill("SIGKILL");
  await child.exited;
});

test("a session ends within a second of its process, and no other does", async () => {
  const start = readStartTime(child.pid);
  watchSessions(
    createRunning("killed", child.pid, start),
    createRunning("alive", process.pid, readStartTime(process.pid)),
  );
  jest.advanceTimersByTime(10_000);
  expect(ended).toEqual([]);
  child.kill("SIGKILL");
  await child.exited;
  jest.advanceTimersByTime(1_000);
  expect(ended).toEqual(["killed"]);
});

testWith("linux")("a session whose pid has become another process's ends within five seconds", async () => {
  watchSessions(createRunning("gone", child.pid, "1"));
  jest.advanceTimersByTime(5_000);
  expect(ended).toEqual(["gone"]);
});
