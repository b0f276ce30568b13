/** One event, in order, on one session. What arrives out of order is put in its place by reduce.ts. */
import { limits } from "../limits.ts";
import { timing } from "../timing.ts";
import * as asks from "./asks.ts";
import { endChild, isChildRunning, reconcileChildren, upsertChild } from "./children.ts";
import { type AgentEvent, type Change, isHookChange, isSamePlace, type Moment } from "./event.ts";
import { createSession, type Session, type ToolCall } from "./session.ts";
import { applyStatusFile, settle } from "./settle.ts";

export function applyEvent(before: Session | null, event: AgentEvent): Session {
  const known = before ? settle(before, event.t) : createSession(event);
  if (event.t < known.newest) return late(known, event);
  if (isDuplicate(known, event)) return known;
  const noted = recordActivity(known, event);
  const { ended } = noted;
  if (ended && event.change.kind === "gone") return { ...noted, file: null };
  // The agent removes its file first, and says why about 50 ms later.
  if (ended && event.change.kind === "session-end") {
    return { ...noted, ended: { ...ended, reason: event.change.reason ?? "ended" } };
  }
  const alive = revive(noted, event);
  return alive ? change(alive, event, event.change) : noted;
}

/** A session that ended lives again when something newer happens to it; null: it stays ended. */
function revive(session: Session, event: AgentEvent): Session | null {
  if (!session.ended) return session;
  const { kind } = event.change;
  const starts = kind === "session-start" || kind === "prompt" || kind === "status";
  if (!starts && (!isHookChange(event.change) || event.t - session.ended.t < timing.trailingMs)) {
    return kind === "enriched" ? session : null;
  }
  return kind === "session-end" ? null : { ...session, ended: null };
}

function runs(session: Session, event: AgentEvent, detail: string | null): Session {
  const { turn } = session;
  if (!turn.running) {
    return {
      ...session,
      detail,
      turn: { running: true, byHook: true, error: null, at: event.at, t: event.t },
    };
  }
  return { ...session, detail, turn: turn.byHook ? turn : { ...turn, byHook: true } };
}

function over(session: Session, when: Moment, error: string | null): Session {
  return {
    ...session,
    detail: null,
    beforeCompact: null,
    currentSkill: null,
    turn: { running: false, byHook: session.turn.byHook, error, at: when.at, t: when.t },
    tools: session.tools.filter((call) => call.agentId !== null),
  };
}

function change(session: Session, event: AgentEvent, m: Change): Session {
  const { agentId } = event;
  const main = agentId === null;
  switch (m.kind) {
    case "session-start":
      return sessionStart(session, event, m);
    case "session-end":
      return end(session, event, m.reason ?? "ended");
    case "prompt":
      return prompt(session, event, m);
    case "tool-start":
      return toolStart(session, event, m);
    case "tool-end":
      return toolEnd(session, event, m);
    case "tool-batch-end": {
      const closed = asks.closeThreadAsks(session, agentId);
      const tools = closed.tools.map((c) => (c.agentId === agentId && !c.ended ? ended(c, event) : c));
      return main && !trails(session, event)
        ? runs({ ...closed, tools }, event, "Thinking")
        : { ...closed, tools };
    }
    case "ask": {
      const known = main ? session : upsertChild(session, event);
      if (!main && !isChildRunning(known, agentId)) return known;
      const asked = asks.openRequest(known, event, m);
      return main && !asked.turn.running ? runs(asked, event, m.tool) : asked;
    }
    case "ask-answered":
      return asks.closeAnswered(session, m.request, event);
    case "elicitation-end": {
      const open = session.asks.filter((ask) => ask.kind === "elicitation");
      const ask = open.find((a) => a.inputKey === m.server) ?? open[0];
      return ask ? asks.closeAsks(session, (a) => a === ask) : session;
    }
    case "reminder":
      return asks.applyReminder(session, m, event);
    case "turn-end": {
      const stopped = { at: event.at, t: event.t };
      const closed = asks.closeThreadAsks({ ...over(session, event, m.error), stopped }, null);
      const spoken = m.lastResponse === null ? closed : { ...closed, lastResponse: m.lastResponse };
      return m.background ? reconcileChildren(spoken, m.background, event) : spoken;
    }
    case "child-start":
      return main ? session : upsertChild(session, event);
    case "child-end":
      return main ? session : endChild(session, agentId, event);
    case "compact-start": {
      const beforeCompact = session.beforeCompact ?? {
        running: session.turn.running,
        detail: session.detail,
      };
      return { ...runs(session, event, "Compacting"), beforeCompact };
    }
    case "compact-end": {
      const was = session.beforeCompact;
      if (!was) return session;
      if (was.running) return { ...session, beforeCompact: null, detail: was.detail };
      return over(session, event, null);
    }
    case "setup":
      return runs(session, event, "Setup");
    case "interrupted":
      if (event.at < session.turn.at || !(session.turn.running || asks.hasBlockingAsk(session)))
        return session;
      return asks.closeThreadAsks(over(session, event, null), null);
    case "status":
      return applyStatusFile(m.title === null ? session : { ...session, title: m.title }, m, event);
    case "gone":
      return end({ ...session, file: null }, event, m.why === "process" ? "process gone" : "file gone");
    case "enriched":
      return enrich(session, m.with);
    case "no-change":
      return session;
    default:
      return m satisfies never;
  }
}

