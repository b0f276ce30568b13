/**
 * An invented day for `beckon demo`. The payloads have exactly the fields of recorded ones (test/agents/claude/demo.test.ts compares
 * them); projects, prompts and texts are invented, and stand in demo.json.
 */
import type { JsonRecord } from "../../core/json.ts";
import type { CreateDemoDay, DemoDay, DemoStep } from "../agent.ts";
import demo from "./demo.json";

const second = 1_000;
const minute = 60 * second;
const day = 24 * 60 * minute;

interface Project {
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

const { commands, plan, question, taskSubjects } = demo;
const projects = demo.projects satisfies Record<string, Project>;

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

export const createClaudeDemoDay: CreateDemoDay = ({ now, folder }) => {
  const past: { at: number; payload: JsonRecord }[] = [];
  const files: { path: string; text: string }[] = [];
  let calls = 0;

  /** The events of one session. */
  function createSession(project: Project, number = 0) {
    const sessionId = createId(project.name, number);
    const cwd = `/home/demo/${project.name}`;
    const transcript = `${folder}/projects/-home-demo-${project.name}/${sessionId}.jsonl`;
    let turn = 0;
    const event = (name: string, fields: JsonRecord = {}): JsonRecord => {
      if (name === "UserPromptSubmit") turn++;
      return {
        session_id: sessionId,
        transcript_path: transcript,
        cwd,
        ...(name === "SessionStart" ? {} : { prompt_id: createId(`${sessionId} turn`, turn) }),
        ...(eventsWithMode.has(name) ? { permission_mode: "default" } : {}),
        ...(eventsWithEffort.has(name) ? { effort: { level: "medium" } } : {}),
        hook_event_name: name,
        ...fields,
      };
    };
    return {
      sessionId,
      transcript,
      event,
      start: () => event("SessionStart", { source: "startup", model: project.model }),
      prompt: (text: string = project.prompt) => event("UserPromptSubmit", { prompt: text }),
      stop: (text: string = project.response) =>
        event("Stop", {
          stop_hook_active: false,
          last_assistant_message: text,
          background_tasks: [],
          session_crons: [],
        }),
      end: () => event("SessionEnd", { reason: "prompt_input_exit" }),
      /** The three events of one tool call that has to be permitted. */
      call(tool: string, input: JsonRecord) {
        const use = { tool_name: tool, tool_input: input };
        const id = { tool_use_id: `toolu_demo${String(++calls).padStart(16, "0")}` };
        return {
          before: event("PreToolUse", { ...use, ...id }),
          request: event("PermissionRequest", { ...use, ...suggestRules(tool, input) }),
          after: event("PostToolUse", { ...use, ...describeResult(tool, input), ...id, duration_ms: 900 }),
        };
      },
    };
  }

  type DemoSession = ReturnType<typeof createSession>;

  const add = (at: number, ...payloads: JsonRecord[]): void => {
    for (const [index, payload] of payloads.entries()) past.push({ at: at + index, payload });
  };

  /** A request at `at` that the user answered in the terminal after `waitMs`. */
  function addAnswered(session: DemoSession, at: number, waitMs: number, command: string): void {
    const call = session.call("Bash", { command, description: "" });
    add(at, call.before, call.request);
    add(at + waitMs, call.after);
  }

  /** Turns of work, with the waits in between: minutes before now at which each turn starts and ends, and requests with their waits. */
  function addTurns(
    session: DemoSession,
    turns: readonly (readonly [
      from: number,
      to: number | null,
      waits?: readonly (readonly [number, number])[],
    ])[],
  ): void {
    const [first] = turns;
    if (first) add(now - first[0] * minute - second, session.start());
    for (const [from, to, waits = []] of turns) {
      add(now - from * minute, session.prompt());
      for (const [index, [ago, waited]] of waits.entries()) {
        addAnswered(session, now - ago * minute, waited * second, commands[index % commands.length] ?? "");
      }
      if (to !== null) add(now - to * minute, session.stop());
    }
  }

  /** The transcript gives the session its title, branch, model and tokens. */
  function addTranscript(session: DemoSession, project: Project): void {
    const common = {
      sessionId: session.sessionId,
      cwd: `/home/demo/${project.name}`,
      gitBranch: project.branch,
      timestamp: new Date(now - minute).toISOString(),
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
    const title = { type: "ai-title", aiTitle: project.title, sessionId: session.sessionId };
    const text = [...rows, title].map((row) => `${JSON.stringify(row)}\n`).join("");
    files.push({ path: session.transcript, text });
  }

  const open = Object.fromEntries(
    Object.entries(projects).map(([name, project]) => {
      const session = createSession(project);
      addTranscript(session, project);
      return [name, session];
    }),
  ) as Record<keyof typeof projects, DemoSession>;

  // Two weeks of waits. Weekends are short.
  for (let ago = 13; ago >= 1; ago--) {
    const isShort = ago % 7 === 3 || ago % 7 === 4;
    for (let number = 0; number < (isShort ? 1 : 5); number++) {
      const project = Object.values(projects)[(ago + number * 3) % 10] ?? projects.checkout;
      const session = createSession(project, ago * 10 + number);
      const start = now - ago * day - number * 40 * minute;
      add(start, session.start(), session.prompt());
      for (let ask = 0; ask < 3; ask++) {
        const waitMs = (15 + ((ago * 37 + number * 53 + ask * 71) % 260)) * second;
        const command = commands[(ago + number + ask) % commands.length] ?? "";
        addAnswered(session, start + (ask + 1) * 6 * minute, waitMs, command);
      }
      add(start + 30 * minute, session.stop());
      add(start + 31 * minute, session.end());
    }
  }

  // Today.
  addTurns(open.checkout, [
    [350, 301],
    [
      284,
      124,
      [
        [252, 240],
        [176, 210],
      ],
    ],
    [71, null],
  ]);
  addTurns(open.notes, [
    [320, 292],
    [208, 162, [[207, 60]]],
    [48, null],
  ]);
  addTurns(open.infra, [
    [270, 182, [[224, 240]]],
    [30, null],
  ]);
  addTurns(open.docs, [
    [330, 274, [[306, 180]]],
    [42, null],
  ]);
  addTurns(open.search, [[112, null]]);
  addTurns(open.mobile, [
    [387, 168, [[278, 420]]],
    [82, null],
  ]);
  addTurns(open.landing, [
    [372, 341],
    [262, 200, [[229, 30]]],
    [62, null],
  ]);
  addTurns(open.billing, [
    [202, 90, [[147, 210]]],
    [24, null],
  ]);
  addTurns(open.tokens, [
    [302, 260],
    [106, 2],
  ]);
  addTurns(open.runbooks, [[192, 102, [[154, 60]]]]);
  add(
    now - 6 * minute,
    open.billing.event("StopFailure", {
      error: "overloaded",
      last_assistant_message: "API Error: 529 Overloaded",
    }),
  );
  add(
    now - 4 * minute,
    open.mobile.event("SubagentStart", { agent_id: "a22dfd697b05c255f", agent_type: "test-runner" }),
    open.mobile.event("SubagentStart", { agent_id: "a7be0d2440aa5d10f", agent_type: "Explore" }),
    open.search.event("SubagentStart", { agent_id: "a5b1c9e77c77e01f3", agent_type: "general-purpose" }),
  );
  for (const [session, done, subjects] of [
    [open.checkout, 3, taskSubjects.checkout],
    [open.mobile, 6, taskSubjects.mobile],
    [open.landing, 4, taskSubjects.landing],
  ] as const) {
    for (const [index, task_subject] of subjects.entries()) {
      const fields = { task_id: String(index + 1), task_subject };
      add(now - 20 * minute, session.event("TaskCreated", fields));
      if (index < done) add(now - 15 * minute, session.event("TaskCompleted", fields));
    }
  }

  return {
    env: { CLAUDE_CODE_SESSION_ATTENDED: "1", CLAUDE_CODE_ENTRYPOINT: "cli" },
    files,
    past: past.sort((a, b) => a.at - b.at),
    isAllowed: (output) => /"behavior":\s*"allow"/.test(output),
    sessions: createLiveSessions(open),
  } satisfies DemoDay;
};

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
      const answered = {
        ...input,
        answers: { [question.questions[0]?.question ?? ""]: "SQLite" },
        annotations: {},
      };
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

interface LiveSession {
  event(name: string, fields?: JsonRecord): JsonRecord;
  prompt(text?: string): JsonRecord;
  stop(text?: string): JsonRecord;
  call(
    tool: string,
    input: JsonRecord,
  ): { readonly before: JsonRecord; readonly request: JsonRecord; readonly after: JsonRecord };
}

/** Long enough to look around. */
const patientMs = 10 * minute;

function createLiveSessions(open: Readonly<Record<keyof typeof projects, LiveSession>>): DemoDay["sessions"] {
  /** Works, asks, waits, works again and rests. */
  const asking =
    (session: LiveSession, firstMs: number, waitMs: number, tool: string, input: JsonRecord) =>
    (round: number): readonly DemoStep[] => {
      const work = session.call("Read", { file_path: "/home/demo/README.md" });
      const call = session.call(tool, input);
      return [
        ...(round === 0 ? [] : [{ afterMs: 20 * second, payload: session.prompt("and again, please") }]),
        { afterMs: round === 0 ? firstMs : 8 * second, payload: work.before },
        { afterMs: 2 * second, payload: work.after },
        { afterMs: second, payload: call.before },
        { afterMs: 50, payload: call.request, waitMs },
        { afterMs: 500, payload: call.after, onlyIfAllowed: true },
        { afterMs: 25 * second, payload: session.stop() },
      ];
    };
  /** Works without a question. */
  const working =
    (session: LiveSession, texts: readonly string[]) =>
    (round: number): readonly DemoStep[] =>
      texts.flatMap((command, index) => {
        const call = session.call("Bash", { command, description: "" });
        return [
          { afterMs: (3 + ((round + index) % 4)) * second, payload: call.before },
          { afterMs: (4 + ((round + index * 2) % 5)) * second, payload: call.after },
        ];
      });
  return [
    {
      createSteps: asking(open.checkout, 1_000, patientMs, "Bash", {
        command: "npm run migrate -- --env staging && rm -rf ../dist-old",
        description: "",
      }),
    },
    { createSteps: asking(open.notes, 3_000, patientMs, "AskUserQuestion", question) },
    {
      createSteps: asking(open.infra, 6_000, 90 * second, "Edit", {
        file_path: "/home/demo/infra/terraform/network.tf",
        old_string: 'ingress {\n  from_port = 8443\n  cidr_blocks = ["0.0.0.0/0"]\n}',
        new_string:
          'ingress {\n  from_port = 8443\n  description = "office only"\n  cidr_blocks = [var.office_range]\n}',
      }),
    },
    { createSteps: asking(open.docs, 12_000, patientMs, "ExitPlanMode", plan) },
    { createSteps: working(open.search, ["cargo bench --bench postings", "cargo test -p index"]) },
    {
      createSteps: working(open.mobile, [
        "npm run test:device -- --shard 2/4",
        "npx tsc --noEmit",
        "npm run bundle",
      ]),
    },
    {
      createSteps: asking(open.landing, 25_000, 40 * second, "Bash", {
        command: "npx playwright test --project=mobile",
        description: "",
      }),
    },
  ];
}
