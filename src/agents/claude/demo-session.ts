/** The payloads and the transcript of an invented session. */
import type { JsonRecord } from "../../core/json.ts";
import demo from "./demo.json";

export interface DemoProject {
  readonly name: string;
  readonly branch: string;
  readonly model: string;
  readonly title: string;
  readonly prompt: string;
  readonly response: string;
  /** Tokens of the last request, which is the context in use, and of all requests. */
  readonly context: number;
  readonly total: number;
}

export interface DemoSession {
  readonly transcriptPath: string;
  event(name: string, fields?: JsonRecord): JsonRecord;
  start(): JsonRecord;
  prompt(text?: string): JsonRecord;
  stop(): JsonRecord;
  end(): JsonRecord;
  /** The three events of one tool call that has to be permitted. */
  call(
    tool: string,
    input: JsonRecord,
  ): { readonly before: JsonRecord; readonly request: JsonRecord; readonly after: JsonRecord };
  /** It gives the session its title, branch, model and tokens. */
  formatTranscript(at: number): string;
}

/** Fields that recorded payloads have in some events only. */
const eventsWithMode: ReadonlySet<string> = new Set([
  "UserPromptSubmit",
  "PreToolUse",
  "PermissionRequest",
  "PostToolUse",
  "Stop",
]);
const eventsWithEffort: ReadonlySet<string> = new Set([
  "PreToolUse",
  "PermissionRequest",
  "PostToolUse",
  "Stop",
  "StopFailure",
]);

/** An id that looks like one of the agent's, and is the same in every demo. */
const createId = (name: string, number: number): string => {
  let hash = 2_166_136_261;
  for (const char of name) hash = Math.imul(hash ^ char.charCodeAt(0), 16_777_619) >>> 0;
  return `${hash.toString(16).padStart(8, "0")}-6361-41fc-8069-${String(number).padStart(12, "0")}`;
};

/** `folder` stands for the agent's own folder; `countCall` numbers the tool calls of all sessions. */
export function createDemoSession(
  project: DemoProject,
  number: number,
  folder: string,
  countCall: () => number,
): DemoSession {
  const sessionId = createId(project.name, number);
  const cwd = `/home/demo/${project.name}`;
  const transcriptPath = `${folder}/projects/-home-demo-${project.name}/${sessionId}.jsonl`;
  let turn = 0;
  const event = (name: string, fields: JsonRecord = {}): JsonRecord => {
    if (name === "UserPromptSubmit") turn++;
    return {
      session_id: sessionId,
      transcript_path: transcriptPath,
      cwd,
      ...(name === "SessionStart" ? {} : { prompt_id: createId(`${sessionId} turn`, turn) }),
      ...(eventsWithMode.has(name) ? { permission_mode: "default" } : {}),
      ...(eventsWithEffort.has(name) ? { effort: { level: "medium" } } : {}),
      hook_event_name: name,
      ...fields,
    };
  };
  return {
    transcriptPath,
    event,
    start: () => event("SessionStart", { source: "startup", model: project.model }),
    prompt: (text = project.prompt) => event("UserPromptSubmit", { prompt: text }),
    stop: () =>
      event("Stop", {
        stop_hook_active: false,
        last_assistant_message: project.response,
        background_tasks: [],
        session_crons: [],
      }),
    end: () => event("SessionEnd", { reason: "prompt_input_exit" }),
    call(tool, input) {
      const use = { tool_name: tool, tool_input: input };
      const id = { tool_use_id: `toolu_demo${String(countCall()).padStart(16, "0")}` };
      return {
        before: event("PreToolUse", { ...use, ...id }),
        request: event("PermissionRequest", { ...use, ...suggestRules(tool, input) }),
        after: event("PostToolUse", { ...use, ...describeResult(tool, input), ...id, duration_ms: 900 }),
      };
    },
    formatTranscript: (at) => formatTranscript(project, sessionId, cwd, at),
  };
}

/** Questions and plans have no rules. */
function suggestRules(tool: string, input: JsonRecord): JsonRecord {
  if (tool === "AskUserQuestion" || tool === "ExitPlanMode") return {};
  if (tool !== "Bash")
    return { permission_suggestions: [{ type: "setMode", mode: "acceptEdits", destination: "session" }] };
  const rules = [{ toolName: tool, ruleContent: input.command }];
  return {
    permission_suggestions: [{ type: "addRules", rules, behavior: "allow", destination: "localSettings" }],
  };
}

/** What a tool returns, and its input if it is another one afterwards. */
function describeResult(tool: string, input: JsonRecord): JsonRecord {
  switch (tool) {
    case "Bash": {
      const output = { stdout: "", stderr: "", interrupted: false, isImage: false, noOutputExpected: false };
      return { tool_response: output };
    }
    case "AskUserQuestion": {
      const [asked] = demo.projects.notes.asks.input.questions;
      const answers = { [asked?.question ?? ""]: asked?.options[0]?.label };
      const answered = { ...input, answers, annotations: {} };
      return { tool_input: answered, tool_response: answered };
    }
    case "ExitPlanMode":
      return {
        tool_input: {},
        tool_response: { plan: input.plan, isAgent: false, filePath: input.planFilePath },
      };
    case "Read": {
      const file = { filePath: input.file_path, content: "", numLines: 1, startLine: 1, totalLines: 1 };
      return { tool_response: { type: "text", file } };
    }
    default: {
      const { file_path: filePath, old_string: oldString, new_string: newString } = input;
      return { tool_response: { filePath, oldString, newString, userModified: false, replaceAll: false } };
    }
  }
}

function formatTranscript(project: DemoProject, sessionId: string, cwd: string, at: number): string {
  const common = {
    sessionId,
    cwd,
    gitBranch: project.branch,
    timestamp: new Date(at).toISOString(),
    version: "2.1.325",
    isSidechain: false,
  };
  const rows = [0, 1].map((index) => ({
    ...common,
    type: "assistant",
    uuid: createId(`${project.name} row`, index),
    requestId: `req_demo_${project.name}_${index}`,
    message: {
      id: `msg_demo_${project.name}_${index}`,
      type: "message",
      role: "assistant",
      model: project.model,
      content: [{ type: "text", text: project.response }],
      usage: {
        input_tokens: 1_200,
        output_tokens: Math.round(project.total * 0.01),
        cache_creation_input_tokens: 4_000,
        cache_read_input_tokens: index === 0 ? project.total - project.context : project.context - 5_200,
      },
    },
  }));
  const title = { type: "ai-title", aiTitle: project.title, sessionId };
  return [...rows, title].map((row) => `${JSON.stringify(row)}\n`).join("");
}
