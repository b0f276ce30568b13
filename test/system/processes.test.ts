import { describe, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Place } from "../../src/core/session/event.ts";
import { createSession, type Session } from "../../src/core/session/session.ts";
import { isAgentProcess } from "../../src/system/process-stat.ts";
import {
  findDeadSessions,
  isAlive,
  listChildren,
  readCommandLine,
  readStartTime,
} from "../../src/system/processes.ts";
import { createAppFixture } from "../app-fixture.ts";
import { forEachTest } from "../for-each-test.ts";
import { testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";

const fixture = forEachTest(createAppFixture);

const unknownPlace: Place = {
  local: true,
  pid: null,
  procStart: null,
  tty: null,
  terminalSessionId: null,
  env: {},
};

function session(place: Partial<Place> | null, ended = false): Session {
  const when = { at: 0, t: 0 };
  const nothing = {
    agentId: null,
    agentType: null,
    agentName: null,
    permissionMode: null,
    promptId: null,
    cwd: null,
    project: null,
    transcriptPath: null,
  };
  const more = { place: null, attended: null, payloadKey: null, change: { kind: "no-change" } } as const;
  const fresh = createSession({
    ...when,
    ...nothing,
    ...more,
    id: "1",
    agent: "claude",
    sessionId: "s",
    name: "x",
  });
  return {
    ...fresh,
    place: place && { ...unknownPlace, ...place },
    ended: ended ? { reason: "x", whileBusy: false, ...when } : null,
  };
}
const isDead = (place: Partial<Place> | null, ended = false) =>
  findDeadSessions([session(place, ended)]).length === 1;

describe("a session is found dead", () => {
  test("when its process was killed, and not before", async () => {
    const { child, pid, procStart } = fixture.startAgent();
    expect(isDead({ pid, procStart })).toBe(false);
    child.kill("SIGKILL");
    await child.exited;
    expect(isDead({ pid, procStart })).toBe(true);
  });

  test("with all other sessions of the same process, and no others", async () => {
    const { child, pid, procStart } = fixture.startAgent();
    const other = fixture.startAgent();
    child.kill("SIGKILL");
    await child.exited;
    const killed = session({ pid, procStart });
    const alive = session({ pid: other.pid, procStart: other.procStart });
    // Another start time with the same pid is another process, which is gone too.
    const reused = session({ pid: other.pid, procStart: `${Number(other.procStart) - 1}` });
    expect(findDeadSessions([killed, alive, killed, reused, alive])).toEqual([killed, killed, reused]);
  });

  test("when its pid belongs to another process now", () => {
    const { pid, procStart } = fixture.startAgent();
    expect(isDead({ pid, procStart: `${Number(procStart) - 1}` })).toBe(true);
  });

  test("when its process is a zombie", async () => {
    const parent = fixture.spawn(["sh", "-c", "sleep 0 & echo $!; exec sleep 60"]);
    const { value } = await parent.stdout.getReader().read();
    const pid = Number(Buffer.from(value ?? []).toString());
    const state = () => fixture.read(`/proc/${pid}/stat`).split(") ")[1]?.[0];
    await waitUntil(() => state() === "Z", 5_000);
    expect(isDead({ pid, procStart: null })).toBe(true);
  });
});

describe("a session is not found dead", () => {
  const unusedPid = 2 ** 22 + 1;
  test("if its pid is of another machine or namespace", () =>
    expect(isDead({ pid: unusedPid, local: false })).toBe(false));
  test("if its pid is unknown", () => {
    expect(isDead({ pid: null })).toBe(false);
    expect(isDead(null)).toBe(false);
  });
  test("if it has ended", () => expect(isDead({ pid: unusedPid }, true)).toBe(false));
  test("if its process lives and its start time is unknown", () =>
    expect(isDead({ pid: process.pid })).toBe(false));
});

const onLinux = testWith("linux");

describe("a process", () => {
  onLinux("has the start time of /proc/PID/stat", async () => {
    const ticks = readFileSync("/proc/self/stat", "utf8").split(") ")[1]?.split(" ")[19];
    expect(readStartTime(process.pid)).toBe(ticks ?? "none");
    expect(isAlive(process.pid, ticks ?? "")).toBe(true);
    expect(isAlive(process.pid, "1")).toBe(false);
    expect(isAlive(process.pid, null)).toBe(true);
  });

  onLinux("can have a name that looks like the rest of the line", async () => {
    const folder = mkdtempSync(join(tmpdir(), "beckon-processes-"));
    const odd = join(folder, "a) Z 1 (b");
    copyFileSync(Bun.which("sleep") ?? "", odd);
    const child = Bun.spawn([odd, "60"]);
    try {
      const comm = () => readFileSync(`/proc/${child.pid}/comm`, "utf8").trim();
      await waitUntil(() => comm() === "a) Z 1 (b", 5_000);
      expect(Number(readStartTime(child.pid))).toBeGreaterThan(Number(readStartTime(process.pid)) - 1);
    } finally {
      child.kill("SIGKILL");
      await child.exited;
      rmSync(folder, { recursive: true });
    }
    expect(readStartTime(child.pid)).toBeNull();
  });
});

testWith("linux")("a command that a process runs is found with its whole command line", async () => {
  const script = `read line # ${"ü".repeat(9_000)}`;
  const child = Bun.spawn(["sh", "-c", script], { stdin: "pipe" });
  try {
    expect(listChildren(process.pid)).toContain(child.pid);
    await waitUntil(() => readCommandLine(child.pid).length === 3, 5_000);
    expect(readCommandLine(child.pid)).toEqual(["sh", "-c", script]);
  } finally {
    child.kill("SIGKILL");
    await child.exited;
  }
  expect(readCommandLine(child.pid)).toEqual([]);
});

test("an agent's process may have more than its id as a name, but not another one", () => {
  expect(["kimi", "kimi-code", "node"].map((name) => isAgentProcess("kimi", name))).toEqual([
    true,
    true,
    true,
  ]);
  expect(["bash", "kimicode", "-kimi", "tmux: server"].some((name) => isAgentProcess("kimi", name))).toBe(
    false,
  );
});
