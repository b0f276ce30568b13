/** Where hooks cannot see the agent's process, beckon finds it: with the `ps` that macOS has too, on real processes. */
import { afterAll, afterEach, expect } from "bun:test";
import { readFileSync, realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { type AgentEvent, createInternalEvent, type Place } from "../../src/core/session/event.ts";
import { createSession, type Session } from "../../src/core/session/session.ts";
import { createMacProcesses } from "../../src/desktop/terminals/processes.ts";
import { createClock } from "../../src/system/clock.ts";
import { exec } from "../../src/system/exec.ts";
import { listChildren } from "../../src/system/processes.ts";
import { createUnseenProcesses } from "../../src/watch/unseen-processes.ts";
import { testWith } from "../needs.ts";
import { removeTemporaryFolders, temporaryFolder } from "../storage/folder.ts";
import { waitUntil } from "../wait-until.ts";

const test = testWith("linux", "/bin/ps");
const clock = createClock();
const started: Bun.Subprocess[] = [];
afterEach(async () => {
  for (const child of started.splice(0)) {
    for (const pid of listChildren(child.pid)) process.kill(pid, "SIGKILL");
    child.kill("SIGKILL");
    await child.exited;
  }
});
afterAll(removeTemporaryFolders);

const readName = (pid: number) => readFileSync(`/proc/${pid}/comm`, "utf8").trim();

/** A process with that name, and the pid of the shell that it runs a hook in. */
async function startAgent(name: string): Promise<{ pid: number; shell: number }> {
  const program = join(temporaryFolder(), name);
  symlinkSync(realpathSync("/bin/sh"), program);
  // The inner shell waits for its input, which ends with this process.
  const child = Bun.spawn([program, "-c", "exec 3<&0; sh -c 'read line <&3; :' & wait"], {
    stdin: "pipe",
    stdout: "ignore",
    stderr: "ignore",
  });
  started.push(child);
  // Until it runs the shell, the child has its parent's name.
  const findShell = () => listChildren(child.pid).find((pid) => readName(pid) === "sh");
  await waitUntil(() => findShell() !== undefined, 5_000);
  return { pid: child.pid, shell: findShell() ?? 0 };
}

const placeOf = (more: Partial<Place>): Place => ({
  ...{ local: true, pid: null, procStart: null, tty: null, terminalSessionId: null, env: {} },
  ...more,
});

function watchSession(place: Place, at = clock().at) {
  const about = { agent: "codex", sessionId: "s1", place };
  const event = createInternalEvent("1", { ...clock(), at }, about, { kind: "no-change" });
  const session: Session = { ...createSession(event), place };
  const located: AgentEvent[] = [];
  const unseen = createUnseenProcesses({
    readLineage: createMacProcesses(exec).lineage,
    clock,
    get: () => session,
    dispatch: (dispatched) => void located.push(dispatched),
  });
  return { unseen, session, event, located };
}

test("the agent is found behind the shell that runs its hook, and looked for once", async () => {
  const agent = await startAgent("codex");
  const { unseen, session, event, located } = watchSession(placeOf({ hookParent: agent.shell }));
  await unseen.follow(session, event);
  await unseen.follow(session, event);
  expect(located.map(({ change }) => change)).toEqual([
    { kind: "located", place: placeOf({ pid: agent.pid }) },
  ]);
});

test("a parent that has ended, or belongs to another agent, leads to no process", async () => {
  const agent = await startAgent("someone");
  for (const hookParent of [agent.shell, 2 ** 22 + 1]) {
    const { unseen, session, event, located } = watchSession(placeOf({ hookParent }));
    await unseen.follow(session, event);
    // This test may itself run under node or bun, which can be any agent's.
    expect(located.map(({ change }) => change.kind === "located" && change.place?.pid)).not.toContain(
      agent.pid,
    );
  }
});

test("a process that is younger than what its session did last is not the session's", async () => {
  const agent = await startAgent("codex");
  const before = watchSession(placeOf({ pid: agent.pid }), clock().at - 60_000);
  expect(await before.unseen.findReused([before.session])).toEqual([before.session]);
  const now = watchSession(placeOf({ pid: agent.pid }));
  expect(await now.unseen.findReused([now.session])).toEqual([]);
});
