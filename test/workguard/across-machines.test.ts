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
