/** Where the status file and the hooks disagree for a long time, the CLI itself is asked, once. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { watchClaude } from "../../../../src/agents/claude/watch/index.ts";
import { type AgentEvent, createInternalEvent, type FileStatus } from "../../../../src/core/session/event.ts";
import { createSession, type Session } from "../../../../src/core/session/session.ts";
import { settle } from "../../../virtual-time.ts";

let folder: string;
let now = 0;
let calls: (readonly string[])[] = [];
let events: AgentEvent[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "beckon-disagreement-"));
  now = 1_000_000;
  calls = [];
  events = [];
});
afterEach(() => rmSync(folder, { recursive: true }));

const at = (t: number) => ({ at: t, t });

function createFixture(listed: unknown, version = "2.1.325") {
  const watcher = watchClaude({
    env: { HOME: folder, CLAUDE_CONFIG_DIR: folder },
    clock: () => ({ ...at(now), boot: null, host: null }),
    findSession: () => null,
    dispatch: (event) => {
      if (event.change.kind === "status") events.push(event);
    },
    mask: (text) => text,
    onError: (text) => {
      throw new Error(text);
    },
    exec: async (argv) => {
      calls.push(argv);
      return { code: 0, stdout: typeof listed === "string" ? listed : JSON.stringify(listed), stderr: "" };
    },
    addPendingRequest: () => () => {},
    report: () => {},
    listWindows: async () => [],
    findProgram: async () => ({ path: "/bin/claude", version }),
  });
  return {
    async check(session: Session, afterMs: number) {
      now += afterMs;
      watcher.check([session]);
      await settle();
      watcher.stop();
    },
    watcher,
  };
}

function createStale(
  status: FileStatus,
  times: { file: number; stopped: number; prompted: number },
): Session {
  const event = createInternalEvent("1", at(0), { agent: "claude", sessionId: "s" }, { kind: "no-change" });
  return {
    ...createSession(event),
    last: at(now),
    file: { status, waitingFor: null, ...at(now + times.file) },
    stopped: at(now + times.stopped),
    prompted: at(now + times.prompted),
  };
}
const busyAfterStop = () => createStale("busy", { file: -50, stopped: 0, prompted: -100 });

test("a file that stays busy after the turn ended is corrected after a minute", async () => {
  const fixture = createFixture([{ sessionId: "other" }, { sessionId: "s", status: "idle" }]);
  await fixture.check(busyAfterStop(), 60_000);
  expect(calls).toEqual([["/bin/claude", "agents", "--json"]]);
  expect(events).toMatchObject([{ sessionId: "s", change: { kind: "status", status: "idle" } }]);
});

test("the CLI is not asked earlier, nor if file and hooks agree", async () => {
  await createFixture([]).check(busyAfterStop(), 59_000);
  const agreeing = [
    createStale("busy", { file: 0, stopped: -50, prompted: -100 }),
    createStale("busy", { file: -50, stopped: -100, prompted: 0 }),
    createStale("idle", { file: 0, stopped: -10, prompted: -100 }),
    createStale("waiting", { file: -50, stopped: -100, prompted: 0 }),
  ];
  for (const session of agreeing) await createFixture([]).check(session, 600_000);
  expect(calls).toEqual([]);
});

test("the CLI is asked once about a disagreement", async () => {
  const { watcher } = createFixture([{ sessionId: "s", status: "busy" }]);
  const session = busyAfterStop();
  for (let n = 0; n < 5; n++) {
    now += 60_000;
    watcher.check([session]);
    await settle();
  }
  watcher.stop();
  expect(calls).toHaveLength(1);
  expect(events).toEqual([]);
});

test("a CLI that cannot tell changes nothing", async () => {
  for (const listed of ["", "no JSON", {}, [1, { sessionId: 3 }, { sessionId: "s", status: "new" }]])
    await createFixture(listed).check(busyAfterStop(), 60_000);
  await createFixture([{ sessionId: "s", status: "idle" }], "2.1.100").check(busyAfterStop(), 60_000);
  expect(calls).toHaveLength(4);
  expect(events).toEqual([]);
});
