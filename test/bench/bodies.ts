/** Bodies as forwarders send them: many sessions work at once, and no two bodies are equal. */
import { readFileSync, readlinkSync } from "node:fs";
import { version } from "../../package.json";
import { createRandom } from "../random.ts";

export interface Work {
  /** Each part continues where the one before ended, in the same sessions. */
  readonly part: number;
  readonly sessions: number;
  /** Events in each part. */
  readonly events: number;
  /** When part 0 began, early enough that no part reaches into the future. */
  readonly since: number;
}

/** Time between two events of one session. */
const betweenMs = 200;

export interface EventBody {
  readonly id: string;
  readonly sessionId: string;
  readonly text: string;
}

/** One turn: three tool calls that need no permission, and one that asks. */
const turn = [
  ["UserPromptSubmit", 0],
  ...([0, 1, 2].flatMap((call) => [
    ["PreToolUse", call],
    ["PostToolUse", call],
  ]) as ["PreToolUse" | "PostToolUse", number][]),
  ["PreToolUse", 3],
  ["PermissionRequest", 3],
  ["PostToolUse", 3],
  ["Stop", 0],
] as const;

const words =
  "the session waits for a file that is not there yet so read src first and run every test again".split(" ");
const hex = (value: number, length: number): string => value.toString(16).padStart(length, "0");

export const sessionIdOf = (session: number): string => `${hex(session, 8)}-7d1c-4b55-9c0e-5d2f6a1b3c4d`;

/** In the order they happened: the first of every session, then the second of every session, and so on. */
export function* bodies({ part, sessions, events, since }: Work): Generator<EventBody> {
  const machine = readMachine();
  const rows = Math.ceil(events / sessions);
  for (let n = 0; n < events; n++) {
    const session = n % sessions;
    const row = part * rows + Math.floor(n / sessions);
    const id = idOf(part, n);
    // Every session is at another step of its turn.
    const payload = createPayload(session, row + session * 3);
    const _meta = { ...createMeta(session, since + row * betweenMs, machine), id };
    yield { id, sessionId: payload.session_id, text: JSON.stringify({ provider: "claude", _meta, payload }) };
  }
}

function readMachine(): { boot: string | null; host: string | null; bootedAt: number } {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    const uptimeMs = Number.parseFloat(readFileSync("/proc/uptime", "utf8")) * 1_000;
    return { boot, host: `${boot}/${readlinkSync("/proc/self/ns/pid")}`, bootedAt: Date.now() - uptimeMs };
  } catch {
    return { boot: null, host: null, bootedAt: 0 };
  }
}

function createMeta(session: number, at: number, { boot, host, bootedAt }: ReturnType<typeof readMachine>) {
  return {
    at,
    seq: boot === null || at < bootedAt ? null : Math.round((at - bootedAt) * 1_000),
    boot,
    host,
    collected_at: new Date(at).toISOString(),
    forwarder_version: version,
    workspace_id: `proj-${session}`,
    terminal_session_id: `%${session}`,
    // The parent lives longer than the measurement, so no session ends in the middle of it.
    pid: process.ppid,
    procStart: null,
    tty: `/dev/pts/${session}`,
    attended: true,
    env: {
      TERM: "tmux-256color",
      TERM_PROGRAM: "tmux",
      TERM_PROGRAM_VERSION: "3.3a",
      TMUX: "/tmp/tmux-1000/default,45,0",
      TMUX_PANE: `%${session}`,
      CLAUDE_CODE_ENTRYPOINT: "cli",
    },
  };
}

function createPayload(session: number, step: number) {
  const [name, call] = turn[step % turn.length] ?? ["Stop", 0];
  const turns = Math.floor(step / turn.length);
  const sessionId = sessionIdOf(session);
  const common = {
    session_id: sessionId,
    transcript_path: `/home/dev/.claude/projects/-home-dev-proj-${session}/${sessionId}.jsonl`,
    cwd: `/home/dev/proj-${session}`,
    prompt_id: `${hex(turns, 8)}-6f1a-4c55-8d3f-${hex(session, 12)}`,
    permission_mode: "default",
    effort: { level: "medium" },
    hook_event_name: name,
  };
  const random = createRandomBelow(session * 1_000_003 + turns * 4 + call);
  if (name === "UserPromptSubmit") return { ...common, prompt: writeText(random, 300) };
  if (name === "Stop") {
    return {
      ...common,
      stop_hook_active: false,
      last_assistant_message: writeText(random, 1_200),
      background_tasks: [],
    };
  }
  const { tool, input, response } = createToolCall(random, session);
  const asked = { ...common, tool_name: tool, tool_input: input };
  if (name === "PermissionRequest") {
    const suggestion = { type: "setMode", mode: "acceptEdits", destination: "session" };
    return { ...asked, permission_suggestions: [suggestion] };
  }
  const started = { ...asked, tool_use_id: `toolu_${hex(session, 10)}${hex(turns, 10)}${hex(call, 4)}` };
  return name === "PreToolUse"
    ? started
    : { ...started, tool_response: response(), duration_ms: random(5_000) };
}

type RandomBelow = (below: number) => number;

function createToolCall(
  random: RandomBelow,
  session: number,
): { tool: string; input: object; response: () => object } {
  const path = `/home/dev/proj-${session}/src/part-${random(500)}.ts`;
  switch (random(3)) {
    case 0: {
      const input = {
        command: `grep -rn "${writeText(random, 20)}" src | head -${random(90)}`,
        description: writeText(random, 40),
      };
      const output = () => ({
        stdout: writeText(random, random(3_000)),
        stderr: "",
        interrupted: false,
        isImage: false,
      });
      return { tool: "Bash", input, response: output };
    }
    case 1: {
      const read = () => ({
        type: "text",
        file: { filePath: path, content: writeText(random, random(8_000)) },
      });
      return { tool: "Read", input: { file_path: path }, response: read };
    }
    default: {
      const input = {
        file_path: path,
        old_string: writeText(random, 200),
        new_string: writeText(random, 300),
      };
      return { tool: "Edit", input, response: () => ({ filePath: path, ...input, userModified: false }) };
    }
  }
}

function writeText(random: RandomBelow, length: number): string {
  let text = "";
  while (text.length < length)
    text += `${words[random(words.length)]} ${random(10_000)}${random(8) === 0 ? "\n" : " "}`;
  return text;
}

/** Like random ids, they differ in their first characters. */
function idOf(part: number, n: number): string {
  const random = createRandomBelow(part * 1_000_003 + n);
  const four = () => hex(random(0x10000), 4);
  return `${four()}${four()}-${four()}-4${four().slice(1)}-a${four().slice(1)}-${hex(part, 4)}${hex(n, 8)}`;
}

function createRandomBelow(seed: number): RandomBelow {
  const { between } = createRandom(seed);
  return (below) => between(0, below);
}
