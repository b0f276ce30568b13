/** Reads what sessions of this machine asked for permission to do, and what was answered: what rules are tried on. */
import type { Database, SQLQueryBindings } from "bun:sqlite";
import type { LoadedAgents } from "../../agents/index.ts";
import type { RuleSubject } from "../../core/answers/subject.ts";
import { asRecord, parseJson } from "../../core/json.ts";
import { limits } from "../../core/limits.ts";
import { formatCall } from "../../core/session/texts.ts";
import type { AnsweredAsk } from "../../rules/past.ts";
import { seqsPerMs } from "../seq.ts";

interface Row extends Omit<AnsweredAsk, "subject" | "text" | "waitedMs"> {
  readonly tool: string | null;
  readonly summary: string;
  readonly waitedMs: number | null;
  /** The hook's payload. null if no hook asked. */
  readonly raw: string | null;
}

/** An ask that a status file opened was named by a hook within this time. */
const namedWithinMs = 1_000;

/** From the oldest to the newest. */
export function readPastAsks(db: Database, agents: LoadedAgents): readonly AnsweredAsk[] {
  const rows = db
    .query<Row, SQLQueryBindings[]>(
      `SELECT sessions.provider AS agent, sessions.cwd AS folder, asks.project, asks.tool, asks.summary, asks.opened_at AS at,
       asks.waited_ms AS waitedMs, asks.how, items.detail, (
         SELECT raw FROM normalized_events WHERE asks.request IS NOT NULL AND id = asks.request
         AND seq >= (asks.opened_at - ${namedWithinMs}) * ${seqsPerMs} AND seq < (asks.opened_at + ${namedWithinMs}) * ${seqsPerMs}
       ) AS raw
       FROM asks JOIN sessions ON sessions.key = asks.key LEFT JOIN items ON items.seq = asks.item_seq
       WHERE asks.kind = 'permission' AND asks.how IS NOT NULL AND asks.agent_id IS NULL
       AND sessions.key = sessions.provider || ':' || sessions.session_id ORDER BY asks.opened_at DESC LIMIT ${limits.maxPastAsks}`,
    )
    .all();
  // The same is asked often: one object for it, so that what is found out about it is found out once.
  const subjects = new Map<string, RuleSubject | null>();
  return rows.reverse().map((row): AnsweredAsk => {
    const { tool, summary, raw, waitedMs, ...rest } = row;
    const read = readSubject(row, agents);
    const key = JSON.stringify([row.folder, read]);
    const subject = subjects.get(key) ?? read;
    subjects.set(key, subject);
    return { ...rest, subject, text: formatCall(tool, summary), waitedMs: waitedMs ?? 0 };
  });
}

/** What the history has shortened ends with this, and is not known. */
const cut = "…";

function readSubject({ agent, tool, summary, raw, folder }: Row, agents: LoadedAgents): RuleSubject | null {
  const payload = raw === null ? null : asRecord(parseJson(raw));
  const subject = payload && agents.get(agent)?.answering?.readSubject?.(payload);
  if (subject) return isCut(subject) ? null : subject;
  // Asked through an agent's own server, of which the history has one line.
  const isKnown = tool === "Bash" && summary !== "" && !summary.endsWith(cut);
  return isKnown && payload === null ? { kind: "command", command: summary, cwd: folder } : null;
}

const isCut = (subject: RuleSubject): boolean =>
  (subject.kind === "command" ? [subject.command] : subject.paths).some((text) => text.endsWith(cut));