function sessionStart(session: Session, event: AgentEvent, m: Change & { kind: "session-start" }): Session {
  const named = m.model === null ? session : { ...session, model: m.model };
  if (m.source === "compact") return named;
  return { ...over(named, event, null), asks: [], children: [], tools: [], background: null };
}

function end(session: Session, when: Moment, reason: string): Session {
  if (session.ended) return session;
  const whileBusy = session.turn.running || asks.hasBlockingAsk(session);
  return {
    ...over(session, when, session.turn.error),
    ended: { reason, whileBusy, at: when.at, t: when.t },
    asks: [],
    children: session.children.map((child) => (child.running ? { ...child, running: false } : child)),
    tools: [],
    background: null,
  };
}

function prompt(session: Session, event: AgentEvent, m: Change & { kind: "prompt" }): Session {
  // Calls that a "No" or Esc left behind without a hook. A prompt typed during a turn is only queued.
  const tools = session.turn.running ? session.tools : session.tools.filter((c) => c.agentId !== null);
  const prompted = { at: event.at, t: event.t };
  const running = runs(asks.closeThreadAsks({ ...session, tools, prompted }, null), event, null);
  if (m.byMachine) return running;
  return { ...running, lastPrompt: m.text, turnCount: session.turnCount + 1 };
}

function toolStart(session: Session, event: AgentEvent, m: Change & { kind: "tool-start" }): Session {
  const call: ToolCall = {
    toolUseId: m.toolUseId,
    tool: m.tool,
    agentId: event.agentId,
    promptId: event.promptId,
    inputKey: m.inputKey,
    summary: m.summary,
    ended: false,
    at: event.at,
    t: event.t,
  };
  const main = event.agentId === null;
  const settled = main ? asks.closeAsks(session, (ask) => ask.from === "reminder") : session;
  const known = main ? runs(settled, event, m.tool) : upsertChild(settled, event, m.tool);
  // Stamped after its subagent's end: there is nobody left to run it.
  if (event.agentId !== null && !isChildRunning(known, event.agentId)) return known;
  const tools = [...known.tools, call];
  if (tools.length > limits.maxTools) tools.shift();
  const skill = m.skill === null || !main ? known.currentSkill : m.skill;
  return asks.bindToolCall({ ...known, tools, currentSkill: skill }, call, event);
}

function ended(call: ToolCall, when: Moment): ToolCall {
  return { ...call, ended: true, at: when.at, t: when.t };
}

/** A tool's end that comes right after its turn's does not start the turn again. */
function trails({ turn }: Session, event: AgentEvent): boolean {
  return !turn.running && event.t > turn.t && event.t - turn.t < timing.trailingMs;
}

function toolEnd(session: Session, event: AgentEvent, m: Change & { kind: "tool-end" }): Session {
  const main = event.agentId === null;
  const same = (c: ToolCall) => m.toolUseId !== null && c.toolUseId === m.toolUseId;
  const tools: ToolCall[] = [];
  for (const c of session.tools) {
    if (c.ended && event.t - c.t >= timing.trailingMs * 2) continue;
    tools.push(same(c) ? ended(c, event) : c);
  }
  const closed = asks.closeForTool({ ...session, tools }, event, m.tool, m.toolUseId);
  if (!main) return upsertChild(closed, event, null);
  const unnamed = asks.closeAsks(closed, (ask) => ask.from === "reminder");
  if (trails(session, event) && !session.tools.some(same)) return unnamed;
  const running = runs(unnamed, event, "Thinking");
  return m.skill === null ? running : { ...running, currentSkill: null };
}

