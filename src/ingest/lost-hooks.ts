/**
 * Hooks of unattended runs that were stopped before they could send their event. Their events are made from the agent's own files when
 * the run ends, and taken as if the hooks had sent them.
 */
import type { UnattendedRuns } from "../agents/agent.ts";
import type { HookMessage } from "../agents/envelope.ts";
import type { LoadedAgents } from "../agents/index.ts";
import { forgetOldest, rememberOnce } from "../core/forget-oldest.ts";
import { sessionKeyOf } from "../core/session/session-ref.ts";
import { timing } from "../core/timing.ts";
import type { Env } from "../system/folders.ts";

export interface LostHooks {
  /** True if this hook was only late: its event has been made already. */
  isReplaced(message: HookMessage): boolean;
  /** Notes what a hook of an unattended run has sent. */
  note(message: HookMessage, at: number): void;
  /** The events that the hooks of the run did not send, as requests. null if the run goes on. */
  find(message: HookMessage, at: number): Promise<readonly string[]> | null;
}

export interface LostHooksOptions {
  readonly agents: LoadedAgents;
  readonly env: Env;
  /** When beckon started. */
  readonly startedAt: number;
}

interface Run {
  readonly sent: Set<string>;
  readonly replaced: Set<string>;
  /** What happened earlier does not belong to the run. null before its first hook. */
  from: number | null;
  /** When the session's last run ended: it can be resumed. */
  endedAt: number;
}

/** How long before the first hook that arrived a run can have begun. */
const leadMs = timing.reorderMs;

/** Late hooks of runs that ended are recognised for this many runs. */
const maxRuns = 200;
const maxNotes = 1_000;

export function createLostHooks({ agents, env, startedAt }: LostHooksOptions): LostHooks {
  const runs = new Map<string, Run>();

  function findRun(key: string): Run {
    const run = runs.get(key) ?? { sent: new Set(), replaced: new Set(), from: null, endedAt: startedAt };
    runs.delete(key);
    runs.set(key, run);
    forgetOldest(runs, maxRuns);
    return run;
  }

  /** null if the agent lets its hooks finish. */
  function identify({ provider, payload }: HookMessage) {
    const reader = agents.get(provider)?.unattendedRuns;
    const { session_id: sessionId } = payload;
    return reader && typeof sessionId === "string"
      ? { reader, key: sessionKeyOf({ agent: provider, sessionId }) }
      : null;
  }

  async function readLost(
    reader: UnattendedRuns,
    run: Run,
    { provider, meta: { workspace }, payload }: HookMessage,
    endedAt: number,
  ): Promise<readonly string[]> {
    const from = run.from ?? endedAt;
    const requests: string[] = [];
    for (const { at, payload: reported } of await reader.readHooks(payload, env)) {
      const name = reader.identify(reported);
      if (name === null || at < from || at > endedAt || run.sent.has(name)) continue;
      rememberOnce(run.replaced, name, maxNotes);
      // The same id if the end of the run arrives twice.
      const id = `${payload.session_id}.${name}`;
      const meta = { id, at, attended: false, workspace_id: workspace };
      requests.push(JSON.stringify({ provider, _meta: meta, payload: reported }));
    }
    run.from = null;
    run.endedAt = endedAt;
    return requests;
  }

  return {
    isReplaced(message) {
      const found = identify(message);
      const run = found && runs.get(found.key);
      const name = run ? found.reader.identify(message.payload) : null;
      return name !== null && run?.replaced.has(name) === true;
    },
    note(message, at) {
      const found = identify(message);
      if (!found) return;
      const run = findRun(found.key);
      // What came before beckon started is known only as far as hooks kept it.
      const first = at < startedAt ? at : Math.max(at - leadMs, run.endedAt);
      run.from = Math.min(run.from ?? first, first);
      const name = found.reader.identify(message.payload);
      if (name !== null) rememberOnce(run.sent, name, maxNotes);
    },
    find(message, at) {
      const found = identify(message);
      if (!found?.reader.isEnd(message.payload)) return null;
      return readLost(found.reader, findRun(found.key), message, at);
    },
  };
}
