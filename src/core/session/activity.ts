/** What every event tells besides its change: that the session lives, where it is, and who sits there. */
import { timing } from "../timing.ts";
import { type AgentEvent, isHookChange, isSamePlace } from "./event.ts";
import type { Session } from "./session.ts";

export function isDuplicate({ payloads }: Session, { payloadKey, t }: AgentEvent): boolean {
  if (payloadKey === null) return false;
  for (const p of payloads) if (p.key === payloadKey && t - p.t <= timing.duplicateMs) return true;
  return false;
}

export function recordActivity(session: Session, event: AgentEvent): Session {
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
