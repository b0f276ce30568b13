/** Opening, naming, binding and closing asks. Every function takes a session and gives the next. */
import { limits } from "../limits.ts";
import type { AgentEvent, AskKind, Change, Moment } from "./event.ts";
import { type Ask, isBlocking, isVisible, type Session, type ToolCall } from "./session.ts";

export function closeAsks(session: Session, closes: (ask: Ask) => boolean): Session {
  return session.asks.some(closes)
    ? { ...session, asks: session.asks.filter((ask) => !closes(ask)) }
    : session;
}

/** Through beckon. */
export function closeAnswered(session: Session, request: string, { at, t }: Moment): Session {
  return { ...closeAsks(session, (ask) => ask.request === request), answered: { at, t } };
}

/** All asks of one thread (the idle one is the main thread's). What the status file opened, the file closes. */
export function closeThreadAsks(session: Session, agentId: string | null): Session {
  return closeAsks(session, (ask) => ask.agentId === agentId && ask.from !== "file");
}

/** A thread that has ended asks nothing. If the file still says "waiting", the dialog is somebody else's. */
export function endThreadAsks(session: Session, agentId: string): Session {
  const closed = closeThreadAsks(session, agentId);
  const guessed = closed.asks.find((ask) => ask.agentId === agentId);
  return guessed
    ? replaceAsk(closed, guessed, { ...guessed, agentId: null, tool: null, summary: "" })
    : closed;
}

export function hasBlockingAsk(session: Session): boolean {
  return session.asks.some(isBlocking);
}

/** After a start, the order of a hook and the file is sure to so much: an ask is open since the first of the two, whichever counts first. */
const orderSlackMs = 20;

function openSince({ at: known }: Ask, { at }: Moment): number {
  return at < known && known - at <= orderSlackMs ? at : known;
}

type NewAsk = Omit<Ask, "id" | "at" | "t" | "hidden">;

function openAsk(session: Session, ask: NewAsk, when: Moment): Session {
  if (session.asks.length >= limits.maxOpenAsks) return session;
  const asksOpened = session.asksOpened + 1;
  // Counted, not random: when a late event makes us tell the story anew, the same dialog keeps its id.
  const id = `${session.sessionId.slice(0, 8)}-${asksOpened}`;
  return {
    ...session,
    asksOpened,
    asks: [...session.asks, { ...ask, id, at: when.at, t: when.t, hidden: false }],
  };
}

function replaceAsk(session: Session, old: Ask, next: Ask): Session {
  return { ...session, asks: session.asks.map((ask) => (ask === old ? next : ask)) };
}

function sameCall(call: ToolCall, event: AgentEvent, tool: string | null, inputKey: string | null): boolean {
  return (
    call.tool === tool &&
    call.inputKey === inputKey &&
    call.agentId === event.agentId &&
    // A subagent's events change to the id of a newer prompt in mid-course.
    (call.agentId !== null || call.promptId === event.promptId)
  );
}

/** An elicitation names no tool and no subagent, only the server whose tool asks. */
function isOf(call: ToolCall, event: AgentEvent, change: Change & { kind: "ask" }): boolean {
  if (change.ask === "elicitation") return !call.ended && call.tool.startsWith(`mcp__${change.inputKey}__`);
  return sameCall(call, event, change.tool, change.inputKey);
}

/** A request whose tool ended this short a time ago was answered before we heard of it. */
const justEndedMs = 2_000;

/** PermissionRequest: opens an ask, or names the one that a reminder or the status file opened without a name. */
export function openRequest(session: Session, event: AgentEvent, change: Change & { kind: "ask" }): Session {
  const isBound = ({ toolUseId }: ToolCall) => session.asks.some((ask) => ask.toolUseId === toolUseId);
  const calls = session.tools.filter((call) => isOf(call, event, change));
  const call = calls.find((c) => !c.ended && !isBound(c));
  if (!call && calls.some((c) => c.ended && event.t - c.t < justEndedMs)) return session;

  const told = {
    kind: change.ask,
    agentId: event.agentId ?? call?.agentId ?? null,
    tool: change.tool,
    toolUseId: call?.toolUseId ?? null,
    promptId: event.promptId,
    inputKey: change.inputKey,
    summary: change.summary,
    options: change.options,
    ...(change.questions === undefined ? {} : { questions: change.questions }),
    request: event.id,
    from: "hook",
  } as const;
  const nameless = session.asks.find((ask) => ask.from !== "hook" && isBlocking(ask));
  if (!nameless) return openAsk(session, told, event);
  return replaceAsk(session, nameless, { ...nameless, ...told, at: openSince(nameless, event) });
}

