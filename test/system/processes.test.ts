import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Place } from "../../src/core/session/event.ts";
import { createSession, type Session } from "../../src/core/session/session.ts";
import { findDeadSessions } from "../../src/system/processes.ts";
import { createWorld, type World } from "../world.ts";

let world: World;
beforeEach(() => {
  world = createWorld();
});
afterEach(() => world.destroy());

const somewhere: Place = {
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
    place: place && { ...somewhere, ...place },
    ended: ended ? { reason: "x", whileBusy: false, ...when } : null,
  };
}
const isDead = (place: Partial<Place> | null, ended = false) =>
  findDeadSessions([session(place, ended)]).length === 1;

describe("a session is found dead", () => {
  test("when its process was killed, and not before", async () => {
    const { child, pid, procStart } = world.agent();
    expect(isDead({ pid, procStart })).toBe(false);
    child.kill("SIGKILL");
    await child.exited;
    expect(isDead({ pid, procStart })).toBe(true);
  });

  test("with all others of the same process, and nobody else", async () => {
    const { child, pid, procStart } = world.agent();
    const other = world.agent();
    child.kill("SIGKILL");
    await child.exited;
    const killed = session({ pid, procStart });
    const alive = session({ pid: other.pid, procStart: other.procStart });
    // Another start time under the same pid: another process, which is no more either.
    const reused = session({ pid: other.pid, procStart: `${Number(other.procStart) - 1}` });
    expect(findDeadSessions([killed, alive, killed, reused, alive])).toEqual([killed, killed, reused]);
  });

  test("when its pid is another process's by now", () => {
    const { pid, procStart } = world.agent();
    expect(isDead({ pid, procStart: `${Number(procStart) - 1}` })).toBe(true);
  });

  test("when only its corpse is left", async () => {
    const parent = world.spawn(["sh", "-c", "sleep 0 & echo $!; exec sleep 60"]);
    const { value } = await parent.stdout.getReader().read();
    const pid = Number(Buffer.from(value ?? []).toString());
    const state = () => world.read(`/proc/${pid}/stat`).split(") ")[1]?.[0];
    while (state() !== "Z") await Bun.sleep(5);
    expect(isDead({ pid, procStart: null })).toBe(true);
  });
});

describe("nobody judges", () => {
  const gone = 2 ** 22 + 1;
  test("a pid of another machine or namespace", () =>
    expect(isDead({ pid: gone, local: false })).toBe(false));
  test("a session whose pid is not known", () => {
    expect(isDead({ pid: null })).toBe(false);
    expect(isDead(null)).toBe(false);
  });
  test("one that has ended", () => expect(isDead({ pid: gone }, true)).toBe(false));
  test("a live process whose start time nobody told", () => expect(isDead({ pid: process.pid })).toBe(false));
});
