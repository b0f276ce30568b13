/** What leaves a machine at each level of detail. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { AgentEvent } from "../../../src/core/session/event.ts";
import { createSession, type Session } from "../../../src/core/session/session.ts";
import { shareOf, shareSession } from "../../../src/machines/fleet/share.ts";
import { readDescribedSession } from "../../../src/machines/mirrored-session.ts";
import type { DescribedSession } from "../../../src/machines/protocol.ts";

const now = { at: 1_800_000_000_000, t: 5_000_000 };
const event = { agent: "claude", sessionId: "5e55", ...now } as AgentEvent;

/** A session in which every text is this one, or contains it. */
function createFull(text: string, reason: string = text): Session {
  const usage = { tokens: { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 }, costMicros: 5 };
  const context = { used: 10, window: 100 };
  const skill = { name: text, triggerCommand: `/${text}`, targetDocPath: `/home/${text}.md` };
  const call = { ...now, toolUseId: text, tool: text, agentId: text, promptId: text, inputKey: text };
  const path = `/home/kim/${text}`;
  return {
    ...createSession(event),
    newest: now.t,
    turn: { ...now, running: true, byHook: true, error: text },
    detail: text,
    prompted: now,
    promptId: text,
    stopped: now,
    answered: now,
    beforeCompact: { running: true, detail: text },
    asks: [
      {
        ...call,
        id: "5e55-1",
        kind: "permission",
        summary: `rm ${text}`,
        options: [text],
        questions: 2,
        request: text,
        from: "hook",
        hidden: false,
      },
    ],
    asksOpened: 1,
    children: [
      {
        ...now,
        agentId: text,
        type: text,
        name: text,
        team: text,
        running: true,
        detail: text,
        startedAt: now.at,
        model: text,
        usage,
        context,
        transcriptPath: path,
      },
    ],
    tools: [{ ...call, summary: text, ended: false }],
    edits: [{ ...now, path }],
    sharedFiles: [{ ...now, path, machine: text, agent: "claude", sessionId: text, project: text }],
    repositoryFiles: [{ ...now, repository: text, commit: text, path: text }],
    file: { ...now, status: "busy", waitingFor: text },
    ended: { ...now, reason, whileBusy: false },
    payloads: [{ key: text, t: now.t }],
    background: text,
    attended: true,
    cwd: path,
    firstCwd: path,
    project: text,
    transcriptPath: path,
    place: {
      local: true,
      pid: 4_711,
      procStart: text,
      tty: text,
      terminalSessionId: text,
      env: { TMUX: text, SSH_CONNECTION: text },
    },
    attach: text,
    gitBranch: text,
    title: text,
    model: text,
    usage,
    context,
    tasks: [{ id: text, status: "pending", subject: text }],
    permissionMode: text,
    startSource: text,
    turnCount: 3,
    lastPrompt: text,
    lastResponse: text,
    currentSkill: text,
    skill: { ...skill, ...now, phase: "in_progress", turnSeq: 1 } as Session["skill"],
    documents: [{ path, ...now }] as unknown as Session["documents"],
    port: { id: text, title: text } as unknown as Session["port"],
    untracked: { ...now, tool: text, path, isBlocked: true },
  };
}

const describe = (session: Session, text: string): DescribedSession => {
  const texts = { lines: [text], dangers: [text], always: [text], questions: [] };
  const all = { kind: "permission" as const, tool: text, heading: text, isWhole: true, ...texts };
  return {
    session: { ...session },
    answerable: [{ id: "5e55-1", answerId: text, details: all, masked: { details: all, hasSecret: false } }],
  };
};

/** What a user could have typed or named a file, and what is not part of a field's name by chance. */
const anyText = fc.string({ minLength: 1, maxLength: 20, unit: "binary" }).map((text) => `Zq${text}qZ`);

test("at minimal nothing that was typed, run or named is in what leaves", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const shared = JSON.stringify(shareSession(describe(createFull(text), text), "minimal"));
      expect(shared).not.toContain("Zq");
      expect(shared).not.toContain("/home");
    }),
  );
});

test("a field that sessions get later is not shared before it is listed", () => {
  const later = { ...createFull("Zq"), newField: "Zq" };
  for (const level of ["minimal", "summary"] as const)
    expect(JSON.stringify(shareSession(describe(later, "Zq"), level))).not.toContain("newField");
});

test("at summary the project and the tool are named, and nothing else", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const full = { ...createFull(text), project: "shop" };
      const asks = full.asks.map((ask) => ({ ...ask, tool: "Bash" }));
      const { session, answerable } = shareSession(describe({ ...full, asks }, text), "summary");
      expect(JSON.stringify({ session, answerable })).not.toContain("Zq");
      expect(session).toMatchObject({ project: "shop", asks: [{ tool: "Bash", summary: "" }] });
    }),
  );
});

test("what is shared is a valid session that waits since the same moment, and cannot be answered", () => {
  for (const level of ["minimal", "summary"] as const) {
    const session = { ...createFull("Zq"), ended: null };
    const mirrored = readDescribedSession(
      shareSession(describe(session, "Zq"), level),
      "devbox",
      { at: 0, t: 0 },
      now,
    );
    expect(mirrored?.session.asks).toMatchObject([{ kind: "permission", ...now, request: null }]);
    expect(mirrored?.answerable.size).toBe(0);
    expect(mirrored?.session.turn.running).toBe(true);
  }
});

test("whether a session died, was cleared or ended is shared", () => {
  const died = { ...createFull("Zq", "process gone") };
  const of = (session: Session) => shareSession(describe(session, "x"), "minimal").session.ended;
  expect(of({ ...died, ended: { ...now, reason: "process gone", whileBusy: true } })).toMatchObject({
    reason: "process gone",
    whileBusy: true,
  });
  expect(of(createFull("x", "clear"))).toMatchObject({ reason: "clear" });
  expect(of(createFull("x", "a text of the agent"))).toMatchObject({ reason: "other" });
});

test("full is for one's own machines; a team gets no more than a summary, whatever its file says", () => {
  const described = describe(createFull("Zq"), "Zq");
  expect(shareSession(described, "full")).toBe(described);
  expect(shareOf({ kind: "team", share: "full" })).toBe("summary");
  expect(shareOf({ kind: "personal", share: "full" })).toBe("full");
});
