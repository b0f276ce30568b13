/**
 * Which session it is, and the key that names it in maps, files and the API. No other file builds or cuts a key. It is `agent:id`
 * on this machine and `machine/agent:id` on another. The agent's id is a plain word, so the first colon ends it, whatever the
 * session's id contains.
 */
export interface SessionRef {
  /** null for this machine. */
  readonly machine: string | null;
  readonly agent: string;
  /** Chosen by the agent: any text. */
  readonly sessionId: string;
}

/** A ref, a session or an event. It is of this machine if it names none. */
export type SessionRefLike = Omit<SessionRef, "machine"> & Partial<SessionRef>;

/** Called for every event. */
export function sessionKeyOf({ machine, agent, sessionId }: SessionRefLike): string {
  const key = `${agent}:${sessionId}`;
  return machine == null ? key : `${machine.replace(/[%/:]/g, encodeURIComponent)}/${key}`;
}

/** The API calls the agent `provider`. */
export function viewKeyOf(view: {
  readonly machine?: string | null;
  readonly provider: string;
  readonly sessionId: string;
}): string {
  return sessionKeyOf({ machine: view.machine ?? null, agent: view.provider, sessionId: view.sessionId });
}

/** null for a text that does not begin with an agent's id and a colon. */
export function parseSessionKey(key: string): SessionRef | null {
  const colon = key.indexOf(":");
  if (colon < 0) return null;
  const slash = key.lastIndexOf("/", colon);
  const machine = slash < 0 ? null : key.slice(0, slash).replace(/%(?:25|2F|3A)/g, decodeURIComponent);
  return { machine, agent: key.slice(slash + 1, colon), sessionId: key.slice(colon + 1) };
}

export function isSameSession(a: SessionRefLike, b: SessionRefLike): boolean {
  return a.sessionId === b.sessionId && a.agent === b.agent && (a.machine ?? null) === (b.machine ?? null);
}
