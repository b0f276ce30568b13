import { expect, test } from "bun:test";
import type { AgentEvent, SharedFile } from "../../src/core/session/event.ts";
import { createSession, type Session } from "../../src/core/session/session.ts";
import { sessionKeyOf } from "../../src/core/session/session-ref.ts";
import { createAcrossMachines } from "../../src/workguard/across-machines.ts";

const now = { at: 1_800_000_000_000, t: 1_000 };

function createSessions(machine: string | null, count: number, files: number): Session[] {
  return Array.from({ length: count }, (_, n) => ({
    ...createSession({ agent: "claude", sessionId: `s${n}`, ...now } as AgentEvent),
    machine,
    repositoryFiles: Array.from({ length: files }, (_, file) => ({
      ...now,
      repository: "r",
      commit: "c",
      path: `f${file}`,
    })),
  }));
}

/** Compares once, and returns the machines that each session is told of. */
function compare(sessions: readonly Session[]): (session: Session) => Set<string | null> {
  const byKey = new Map(sessions.map((session) => [sessionKeyOf(session), session]));
  const shared = new Map<string, readonly SharedFile[]>();
  createAcrossMachines({
    sessions: () => sessions,
    get: (ref) => byKey.get(sessionKeyOf(ref)) ?? null,
    ownName: "laptop",
    schedule: () => () => {},
    setShared: (session, files) => shared.set(sessionKeyOf(session), files),
  });
  return (session) => new Set((shared.get(sessionKeyOf(session)) ?? []).map(({ machine }) => machine));
}

test("a machine that names a file in many sessions hides neither this machine's nor a third one's", () => {
  const own = createSessions(null, 1, 1);
  const third = createSessions("server", 1, 1);
  const tellsOf = compare([...createSessions("devbox", 500, 1), ...third, ...own]);
  for (const session of own) expect(tellsOf(session)).toEqual(new Set(["devbox", "server"]));
  for (const session of third) expect(tellsOf(session)).toEqual(new Set(["devbox", "laptop"]));
});

test("a machine that names the same files in thousands of sessions costs next to nothing", () => {
  const sessions = [...createSessions(null, 1, 16), ...createSessions("devbox", 2_000, 256)];
  const byKey = new Map(sessions.map((session) => [sessionKeyOf(session), session]));
  const shared = new Map<string, readonly SharedFile[]>();
  const startedAt = performance.now();
  createAcrossMachines({
    sessions: () => sessions,
    get: (ref) => byKey.get(sessionKeyOf(ref)) ?? null,
    ownName: "laptop",
    schedule: () => () => {},
    setShared: (session, files) => shared.set(sessionKeyOf(session), files),
  });
  expect(performance.now() - startedAt).toBeLessThan(1_000);
  for (const files of shared.values()) expect(files.length).toBeLessThanOrEqual(32);
});