function openUnnamed(session: Session, kind: AskKind, from: Ask["from"], when: Moment): Session {
  const ask = { kind, from, agentId: null, tool: null, toolUseId: null, promptId: null, inputKey: null };
  return openAsk(session, { ...ask, summary: "", options: [], request: null }, when);
}

/** An ask that no request named can only be about the one tool call under way, if there is just one. */
export function nameFromToolCall(session: Session): Session {
  const nameless = session.asks.find(
    (ask) => ask.from !== "hook" && ask.kind === "permission" && ask.tool === null,
  );
  const running = session.tools.filter((call) => !call.ended);
  const [only] = running;
  if (!nameless || !only || running.length > 1) return session;
  const { agentId, tool, summary } = only;
  return replaceAsk(session, nameless, { ...nameless, agentId, tool, summary });
}

/** PreToolUse after its PermissionRequest: the ask learns its tool_use_id. */
export function bindToolCall(session: Session, call: ToolCall, event: AgentEvent): Session {
  const waiting = session.asks.find(
    (ask) => ask.from === "hook" && ask.toolUseId === null && sameCall(call, event, ask.tool, ask.inputKey),
  );
  return waiting ? replaceAsk(session, waiting, { ...waiting, toolUseId: call.toolUseId }) : session;
}

/** A tool ended: its ask is over. By its id; a request that never met its call is found by thread and tool. */
export function closeForTool(session: Session, event: AgentEvent, tool: string, id: string | null): Session {
  const byId = id === null ? undefined : session.asks.find((ask) => ask.toolUseId === id);
  const ask =
    byId ??
    session.asks.find(
      (a) => a.from === "hook" && a.toolUseId === null && a.agentId === event.agentId && a.tool === tool,
    );
  return ask ? closeAsks(session, (a) => a === ask) : session;
}

/** The agent's reminder comes seconds late and names nothing: it only counts where nobody has said more. */
export function applyReminder(
  session: Session,
  change: Change & { kind: "reminder" },
  when: Moment,
): Session {
  if (hasBlockingAsk(session)) return session;
  if (change.ask === "idle") {
    const over: Session =
      session.turn.running && session.file?.status !== "busy"
        ? { ...session, turn: { ...session.turn, running: false, at: when.at, t: when.t } }
        : session;
    if (over.asks.some((ask) => ask.kind === "idle")) return over;
    return openUnnamed(over, "idle", "reminder", when);
  }
  if (session.file && session.file.status !== "waiting") return session;
  return nameFromToolCall(openUnnamed(session, change.ask, "reminder", when));
}

/** What the status file says of dialogs: "waiting" shows what was hidden, or opens an ask without a name. */
export function applyFileWaiting(session: Session, kind: "permission" | "question", when: Moment): Session {
  const shown = session.asks.find((ask) => isBlocking(ask) && isVisible(ask));
  if (shown) {
    const at = openSince(shown, when);
    return at === shown.at ? session : replaceAsk(session, shown, { ...shown, at });
  }
  if (hasBlockingAsk(session)) {
    return { ...session, asks: session.asks.map((ask) => (ask.hidden ? { ...ask, hidden: false } : ask)) };
  }
  return openUnnamed(session, kind, "file", when);
}

/** Settled "busy": no dialog is on the screen, whatever a request announced. It may still come. */
export function hideBlockingAsks(session: Session): Session {
  if (!session.asks.some((ask) => isBlocking(ask) && isVisible(ask))) return session;
  return {
    ...session,
    asks: session.asks.map((ask) => (isBlocking(ask) ? { ...ask, hidden: true } : ask)),
  };
}
