/** Bodies as forwarders send them: many sessions at work at once, and no two bodies alike. */
import { readFileSync, readlinkSync } from "node:fs";
import { version } from "../../package.json";

export interface Work {
  /** Other seeds give other bodies, of the same sessions. */
  readonly seed: number;
  readonly sessions: number;
  readonly events: number;
  /** When the last of them happened. Two events of a session are 5 ms apart. */
  readonly until: number;
}

const betweenMs = 5;
const tools = ["Bash", "Read", "Edit", "Grep"] as const;
type Tool = (typeof tools)[number];
/** One turn: what is allowed without asking, and one call that asks. */
const turn = [
  "UserPromptSubmit",
  ...["PreToolUse", "PostToolUse", "PreToolUse", "PostToolUse", "PreToolUse", "PostToolUse"],
  ...["PreToolUse", "PermissionRequest", "PostToolUse", "Stop"],
] as const;

const words = "the session waits for a file that nobody wrote yet so look at src first and run every test again".split(
  " ",
);

export interface Body {
  readonly id: string;
  readonly sessionId: string;
  readonly text: string;
}

function createRandom(seed: number): (below: number) => number {
  let state = seed | 0;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const hex = (value: number, length: number): string => value.toString(16).padStart(length, "0");
export const sessionIdOf = (session: number): string => `${hex(session, 8)}-7d1c-4b55-9c0e-5d2f6a1b3c4d`;

function machine(): { boot: string | null; host: string | null; uptimeMs: number } {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    const uptimeMs = Number.parseFloat(readFileSync("/proc/uptime", "utf8")) * 1_000;
    return { boot, host: `${boot}/${readlinkSync("/proc/self/ns/pid")}`, uptimeMs };
  } catch {
    return { boot: null, host: null, uptimeMs: 0 };
  }
}

/** In the order they happened: one of every session, then the next of every session, and so on. */
export function* bodies({ seed, sessions, events, until }: Work): Generator<Body> {
  const random = createRandom(seed);
  const { boot, host, uptimeMs } = machine();
  const bootedAt = Date.now() - uptimeMs;
  const rows = Math.ceil(events / sessions);
  const text = (length: number): string => {
    let said = "";
    while (said.length < length) said += `${words[random(words.length)]} ${random(10_000)}\n`;
    return said;
  };
  for (let n = 0; n < events; n++) {
    const session = n % sessions;
    const row = Math.floor(n / sessions);
    const sessionId = sessionIdOf(session);
    const at = until - (rows - row) * betweenMs;
    const id = `${hex(seed, 8)}-${hex(n, 8)}-4000-8000-${hex(random(0xffffff), 12)}`;
    // Every session is somewhere else in its turn.
    const call = row + session * 7;
    const name = turn[call % turn.length] ?? "Stop";
    const body = {
      provider: "claude",
      _meta: {
        ...{ id, at, seq: boot === null ? null : Math.round((at - bootedAt) * 1_000), boot, host },
        ...{ collected_at: new Date(at).toISOString(), forwarder_version: version, workspace_id: `proj-${session}` },
        // A process that lives as long as the bench does.
        ...{ terminal_session_id: `%${session}`, pid: process.ppid, procStart: null, tty: `/dev/pts/${session}`, attended: true },
        env: { TERM: "tmux-256color", TERM_PROGRAM: "tmux", TMUX: "/tmp/tmux-1000/default,45,0", TMUX_PANE: `%${session}` },
      },
      payload: {
        session_id: sessionId,
        transcript_path: `/home/dev/.claude/projects/-home-dev-proj-${session}/${sessionId}.jsonl`,
        cwd: `/home/dev/proj-${session}`,
        prompt_id: `${hex(Math.floor(call / turn.length), 8)}-5e0b-4c55-8d3f-${hex(session, 12)}`,
        ...{ permission_mode: "default", effort: { level: "medium" }, hook_event_name: name },
        ...payload(name, `${seed}-${session}-${row}`, `${seed}-${session}-${call % turn.length < 8 ? row - (name === "PostToolUse" ? 1 : 0) : "asks"}`, random, text),
      },
    };
    yield { id, sessionId, text: JSON.stringify(body) };
  }
}
