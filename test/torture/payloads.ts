/** Payloads of a real agent, in every form they may come in. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Random } from "./random.ts";

type Fields = Record<string, unknown>;

const fixtures = join(import.meta.dir, "../fixtures/payloads.jsonl");
const payloads = readFileSync(fixtures, "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.stringify((JSON.parse(line) as { payload: Fields }).payload));

const sessionsPerPayload = 4;

/** As the forwarder wraps it, as older ones do, or bare. */
export function valid(random: Random, n: number): Fields {
  const payload = JSON.parse(random.pick(payloads)) as Fields;
  payload.session_id = `${payload.session_id}-${random.between(0, sessionsPerPayload)}`;
  const meta: Fields = {
    id: random.chance(0.05) ? `again-${random.between(0, 50)}` : `body-${n}`,
    at: Date.now(),
    seq: random.between(0, 1e9),
    boot: "another-boot",
    host: "another-host",
    collected_at: new Date().toISOString(),
    forwarder_version: "0.1.0",
    workspace_id: "project",
    terminal_session_id: "w0t0p0",
    pid: 4242,
    procStart: "123456",
    tty: "/dev/pts/3",
    attended: true,
    env: { TERM: "xterm", TMUX_PANE: "%3", WINDOWID: "7" },
  };
  const form = random.next();
  if (form < 0.6) return { provider: "claude", _meta: meta, payload };
  return form < 0.8 ? { ...payload, _meta: meta } : payload;
}

export const validText = (random: Random, n: number): string => JSON.stringify(valid(random, n));

/** With one field of the payload put in as text, so that it may be what JSON.stringify would never write. */
export function withField(random: Random, n: number, name: string, text: string): string {
  const session_id = `other-${random.between(0, 50)}`;
  const meta = { id: `body-${n}` };
  return `{"provider":"claude","_meta":${JSON.stringify(meta)},"payload":{"session_id":"${session_id}","hook_event_name":"${random.pick(eventsWithText)}",${JSON.stringify(name)}:${text}}}`;
}

const eventsWithText = [
  "UserPromptSubmit",
  "PermissionRequest",
  "PreToolUse",
  "Stop",
  "Notification",
  "Future",
];
export const textFields = [
  "prompt",
  "last_assistant_message",
  "message",
  "cwd",
  "tool_name",
  "tool_input",
  "session_id",
];
