/**
 * Who called a hook. Some agents also run the hooks in another agent's settings, so `beckon hook claude` is not always called by
 * Claude Code. The forwarder asks this at every hook, so it has no imports and only plain loops; the app asks it again about
 * envelopes of forwarders that do not.
 */

type Fields = Readonly<Record<string, unknown>>;
type Variables = Readonly<Record<string, string | undefined>>;

interface Caller {
  /** Its id in the table of agents, or `unsupportedCaller`. */
  readonly id: string;
  readonly name: string;
  /** The agents whose hooks it can run. */
  readonly runs: readonly string[];
  /** One is enough. */
  readonly signs: readonly Sign[];
}

/** Everything that is named here has to hold. What an agent starts inherits its variables, so none of them is a sign by itself. */
interface Sign {
  /** Fields that the payload has. */
  readonly fields?: readonly string[];
  /** A folder in the path of the transcript. */
  readonly folder?: string;
  /** A variable that is set. */
  readonly variable?: string;
  /** A variable that names the payload's session. */
  readonly sessionVariable?: string;
  /** Two variables with the same process id. */
  readonly sameProcess?: readonly [string, string];
}

/** An agent that beckon does not know: its events are ignored. */
export const unsupportedCaller = "unsupported";

const callers: readonly Caller[] = [
  {
    id: "grok",
    name: "Grok Build",
    // ~/.claude/settings.json, by default (run with 1.0.41).
    runs: ["claude"],
    signs: [
      { fields: ["hookEventName", "workspaceRoot"] },
      { sessionVariable: "GROK_SESSION_ID" },
      { folder: ".grok" },
    ],
  },
  {
    id: "copilot",
    name: "Copilot CLI",
    // A project's .claude/settings.json and settings.local.json (run with 1.0.102).
    runs: ["claude"],
    signs: [{ variable: "COPILOT_CLI", fields: ["timestamp"] }, { folder: ".copilot" }],
  },
  {
    id: unsupportedCaller,
    name: "Cursor",
    // ~/.claude/settings.json and Claude Code's plugins (documentation).
    runs: ["claude"],
    signs: [{ fields: ["cursor_version"] }, { fields: ["conversation_id"] }, { folder: ".cursor" }],
  },
  {
    id: "qwen",
    name: "Qwen Code",
    // Neither by itself (run with 0.24.4), but a user can copy hooks: their settings have the same form.
    runs: ["claude", "gemini"],
    signs: [{ sessionVariable: "QWEN_CODE_SESSION_ID" }, { folder: ".qwen" }],
  },
  {
    id: "gemini",
    name: "Gemini CLI",
    // `gemini hooks migrate` copies Claude Code's hooks.
    runs: ["claude"],
    signs: [{ sessionVariable: "GEMINI_SESSION_ID" }, { folder: ".gemini" }],
  },
  {
    id: unsupportedCaller,
    name: "Antigravity CLI",
    // It keeps its settings in Gemini CLI's folder (reports).
    runs: ["claude", "gemini"],
    signs: [{ fields: ["conversationId"] }],
  },
  {
    id: "kilo",
    name: "Kilo",
    // opencode's plugin, if it is in Kilo's folder (run with 7.7.7). The plugin sets the second variable.
    runs: ["opencode"],
    signs: [{ sameProcess: ["KILO_PID", "OPENCODE_PID"] }],
  },
];

/** An earlier beckon added hooks for them. */
const formerAgents = ["cursor", "antigravity"];

/** The agent that really called a hook of `called`'s. */
export function findCaller(called: string, payload: Fields, env: Variables): string {
  if (formerAgents.includes(called)) return unsupportedCaller;
  const call = readCall(payload, env);
  for (const { id, runs, signs } of callers) {
    if (!runs.includes(called)) continue;
    for (const sign of signs) if (holds(sign, call)) return id;
  }
  return called === "claude" && isForeignToClaude(call) ? unsupportedCaller : called;
}

interface Call {
  readonly payload: Fields;
  readonly env: Variables;
  readonly session: unknown;
  /** In the path of the transcript. */
  readonly folders: readonly string[];
}

/** Read once for all signs: payloads have so many shapes that each look into one is slow. */
function readCall(payload: Fields, env: Variables): Call {
  const { session_id, sessionId = session_id, transcript_path, transcriptPath = transcript_path } = payload;
  const path = typeof transcriptPath === "string" ? transcriptPath : "";
  return { payload, env, session: sessionId, folders: listFolders(path) };
}

const separators = /[\\/]/;

/** Not its first part, which nothing separates from what is before it, and not the file. */
const listFolders = (path: string): readonly string[] => path.split(separators).slice(1, -1);

function holds(sign: Sign, { payload, env, session, folders }: Call): boolean {
  const { fields, folder, variable, sessionVariable, sameProcess } = sign;
  if (folder !== undefined && !folders.includes(folder)) return false;
  if (sessionVariable !== undefined && !isSame(env[sessionVariable], session)) return false;
  if (variable !== undefined && !env[variable]) return false;
  if (fields !== undefined) for (const name of fields) if (payload[name] === undefined) return false;
  return sameProcess === undefined || isSame(env[sameProcess[0]], env[sameProcess[1]]);
}

const isSame = (a: unknown, b: unknown): boolean => a !== undefined && a === b;

/** Fields of other agents' payloads that none of Claude Code's has (measured: 1,464 payloads of 2.0.76 to 2.1.326). */
const foreignFields = ["timestamp", "sessionId", "hookEventName"];

/** An agent that no row knows. Claude Code's transcripts are all in a folder `projects`. */
function isForeignToClaude({ payload, folders }: Call): boolean {
  if (folders.includes("projects")) return false;
  for (const name of foreignFields) if (payload[name] !== undefined) return true;
  return typeof payload.transcript_path === "string" && hasHiddenFolder(payload.transcript_path);
}

const hasHiddenFolder = (path: string): boolean => path.includes("/.") || path.includes("\\.");

/** What beckon-hook.sh sends with an event, because it leaves the decision to the app. */
export function listCallerVariables(): readonly string[] {
  const names = callers.flatMap(({ signs }) =>
    signs.flatMap(({ variable, sessionVariable, sameProcess = [] }) => [
      ...(variable === undefined ? [] : [variable]),
      ...(sessionVariable === undefined ? [] : [sessionVariable]),
      ...sameProcess,
    ]),
  );
  return [...new Set(names)];
}
