/** From a request's text to an event that is kept: parsed, stamped, masked, journalled, and only then counted. */
import { randomUUID } from "node:crypto";
import { type Here, type Hook, openEnvelope, stamp } from "./agents/envelope.ts";
import { agents } from "./agents/index.ts";
import type { AgentEvent } from "./core/event.ts";
import { limits } from "./limits.ts";
import type { Outcome } from "./receiver/server.ts";
import type { Journal, JournalLine } from "./storage/journal.ts";

export interface IntakeOptions {
  readonly journal: Pick<Journal, "append">;
  readonly mask: (text: string) => string;
  readonly clock: () => Here;
  readonly defaultProvider: string;
  readonly dispatch: (event: AgentEvent, arrived: number) => void;
  readonly onError: (text: string) => void;
}

export interface Intake {
  accept(text: string, spool?: readonly [string, number]): Promise<Outcome>;
  /** An event out of the journal: counted, not kept again. */
  replay(line: JournalLine): void;
  /** Ids that were kept before this start. */
  remember(ids: Iterable<string>): void;
}

const ok: Outcome = { status: 200 };
const invalid: Outcome = { status: 400, error: "invalid JSON" };

/** Remembers the last so many ids, between half of them and all. */
function createRecent(max: number) {
  let young = new Set<string>();
  let old = new Set<string>();
  return {
    has: (id: string) => young.has(id) || old.has(id),
    add(id: string) {
      young.add(id);
      if (young.size < max / 2) return;
      old = young;
      young = new Set();
    },
  };
}

export function createIntake(options: IntakeOptions): Intake {
  const { journal, clock } = options;
  const kept = createRecent(limits.rememberedIds);
  const underWay = new Map<string, Promise<Outcome>>();
  let replayed = Number.NEGATIVE_INFINITY;

  function parse(text: string, host: string | null): Hook | Outcome {
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      return invalid;
    }
    const hook = openEnvelope(body, options.defaultProvider, host);
    if (!hook) return { status: 400, error: "invalid JSON: the body is no object" };
    return agents[hook.provider] ? hook : { status: 400, error: "unknown provider" };
  }

  async function keep(hook: Hook, id: string, text: string, here: Here, spool?: readonly [string, number]) {
    const when = stamp(hook.meta, here);
    const key = Bun.hash(payloadText(text)).toString(36);
    const event = agents[hook.provider]?.translate(hook, { ...when, id, key });
    if (!event) return { status: 400, error: "no session_id or event name in the payload" } as const;
    try {
      await journal.append({
        id,
        at: when.at,
        t: when.t,
        boot: here.boot,
        key,
        ...(spool ? { spool } : {}),
        text,
      });
    } catch (error) {
      options.onError(`could not keep an event: ${message(error)}`);
      return { status: 503, error: `not kept: ${message(error)}` } as const;
    }
    kept.add(id);
    count(event, here.t);
    return ok;
  }

  /** The event is safe: whatever fails from here on is ours alone. */
  function count(event: AgentEvent, arrived: number): void {
    try {
      options.dispatch(event, arrived);
    } catch (error) {
      options.onError(`could not count ${event.name} of ${event.sessionId}: ${message(error)}`);
    }
  }

  return {
    async accept(raw, spool) {
      const here = clock();
      const text = options.mask(raw);
      const hook = parse(text, here.host);
      if ("status" in hook) return hook;
      const id = hook.meta.id ?? randomUUID();
      if (kept.has(id)) return ok;
      const same = underWay.get(id);
      if (same) return same;
      const done = keep(hook, id, text, here, spool);
      underWay.set(id, done);
      try {
        return await done;
      } finally {
        underWay.delete(id);
      }
    },

    replay(line) {
      kept.add(line.id);
      const here = clock();
      const hook = openEnvelope(line.body, options.defaultProvider, here.host);
      const t =
        line.boot !== null && line.boot === here.boot ? line.t : here.t - Math.max(0, here.at - line.at);
      const event =
        hook && agents[hook.provider]?.translate(hook, { at: line.at, t, id: line.id, key: line.key });
      if (!event) return;
      replayed = Math.max(replayed, t);
      count(event, replayed);
    },

    remember(ids) {
      for (const id of ids) kept.add(id);
    },
  };
}

/** The payload's own text, so that two forwarders of one event give the same key. */
function payloadText(text: string): string {
  const at = text.indexOf('"payload":');
  return at < 0 ? text : text.slice(at);
}

function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
