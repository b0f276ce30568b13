/** Opens, names and closes asks. Every function takes a session and returns the next one. */
import { limits } from "../limits.ts";
import { timing } from "../timing.ts";
import type { AgentEvent, AskKind, Change, Moment } from "./event.ts";
import { type Ask, isBlocking, isVisible, type Session, type ToolCall } from "./session.ts";

export function closeAsks(session: Session, isOver: (ask: Ask) => boolean): Session {
  return session.asks.some(isOver)
    ? { ...session, asks: session.asks.filter((ask) => !isOver(ask)) }
    : session;
}

/** Closes the ask that was answered through beckon. */
export function closeAnswered(session: Session, request: string, { at, t }: Moment): Session {
  return { ...closeAsks(session, (ask) => ask.request === request), answered: { at, t } };
}

/** Closes the asks of one thread (the idle ask belongs to the main thread), except those that only the status file closes. */
export function closeThreadAsks(
  session: Session,
  agentId: string | null,
  isKept: (ask: Ask) => boolean = () => false,
): Session {
  return closeAsks(session, (ask) => ask.agentId === agentId && ask.from !== "file" && !isKept(ask));
}

/** Closes the asks of the main thread at a prompt, except those of the turn that the prompt starts. */
export function closeAtPrompt(session: Session, prompt: AgentEvent): Session {
  return closeThreadAsks(
    session,
    null,
    (ask) => ask.from === "hook" && isOfStartedTurn(session, ask, prompt),
  );
}

/**
 * True for a call or request of the turn that the prompt starts. An async hook is stamped when its process starts, so the stamp
 * of a prompt can be later than that of the turn's first request. A prompt that is queued has the id of the running turn.
 */
export function isOfStartedTurn(
  session: Session,
  { promptId, t }: Pick<Ask | ToolCall, "promptId" | "t">,
  prompt: AgentEvent,
): boolean {
  if (promptId === null || prompt.promptId === null) return isJustBefore(t, prompt);
  return promptId === prompt.promptId && session.promptId !== prompt.promptId;
}

/** Closes the asks of the main thread at the end of a turn, except those of the next turn that were stamped before it. */
export function closeAtTurnEnd(session: Session, end: AgentEvent): Session {
  return closeThreadAsks(
    session,
    null,
    ({ promptId, t }) =>
      promptId !== null && end.promptId !== null && promptId !== end.promptId && isJustBefore(t, end),
  );
}

function isJustBefore(t: number, event: AgentEvent): boolean {
  return event.t >= t && event.t - t < timing.trailingMs;
}

/** Closes the asks of a thread that has ended. If the status file still says "waiting", the dialog belongs to another thread. */
export function endThreadAsks(session: Session, agentId: string): Session {
  const closed = closeThreadAsks(session, agentId);
  const fromFile = closed.asks.find((ask) => ask.agentId === agentId);
  return fromFile
    ? replaceAsk(closed, fromFile, { ...fromFile, agentId: null, tool: null, summary: "" })
    : closed;
}

export function hasBlockingAsk(session: Session): boolean {
  return session.asks.some(isBlocking);
}

/** Stamps of hook and file differ by up to this much. An ask is open since the earlier of the two. */
const stampSlackMs = 20;

function findOpenTime({ at: known }: Ask, { at }: Moment): number {
  return at < known && known - at <= stampSlackMs ? at : known;
}

type NewAsk = Omit<Ask, "id" | "at" | "t" | "hidden">;

