/** Applies one event to one session. reduce.ts puts events that arrive out of order in their place first. */
import { limits } from "../limits.ts";
import { timing } from "../timing.ts";
import * as asks from "./asks.ts";
import { endChild, enrichChildren, isChildRunning, reconcileChildren, upsertChild } from "./children.ts";
import { addEdits } from "./edits.ts";
import {
  type AgentEvent,
  type Change,
  type Enrichment,
  isHookChange,
  isSamePlace,
  type LoadedDocument,
  type Moment,
  type SessionPort,
  type SkillCall,
  type TaskChange,
} from "./event.ts";
import {
  createSession,
  isEndedByHook,
  type Session,
  type SkillRun,
  type Task,
  type ToolCall,
} from "./session.ts";
import { applyStatusFile, settle } from "./settle.ts";
import { countFailure } from "./stuck.ts";
import { statusTexts } from "./texts.ts";

export function applyEvent(before: Session | null, event: AgentEvent): Session {
  const known = before ? settle(before, event.t) : createSession(event);
  if (event.t < known.newest) return applyLate(known, event);
  if (isDuplicate(known, event)) return known;
  const session = recordActivity(known, event);
  const { ended } = session;
  if (ended && event.change.kind === "gone") return { ...session, file: null };
  // The agent removes its status file first, and sends the reason about 50 ms later.
  if (ended && event.change.kind === "session-end") {
    return { ...session, ended: { ...ended, reason: event.change.reason ?? "ended" } };
  }
  const alive = revive(session, event);
  return alive ? applyChange(alive, event, event.change) : session;
}

/** A newer event revives an ended session. Returns null if it stays ended. */
function revive(session: Session, event: AgentEvent): Session | null {
  if (!session.ended) return session;
  const { kind } = event.change;
  // After /clear the status file can still say busy under the old id for a moment.
  if (kind === "status" && isEndedByHook(session) && isOfSameProcess(session, event)) return null;
  const isStart = kind === "session-start" || kind === "prompt" || kind === "status";
  if (!isStart && (!isHookChange(event.change) || event.t - session.ended.t < timing.trailingMs)) {
    return kind === "enriched" ? session : null;
  }
  return kind === "session-end" ? null : { ...session, ended: null };
}

function isOfSameProcess({ place }: Session, { place: reported }: AgentEvent): boolean {
  return !place || !reported || (place.pid === reported.pid && place.procStart === reported.procStart);
}

/** The same hook, registered twice, sends the same payload twice. */
export function isDuplicate(
  { payloads }: Pick<Session, "payloads">,
  { payloadKey, t }: Pick<AgentEvent, "payloadKey" | "t">,
): boolean {
  if (payloadKey === null) return false;
  for (const p of payloads) if (p.key === payloadKey && Math.abs(t - p.t) <= timing.duplicateMs) return true;
  return false;
}

/** Records what every event says besides its change: that the session is alive, and where. */
function recordActivity(session: Session, event: AgentEvent): Session {
  const isActivity = isHookChange(event.change) || event.change.kind === "status";
  const when = { at: event.at, t: event.t };
  const isMain = event.agentId === null;
  return {
    ...session,
    newest: Math.max(session.newest, event.t),
    last: isActivity ? when : session.last,
    moved: isActivity ? when : session.moved,
    settled: isActivity ? false : session.settled,
    payloads: event.payloadKey === null ? session.payloads : addPayload(session, event),
    cwd: (isMain ? event.cwd : null) ?? session.cwd,
    firstCwd: session.firstCwd ?? event.cwd,
    project: session.project ?? event.project,
    transcriptPath: (isMain ? event.transcriptPath : null) ?? session.transcriptPath,
    attended: mergeAttended(session, event),
    place: mergePlace(session, event),
    permissionMode: (isMain ? event.permissionMode : null) ?? session.permissionMode,
  };
}

/** The status file knows better: after the user sends a session to the background, its hooks say it is unattended. */
function mergeAttended({ attended, file }: Session, event: AgentEvent): boolean | null {
  const isFromFile = file !== null && attended === true && event.change.kind !== "status";
  return isFromFile ? attended : (event.attended ?? attended);
}

