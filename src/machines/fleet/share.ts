/**
 * What a fleet gets to see of a session, at the levels that channels have too (core/config/channels.ts). A channel writes a sentence to its
 * user; other machines get a session, and in a team they are somebody else's. So only what is named here is passed on: a field that a
 * session gets later is not shared before it is listed. Pure.
 */
import type { ChannelDetail } from "../../core/config/channels.ts";
import type { AgentEvent } from "../../core/session/event.ts";
import {
  type Ask,
  createSession,
  hasDied,
  isClearReason,
  projectOf,
  type Session,
} from "../../core/session/session.ts";
import type { DescribedSession } from "../protocol.ts";
import type { FleetRecord } from "./fleet-file.ts";

/** A team never gets more than this, whatever its file says. */
export const shareOf = ({ kind, share }: Pick<FleetRecord, "kind" | "share">): ChannelDetail =>
  kind === "team" && share === "full" ? "summary" : share;

/** For `beckon fleet list` and the page: what the others see. */
export const shareWords: Readonly<Record<ChannelDetail, string>> = {
  minimal: "that something waits for you, how many and since when; no project, prompt or command",
  summary:
    "that something waits for you, since when, in which project and for which tool; no prompt or command",
  full: "everything that this machine shows of its sessions",
};

export function shareSession(described: DescribedSession, level: ChannelDetail): DescribedSession {
  if (level === "full") return described;
  // A machine describes its own sessions.
  const session = described.session as unknown as Session;
  return { session: { ...reduceSession(session, level) }, answerable: [] };
}

function reduceSession(session: Session, level: "minimal" | "summary"): Session {
  const { agent, sessionId, startedAt, last, newest, moved, turn, prompted, stopped, answered } = session;
  const { asksOpened, turnCount, attended, ended, place } = session;
  return {
    ...createSession({ agent, sessionId, at: startedAt, t: last.t } as AgentEvent),
    last: pickMoment(last),
    newest,
    moved: pickMoment(moved),
    settled: true,
    turn: {
      ...pickMoment(turn),
      running: turn.running || session.children.some(({ running }) => running),
      byHook: turn.byHook,
      error: turn.error === null ? null : "The last turn failed",
    },
    prompted: prompted && pickMoment(prompted),
    stopped: stopped && pickMoment(stopped),
    answered: answered && pickMoment(answered),
    asks: session.asks.map((ask) => reduceAsk(ask, level)),
    asksOpened,
    turnCount,
    attended,
    ended: ended && { ...pickMoment(ended), reason: reduceReason(session), whileBusy: ended.whileBusy },
    // That its process is watched, and nothing of where it runs.
    place: place && { local: place.local, pid: place.pid === null ? null : 1, ...nowhere },
    project: level === "summary" ? projectOf(session) : null,
  };
}

const nowhere = { procStart: null, tty: null, terminalSessionId: null, env: {} };

const pickMoment = ({ at, t }: { readonly at: number; readonly t: number }) => ({ at, t });

function reduceAsk({ id, kind, from, hidden, at, t, tool }: Ask, level: "minimal" | "summary"): Ask {
  return {
    id,
    kind,
    from,
    hidden,
    at,
    t,
    tool: level === "summary" ? tool : null,
    agentId: null,
    toolUseId: null,
    promptId: null,
    inputKey: null,
    summary: "",
    options: [],
    request: null,
  };
}

function reduceReason(session: Session): string {
  if (hasDied(session)) return "process gone";
  return isClearReason(session.ended?.reason) ? "clear" : "other";
}
