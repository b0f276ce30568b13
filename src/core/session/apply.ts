/** One event, in order, on one session. What arrives out of order is put in its place by reduce.ts. */

import { limits } from "../limits.ts";
import { timing } from "../timing.ts";
import { isDuplicate, recordActivity } from "./activity.ts";
import * as asks from "./asks.ts";
import { endChild, isRunning, knowChild, reconcileChildren } from "./children.ts";
import { type AgentEvent, type Change, isHookChange, type Moment } from "./event.ts";
import { newSession, type Session, type ToolCall } from "./session.ts";
import { fileChanged, settle } from "./settle.ts";

export function applyEvent(before: Session | null, event: AgentEvent): Session {
  const known = before ? settle(before, event.t) : newSession(event);
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
    case "tools-done": {
      const closed = asks.closeThread(session, agentId);
      const tools = closed.tools.map((c) => (c.agentId === agentId && !c.ended ? ended(c, event) : c));
      return main && !trails(session, event)
        ? runs({ ...closed, tools }, event, "Thinking")
        : { ...closed, tools };
    }
    case "ask": {
      const known = main ? session : knowChild(session, event);
      if (!main && !isRunning(known, agentId)) return known;
      const asked = asks.request(known, event, m);
      return main && !asked.turn.running ? runs(asked, event, m.tool) : asked;
    }
    case "ask-answered":
      return asks.answered(session, m.request, event);
    case "elicitation-end": {
      const open = session.asks.filter((ask) => ask.kind === "elicitation");
      const ask = open.find((a) => a.inputKey === m.server) ?? open[0];
      return ask ? asks.closeAsks(session, (a) => a === ask) : session;
    }
    case "nudge":
      return asks.remind(session, m, event);
    case "turn-end": {
      const stopped = { at: event.at, t: event.t };
      const closed = asks.closeThread({ ...over(session, event, m.error), stopped }, null);
      const spoken = m.lastResponse === null ? closed : { ...closed, lastResponse: m.lastResponse };
      return m.background ? reconcileChildren(spoken, m.background, event) : spoken;
    }
    case "child-start":
      return main ? session : knowChild(session, event);
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
      if (event.at < session.turn.at || !(session.turn.running || asks.hasBlocking(session))) return session;
      return asks.closeThread(over(session, event, null), null);
    case "status":
      return fileChanged(m.title === null ? session : { ...session, title: m.title }, m, event);
    case "gone":
      return end({ ...session, file: null }, event, m.why === "process" ? "process gone" : "file gone");
    case "enriched":
      return enrich(session, m.with);
    case "note":
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
  const whileBusy = session.turn.running || asks.hasBlocking(session);
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
  const running = runs(asks.closeThread({ ...session, tools, prompted }, null), event, null);
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
  const known = main ? runs(settled, event, m.tool) : knowChild(settled, event, m.tool);
  // Stamped after its subagent's end: there is nobody left to run it.
  if (event.agentId !== null && !isRunning(known, event.agentId)) return known;
  const tools = [...known.tools, call];
  if (tools.length > limits.maxTools) tools.shift();
  const skill = m.skill === null || !main ? known.currentSkill : m.skill;
  return asks.bindCall({ ...known, tools, currentSkill: skill }, call, event);
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
  if (!main) return knowChild(closed, event, null);
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