const maxPayloads = 16;

/** Adds the payload to the recent ones. After a prompt or the end of a turn, an equal payload is a new event. */
export function addPayload(
  { payloads }: Pick<Session, "payloads">,
  { payloadKey, t, change: { kind } }: AgentEvent,
): Session["payloads"] {
  const isNewTurn = kind === "prompt" || kind === "turn-end";
  const recent = isNewTurn ? [] : payloads.filter((p) => t - p.t <= timing.duplicateMs);
  recent.push({ key: payloadKey ?? "", t });
  if (recent.length > maxPayloads) recent.shift();
  return recent;
}

function mergePlace(session: Session, event: AgentEvent): Session["place"] {
  const old = session.place;
  const reported = event.place;
  if (!reported || !old) return reported ?? old;
  if (isSamePlace(old, reported)) return old;
  const isSamePid = reported.pid === null || reported.pid === old.pid;
  if (!isSamePid) return reported;
  return {
    local: reported.local || old.local,
    pid: reported.pid ?? old.pid,
    procStart: reported.procStart ?? old.procStart,
    tty: reported.tty ?? old.tty,
    terminalSessionId: reported.terminalSessionId ?? old.terminalSessionId,
    env: { ...reported.env, ...old.env },
  };
}

function runTurn(session: Session, event: AgentEvent, detail: string | null): Session {
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

function endTurn(session: Session, when: Moment, error: string | null): Session {
  return {
    ...session,
    detail: null,
    beforeCompact: null,
    currentSkill: null,
    failing: null,
    turn: { running: false, byHook: session.turn.byHook, error, at: when.at, t: when.t },
    tools: session.tools.filter((call) => call.agentId !== null),
  };
}

function applyChange(session: Session, event: AgentEvent, change: Change): Session {
  const { agentId } = event;
  const isMain = agentId === null;
  switch (change.kind) {
    case "session-start":
      return startSession(session, event, change);
    case "session-end":
      return endSession(session, event, change.reason ?? "ended");
    case "prompt":
      return applyPrompt(session, event, change);
    case "turn-start":
      return isMain ? runTurn(session, event, session.detail) : upsertChild(session, event);
    case "tool-start":
      return startTool(session, event, change);
    case "tool-end":
      return endTool(session, event, change);
    case "tool-batch-end": {
      const closed = asks.closeThreadAsks(session, agentId);
      const tools = closed.tools.map((c) => (c.agentId === agentId && !c.ended ? endCall(c, event) : c));
      return isMain && !isTrailing(session, event)
        ? runTurn({ ...closed, tools }, event, statusTexts.thinking)
        : { ...closed, tools };
    }
    case "ask": {
      const known = isMain ? session : upsertChild(session, event);
      if (!isMain && !isChildRunning(known, agentId)) return known;
      if (change.ask === "permission" && known.approvals === "model")
        return isMain ? runTurn(known, event, change.tool) : known;
      const asked = asks.openRequest(known, event, change);
      return isMain && !asked.turn.running ? runTurn(asked, event, change.tool) : asked;
    }
    case "ask-ended":
      return change.inputKey === null
        ? asks.closeThreadAsks(session, agentId)
        : asks.closeAsks(session, (ask) => ask.inputKey === change.inputKey);
    case "ask-answered":
      return asks.closeAnswered(session, change.request, event);
    case "elicitation-end": {
      const open = session.asks.filter((ask) => ask.kind === "elicitation");
      const ask = open.find((a) => a.inputKey === change.server) ?? open[0];
      return ask ? asks.closeAsks(session, (a) => a === ask) : session;
    }
    case "reminder":
      return asks.applyReminder(session, change, event);
    case "turn-end": {
      const isPromptMissing = event.promptId !== null && event.promptId !== session.promptId;
      const stopped = { at: event.at, t: event.t, ...(isPromptMissing ? { promptId: event.promptId } : {}) };
      const closed = asks.closeAtTurnEnd({ ...endTurn(session, event, change.error), stopped }, event);
      const answered =
        change.lastResponse === null ? closed : { ...closed, lastResponse: change.lastResponse };
      return change.background ? reconcileChildren(answered, change.background, event) : answered;
    }
    case "child-start":
      return isMain ? session : upsertChild(session, event);
    case "child-end":
      return isMain ? session : endChild(session, agentId, event, change.transcriptPath);
    case "task":
      return applyTask(session, change.task);
    case "compact-start": {
      const beforeCompact = session.beforeCompact ?? {
        running: session.turn.running,
        detail: session.detail,
      };
      return { ...runTurn(session, event, "Compacting"), beforeCompact };
    }
    case "compact-end": {
      const before = session.beforeCompact;
      if (!before) return session;
      if (before.running) return { ...session, beforeCompact: null, detail: before.detail };
      return endTurn(session, event, null);
    }
    case "setup":
      return runTurn(session, event, "Setup");
    case "interrupted":
      if (event.at < session.turn.at || !(session.turn.running || asks.hasBlockingAsk(session)))
        return session;
      return asks.closeThreadAsks(endTurn(session, event, null), null);
    case "status":
      return applyStatusFile(
        { ...session, title: change.title ?? session.title, attach: change.attach ?? null },
        change,
        event,
      );
    case "status-lost":
      return { ...session, file: null };
    case "gone":
      return endSession(
        { ...session, file: null },
        event,
        change.why === "process" ? "process gone" : "file gone",
      );
    case "enriched":
      return enrich(session, change.with);
    case "document-loaded":
      return addDocument(session, change.document);
    case "port":
      return setPort(session, change.port);
    case "untracked-edit":
      return recordUntracked(session, event, change);
    case "shared-files":
      return { ...session, sharedFiles: change.files };
    case "repository-files":
      return { ...session, repositoryFiles: change.files };
    case "located":
      return { ...session, place: change.place };
    // Its own machine reduces it: the store replaces it here.
    case "mirrored":
    case "no-change":
      return session;
    default:
      return change satisfies never;
  }
}

function startSession(
  session: Session,
  event: AgentEvent,
  change: Change & { kind: "session-start" },
): Session {
  const named = change.model === null ? session : { ...session, model: change.model };
  // The next response shows how full the context is now.
  if (change.source === "compact") return { ...named, context: null };
  return {
    ...endTurn(named, event, null),
    startSource: change.source,
    asks: [],
    children: [],
    tools: [],
    background: null,
  };
}

function endSession(session: Session, when: Moment, reason: string): Session {
  if (session.ended) return session;
  const whileBusy = session.turn.running || asks.hasBlockingAsk(session);
  return {
    ...endTurn(session, when, session.turn.error),
    ended: { reason, whileBusy, at: when.at, t: when.t },
    asks: [],
    children: session.children.map((child) => (child.running ? { ...child, running: false } : child)),
    tools: [],
    background: null,
    edits: [],
    sharedFiles: [],
    repositoryFiles: [],
  };
}

function applyPrompt(session: Session, event: AgentEvent, change: Change & { kind: "prompt" }): Session {
  const { stopped, turn } = session;
  // An async hook is stamped when its process starts: that of a short turn's prompt can be later than the turn's end (3 of 20).
  if (!turn.running && stopped?.promptId !== undefined && stopped.promptId === event.promptId) {
    const { at, t, promptId } = stopped;
    const known = { ...session, prompted: { at, t }, promptId, stopped: { at, t } };
    return change.byMachine ? known : { ...known, lastPrompt: change.text, turnCount: session.turnCount + 1 };
  }
  // Drops calls that "No" or Esc ended without a hook. A prompt typed during a turn is only queued.
  const tools = session.turn.running ? session.tools : session.tools.filter((c) => c.agentId !== null);
  const prompted = { at: event.at, t: event.t };
  const hasStartedTool = tools.some((c) => !c.ended && asks.isOfStartedTurn(session, c, event));
  const closed = { ...asks.closeAtPrompt(session, event), tools, prompted, promptId: event.promptId };
  const running = runTurn(closed, event, hasStartedTool ? session.detail : null);
  if (change.byMachine) return running;
  return { ...running, lastPrompt: change.text, turnCount: session.turnCount + 1 };
}

function startTool(session: Session, event: AgentEvent, change: Change & { kind: "tool-start" }): Session {
  const call: ToolCall = {
    toolUseId: change.toolUseId,
    tool: change.tool,
    agentId: event.agentId,
    promptId: event.promptId,
    inputKey: change.inputKey,
    summary: change.summary,
    ...(change.asks === undefined ? {} : { asks: change.asks }),
    ...(change.editPaths === undefined ? {} : { editPaths: change.editPaths }),
    ended: false,
    at: event.at,
    t: event.t,
  };
  const isMain = event.agentId === null;
  const settled = isMain ? asks.closeAsks(session, (ask) => ask.from === "reminder") : session;
  const known = isMain ? runTurn(settled, event, change.tool) : upsertChild(settled, event, change.tool);
  // Stamped after the end of its subagent, so nothing runs it any more.
  if (event.agentId !== null && !isChildRunning(known, event.agentId)) return known;
  const tools = [...known.tools, call];
  if (tools.length > limits.maxTools) tools.shift();
  const counted = change.task ? applyTask(known, change.task) : known;
  const started = change.skill === null || !isMain ? counted : startSkill(counted, change.skill, event);
  return asks.bindToolCall({ ...started, tools }, call, event);
}

function endCall(call: ToolCall, when: Moment): ToolCall {
  return { ...call, ended: true, at: when.at, t: when.t };
}

/** The end of a tool right after the end of its turn does not start the turn again. */
function isTrailing({ turn }: Session, event: AgentEvent): boolean {
  return !turn.running && event.t > turn.t && event.t - turn.t < timing.trailingMs;
}

function endTool(session: Session, event: AgentEvent, change: Change & { kind: "tool-end" }): Session {
  const isMain = event.agentId === null;
  const isSame = (c: ToolCall) => change.toolUseId !== null && c.toolUseId === change.toolUseId;
  const tools: ToolCall[] = [];
  for (const c of session.tools) {
    if (c.ended && event.t - c.t >= timing.trailingMs * 2) continue;
    tools.push(isSame(c) ? endCall(c, event) : c);
  }
  const call = session.tools.find(isSame) ?? findUnnamedCall(session, event, change);
  const counted = recordEnd(change.task ? applyTask(session, change.task) : session, event, change, call);
  const closed = asks.closeForTool({ ...counted, tools }, event, change.tool, change.toolUseId);
  if (!isMain) return upsertChild(closed, event, null);
  const reminded = asks.closeAsks(closed, (ask) => ask.from === "reminder");
  if (isTrailing(session, event) && !session.tools.some(isSame)) return reminded;
  const running = runTurn(reminded, event, statusTexts.thinking);
  return change.skill === null ? running : endSkill(running, change.skill, event);
}

/** The call that ended, of an agent that gives its calls no ids. */
const findUnnamedCall = (
  { tools }: Session,
  { agentId }: AgentEvent,
  { tool, toolUseId }: Change & { kind: "tool-end" },
): ToolCall | null =>
  toolUseId === null
    ? (tools.findLast((call) => !call.ended && call.agentId === agentId && call.tool === tool) ?? null)
    : null;

/** What the end of a call says besides that it is over: the files that it changed, and whether it failed again. */
function recordEnd(
  session: Session,
  event: AgentEvent,
  { outcome, editPaths }: Change & { kind: "tool-end" },
  call: ToolCall | null,
): Session {
  // Some agents name the files only when the call starts.
  const paths = outcome === "ok" ? (editPaths ?? call?.editPaths) : undefined;
  const edits =
    paths === undefined ? session.edits : addEdits(session.edits, paths, event.cwd ?? session.cwd, event);
  const failing = countFailure(session.failing, call, outcome, event.agentId, event);
  return edits === session.edits && failing === session.failing ? session : { ...session, edits, failing };
}

function startSkill(session: Session, call: SkillCall, { at, t }: Moment): Session {
  const skill: SkillRun = { ...call, phase: "in_progress", turnSeq: session.turnCount, at, t };
  return { ...session, currentSkill: call.name, skill };
}

function endSkill(session: Session, call: SkillCall, { at, t }: Moment): Session {
  const turnSeq = session.skill?.name === call.name ? session.skill.turnSeq : session.turnCount;
  return { ...session, currentSkill: null, skill: { ...call, phase: "completed", turnSeq, at, t } };
}

function applyTask(session: Session, change: TaskChange): Session {
  const { tasks } = session;
  const { status } = change;
  const at = findTask(tasks, change);
  if (status === "deleted") return at < 0 ? session : { ...session, tasks: tasks.toSpliced(at, 1) };
  if (at >= 0) return { ...session, tasks: tasks.with(at, { ...tasks[at], ...change, status }) };
  return tasks.length >= limits.maxTasks ? session : { ...session, tasks: [...tasks, { ...change, status }] };
}

/** An id that is not known belongs to a task that has none yet, if possible to the one with the same subject. -1 if there is none. */
function findTask(tasks: readonly Task[], { id, status, subject }: TaskChange): number {
  const known = id === null ? -1 : tasks.findIndex((task) => task.id === id);
  if (known >= 0 || (id === null && status !== "deleted")) return known;
  const named = tasks.findIndex((task) => task.id === null && task.subject === subject);
  return named >= 0 ? named : tasks.findIndex((task) => task.id === null);
}

function enrich(before: Session, known: Enrichment): Session {
  const enriched = known.children ? enrichChildren(before, known.children) : before;
  const isReviewed = known.approvals === "model" && before.approvals === "user";
  const session = isReviewed ? asks.closeAsks(enriched, (ask) => ask.kind === "permission") : enriched;
  return {
    ...session,
    model: known.model ?? session.model,
    usage: known.usage ?? session.usage,
    context: known.context
      ? { ...known.context, window: known.context.window ?? session.context?.window ?? null }
      : session.context,
    rateLimits: known.rateLimits ?? session.rateLimits,
    turnCount: known.turnCount ?? session.turnCount,
    gitBranch: known.gitBranch ?? session.gitBranch,
    title: known.title ?? session.title,
    lastResponse: known.lastResponse ?? session.lastResponse,
    approvals: known.approvals ?? session.approvals,
  };
}

function addDocument(session: Session, document: LoadedDocument): Session {
  const { documents } = session;
  if (documents.length >= limits.maxDocuments || documents.some(({ path }) => path === document.path))
    return session;
  return { ...session, documents: [...documents, document] };
}

/** The first of a turn stays, so that one turn causes one alert. An edit that happened counts more than one that was refused. */
function recordUntracked(
  session: Session,
  { at, t }: Moment,
  { tool, path, isBlocked }: Change & { kind: "untracked-edit" },
): Session {
  const { untracked, prompted } = session;
  const isOfTurn = untracked !== null && untracked.t >= (prompted?.t ?? Number.NEGATIVE_INFINITY);
  if (isOfTurn && (isBlocked || !untracked.isBlocked)) return session;
  return { ...session, untracked: { tool, path, isBlocked, at, t } };
}

function setPort(session: Session, port: SessionPort | null): Session {
  return { ...session, port, untracked: port === null ? session.untracked : null };
}

/** An event older than the newest one starts nothing, but it can still end an ask or a subagent. */
function applyLate(session: Session, event: AgentEvent): Session {
  const { change } = event;
  if (change.kind === "tool-end" && change.toolUseId !== null) {
    return asks.closeAsks(session, (ask) => ask.toolUseId === change.toolUseId);
  }
  if (change.kind === "child-end" && event.agentId !== null) {
    const child = session.children.find((c) => c.agentId === event.agentId);
    return child && child.t <= event.t
      ? endChild(session, event.agentId, event, change.transcriptPath)
      : session;
  }
  // Applied by settle() once nothing changes any more.
  if (change.kind === "status" && session.file && event.t > session.file.t) {
    const { status, waitingFor } = change;
    return { ...session, file: { status, waitingFor, at: event.at, t: event.t }, settled: false };
  }
  if (change.kind === "document-loaded") return addDocument(session, change.document);
  if (change.kind === "port") return setPort(session, change.port);
  if (change.kind === "shared-files") return { ...session, sharedFiles: change.files };
  if (change.kind === "repository-files") return { ...session, repositoryFiles: change.files };
  return change.kind === "enriched" ? enrich(session, change.with) : session;
}