function openAsk(session: Session, ask: NewAsk, when: Moment): Session {
  if (session.asks.length >= limits.maxOpenAsks) return session;
  const asksOpened = session.asksOpened + 1;
  // Counted, not random, so that a dialog keeps its id when a late event makes reduce replay.
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

function isSameCall(
  call: ToolCall,
  event: AgentEvent,
  tool: string | null,
  inputKey: string | null,
): boolean {
  return (
    call.tool === tool &&
    call.inputKey === inputKey &&
    call.agentId === event.agentId &&
    // The events of a running subagent change to the id of a newer prompt.
    (call.agentId !== null || call.promptId === event.promptId)
  );
}

/** An elicitation names neither tool nor subagent, only the MCP server. */
function isRequestOf(call: ToolCall, event: AgentEvent, change: Change & { kind: "ask" }): boolean {
  if (change.ask === "elicitation") return !call.ended && call.tool.startsWith(`mcp__${change.inputKey}__`);
  // The request does not say what the tool gets. It is about the call of that tool that runs.
  if (change.inputKey === null)
    return !call.ended && call.agentId === event.agentId && (change.tool ?? call.tool) === call.tool;
  return isSameCall(call, event, change.tool, change.inputKey);
}

/** An agent's notification of a dialog and its request come this far apart, in either order. */
const announcementMs = 2_000;

/** True if the ask is the request that this notification announces. A notification identifies neither request nor call. */
function isAnnounced(ask: Ask, change: Change & { kind: "ask" }, { t }: Moment): boolean {
  return (
    ask.kind === change.ask &&
    ask.inputKey !== null &&
    ask.kind !== "elicitation" &&
    t - ask.t < announcementMs
  );
}

/** True if a notification that announced this request opened the ask. */
function isAnnouncement(ask: Ask, change: Change & { kind: "ask" }, { t }: Moment): boolean {
  const isUnidentified = ask.inputKey === null && ask.toolUseId === null && ask.kind === change.ask;
  return (
    isUnidentified && change.inputKey !== null && ask.kind !== "elicitation" && t - ask.t < announcementMs
  );
}

/** If its tool call ended this recently, a request was answered before it arrived. */
const justEndedMs = 2_000;

/** Opens an ask for a permission request, or names the ask that a reminder or the status file opened. */
export function openRequest(session: Session, event: AgentEvent, change: Change & { kind: "ask" }): Session {
  const isBound = ({ toolUseId }: ToolCall) => session.asks.some((ask) => ask.toolUseId === toolUseId);
  const calls = session.tools.filter((call) => isRequestOf(call, event, change));
  const call = calls.find((c) => !c.ended && !isBound(c));
  if (!call && calls.some((c) => c.ended && event.t - c.t < justEndedMs)) return session;
  if (!call && change.inputKey === null && session.asks.some((ask) => isAnnounced(ask, change, event)))
    return session;

  const details = {
    kind: change.ask,
    agentId: event.agentId ?? call?.agentId ?? null,
    tool: change.tool ?? call?.tool ?? null,
    toolUseId: change.toolUseId ?? call?.toolUseId ?? null,
    promptId: event.promptId,
    inputKey: change.inputKey,
    summary: change.summary || (call?.summary ?? ""),
    options: change.options,
    ...(change.questions === undefined ? {} : { questions: change.questions }),
    request: event.id,
    from: "hook",
  } as const;
  const unnamed = session.asks.find(
    (ask) => isBlocking(ask) && (ask.from !== "hook" || isAnnouncement(ask, change, event)),
  );
  if (!unnamed) return openAsk(session, details, event);
  return replaceAsk(session, unnamed, { ...unnamed, ...details, at: findOpenTime(unnamed, event) });
}

function openUnnamed(session: Session, kind: AskKind, from: Ask["from"], when: Moment): Session {
  const ask = { kind, from, agentId: null, tool: null, toolUseId: null, promptId: null, inputKey: null };
  return openAsk(session, { ...ask, summary: "", options: [], request: null }, when);
}

/** An unnamed permission ask must be about the running tool call if there is only one. */
export function nameFromToolCall(session: Session): Session {
  const unnamed = session.asks.find(
    (ask) => ask.from !== "hook" && ask.kind === "permission" && ask.tool === null,
  );
  const running = session.tools.filter((call) => !call.ended);
  const [only] = running;
  if (!unnamed || !only || running.length > 1) return session;
  const { agentId, tool, summary, asks: kind = unnamed.kind } = only;
  return replaceAsk(session, unnamed, { ...unnamed, kind, agentId, tool, summary });
}

/** Adds the tool_use_id to an ask whose PermissionRequest came before its PreToolUse. */
export function bindToolCall(session: Session, call: ToolCall, event: AgentEvent): Session {
  const waiting = session.asks.find(
    (ask) => ask.from === "hook" && ask.toolUseId === null && isSameCall(call, event, ask.tool, ask.inputKey),
  );
  return waiting ? replaceAsk(session, waiting, { ...waiting, toolUseId: call.toolUseId }) : session;
}

/** Closes the ask of a tool that has ended: by its tool_use_id, or by thread and tool if the ask never got one. */
export function closeForTool(session: Session, event: AgentEvent, tool: string, id: string | null): Session {
  const byId = id === null ? undefined : session.asks.find((ask) => ask.toolUseId === id);
  const ask =
    byId ??
    session.asks.find(
      (a) => a.from === "hook" && a.toolUseId === null && a.agentId === event.agentId && a.tool === tool,
    );
  return ask ? closeAsks(session, (a) => a === ask) : session;
}

/** The agent's notification comes seconds late and names nothing, so it counts only if nothing else is known. */
export function applyReminder(
  session: Session,
  change: Change & { kind: "reminder" },
  when: Moment,
): Session {
  if (hasBlockingAsk(session)) return session;
  if (change.ask === "idle") {
    const idle: Session =
      session.turn.running && session.file?.status !== "busy"
        ? { ...session, turn: { ...session.turn, running: false, at: when.at, t: when.t } }
        : session;
    if (idle.asks.some((ask) => ask.kind === "idle")) return idle;
    return openUnnamed(idle, "idle", "reminder", when);
  }
  if (session.file && session.file.status !== "waiting") return session;
  return nameFromToolCall(openUnnamed(session, change.ask, "reminder", when));
}

/** The status file says "waiting": shows hidden asks, or opens an unnamed one. */
export function applyFileWaiting(session: Session, kind: "permission" | "question", when: Moment): Session {
  const visible = session.asks.find((ask) => isBlocking(ask) && isVisible(ask));
  if (visible) {
    const at = findOpenTime(visible, when);
    return at === visible.at ? session : replaceAsk(session, visible, { ...visible, at });
  }
  if (hasBlockingAsk(session)) {
    return { ...session, asks: session.asks.map((ask) => (ask.hidden ? { ...ask, hidden: false } : ask)) };
  }
  return openUnnamed(session, kind, "file", when);
}

/** The status file has settled on "busy": no dialog is on the screen, although a request came. It may still appear. */
export function hideBlockingAsks(session: Session): Session {
  if (!session.asks.some((ask) => isBlocking(ask) && isVisible(ask))) return session;
  return {
    ...session,
    asks: session.asks.map((ask) => (isBlocking(ask) ? { ...ask, hidden: true } : ask)),
  };
}
