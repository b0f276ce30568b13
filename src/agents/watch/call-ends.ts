/** The ends of calls, for agents whose hooks report only how most calls start: a file that they write reports the rest. */
import type { Moment } from "../../core/session/event.ts";
import type { Session } from "../../core/session/session.ts";
import { type EmitChange, toMoment } from "./index.ts";

interface EndedCall {
  readonly toolUseId: string;
  readonly isFailed: boolean;
  /** null if unknown. */
  readonly at: number | null;
}

/** The last ends in a file, the newest last. */
export type EndedCalls = EndedCall[];

/** The hook of a call can arrive after its end was read. */
const maxRemembered = 50;

export function rememberEnd(ends: EndedCalls, end: EndedCall): void {
  ends.push(end);
  if (ends.length > maxRemembered) ends.shift();
}

/** Ends the calls that the session shows as running and the file does not. */
export function emitEnds(session: Session, ends: EndedCalls, emit: EmitChange, now: Moment): void {
  const { agent, sessionId, tools } = session;
  for (const call of tools) {
    const { tool, toolUseId, agentId, ended, editPaths } = call;
    const end = ended ? undefined : ends.findLast((each) => each.toolUseId === toolUseId);
    if (!end) continue;
    const moment = toMoment(now, end.at);
    // A hook that started late has stamped the call after its end.
    const { at, t } = moment.t < call.t ? call : moment;
    const edits = end.isFailed || editPaths === undefined ? {} : { editPaths };
    const outcome = end.isFailed ? "failed" : "ok";
    const change = { kind: "tool-end", tool, toolUseId, outcome, skill: null, ...edits } as const;
    emit({ agent, sessionId, agentId }, { at, t }, change);
  }
}