function enrich(session: Session, known: (Change & { kind: "enriched" })["with"]): Session {
  return {
    ...session,
    model: known.model ?? session.model,
    tokens: known.tokens ?? session.tokens,
    turnCount: known.turnCount ?? session.turnCount,
    gitBranch: known.gitBranch ?? session.gitBranch,
    title: known.title ?? session.title,
    lastResponse: known.lastResponse ?? session.lastResponse,
  };
}

/** Older than what we know: it changes nothing on, but what it says has ended, has ended. */
function late(session: Session, event: AgentEvent): Session {
  const m = event.change;
  if (m.kind === "tool-end" && m.toolUseId !== null) {
    return asks.closeAsks(session, (ask) => ask.toolUseId === m.toolUseId);
  }
  if (m.kind === "child-end" && event.agentId !== null) {
    const child = session.children.find((c) => c.agentId === event.agentId);
    return child && child.t <= event.t ? endChild(session, event.agentId, event) : session;
  }
  // What the file said last is told again when nothing changes any more.
  if (m.kind === "status" && session.file && event.t > session.file.t) {
    const { status, waitingFor } = m;
    return { ...session, file: { status, waitingFor, at: event.at, t: event.t }, settled: false };
  }
  return m.kind === "enriched" ? enrich(session, m.with) : session;
}

/** What every event tells besides its change: that the session lives, where it is, and who sits there. */

function isDuplicate({ payloads }: Session, { payloadKey, t }: AgentEvent): boolean {
  if (payloadKey === null) return false;
  for (const p of payloads) if (p.key === payloadKey && t - p.t <= timing.duplicateMs) return true;
  return false;
}

function recordActivity(session: Session, event: AgentEvent): Session {
  const hook = isHookChange(event.change);
  const changes = hook || event.change.kind === "status";
  const when = { at: event.at, t: event.t };
  const main = event.agentId === null;
  return {
    ...session,
    newest: Math.max(session.newest, event.t),
    last: changes ? when : session.last,
    moved: changes ? when : session.moved,
    settled: changes ? false : session.settled,
    payloads: event.payloadKey === null ? session.payloads : withPayload(session, event),
    cwd: (main ? event.cwd : null) ?? session.cwd,
    firstCwd: session.firstCwd ?? event.cwd,
    project: session.project ?? event.project,
    transcriptPath: (main ? event.transcriptPath : null) ?? session.transcriptPath,
    attended: attendedBy(session, event),
    place: mergePlace(session, event),
  };
}

/** The agent's file knows best: hooks of a session that the person sent to the background say that nobody sits there. */
function attendedBy({ attended, file }: Session, event: AgentEvent): boolean | null {
  const isFiles = file !== null && attended === true && event.change.kind !== "status";
  return isFiles ? attended : (event.attended ?? attended);
}

/** Those of the last moment, and this one. After a prompt or a turn's end the same words mean something new. */
function withPayload(
  { payloads }: Session,
  { payloadKey, t, change: { kind } }: AgentEvent,
): Session["payloads"] {
  const isNewTurn = kind === "prompt" || kind === "turn-end";
  const recent = isNewTurn ? [] : payloads.filter((p) => t - p.t <= timing.duplicateMs);
  recent.push({ key: payloadKey ?? "", t });
  if (recent.length > 16) recent.shift();
  return recent;
}

function mergePlace(session: Session, event: AgentEvent): Session["place"] {
  const old = session.place;
  const told = event.place;
  if (!told || !old) return told ?? old;
  if (isSamePlace(old, told)) return old;
  const samePid = told.pid === null || told.pid === old.pid;
  if (!samePid) return told;
  return {
    local: told.local || old.local,
    pid: told.pid ?? old.pid,
    procStart: told.procStart ?? old.procStart,
    tty: told.tty ?? old.tty,
    terminalSessionId: told.terminalSessionId ?? old.terminalSessionId,
    env: { ...told.env, ...old.env },
  };
}
