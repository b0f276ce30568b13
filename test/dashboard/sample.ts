/** A day of invented sessions, as the API would send it: for pictures and for states that are hard to reach. */
import type {
  HistoryItem,
  HistoryPage,
  Lanes,
  PastMoment,
  PortView,
  RulesReport,
  Span,
  Stats,
  StoryPage,
  StoryQuery,
  TeamView,
  TranscriptPage,
} from "../../src/core/interfaces/wire.ts";
import type { AskDetails } from "../../src/core/session/ask-details.ts";
import { viewKeyOf } from "../../src/core/session/session-ref.ts";
import type { AskView, ChildView, SessionView } from "../../src/core/view/session-view.ts";
import type { PageMachine } from "../../src/dashboard/page/types.ts";
import { createHostileStory, createStory, sampleTranscript } from "./sample-story.ts";

export interface Sample {
  readonly now: number;
  readonly sessions: readonly SessionView[];
  readonly lanes: Lanes;
  readonly stats: Stats;
  readonly history: HistoryPage;
  readonly story: (query: StoryQuery) => StoryPage;
  readonly transcript?: TranscriptPage;
  readonly ports?: readonly PortView[];
  readonly machines?: readonly PageMachine[];
  readonly teams?: readonly TeamView[];
  /** What the page shows of a moment of the past. */
  readonly moment?: (at: number) => PastMoment;
  readonly rules?: RulesReport;
}

const minute = 60_000;
const noon = new Date(2026, 10, 17, 14, 32, 4).getTime();

const agentId = "claude";

function createSession(fields: Partial<SessionView> & { readonly project: string }): SessionView {
  const since = fields.since ?? noon - 5 * minute;
  return {
    machine: null,
    reachable: true,
    provider: agentId,
    sessionId: `${fields.project}-${fields.gitBranch ?? "main"}-0d9c41aa`,
    state: "active",
    group: "working",
    activityPhase: "busy",
    evidence: "proven",
    status: { kind: "working", detail: "Thinking" },
    error: null,
    died: false,
    asks: [],
    children: [],
    cwd: `/home/dev/${fields.project}`,
    gitBranch: "main",
    title: null,
    model: "claude-opus-4-5-20251101",
    tokens: null,
    costUsd: null,
    context: null,
    rateLimits: null,
    tasks: null,
    permissionMode: "default",
    startSource: "startup",
    endReason: null,
    transcriptPath: `/home/dev/.claude/projects/-home-dev-${fields.project}/0d9c41aa.jsonl`,
    turnCount: 14,
    lastPrompt: null,
    lastResponse: null,
    currentSkill: null,
    port: null,
    terminal: "tmux %4",
    place: {
      local: true,
      pid: 4711,
      procStart: "1",
      tty: "/dev/pts/7",
      terminalSessionId: null,
      env: { TMUX: "/tmp/tmux-1000/default,1,0", TMUX_PANE: "%4" },
    },
    fingerprint: null,
    attach: null,
    attended: true,
    startedAt: noon - 350 * minute,
    lastEventAt: since,
    ...fields,
    since,
  };
}

const taskSubjects = [
  "Read how it works today",
  "Write the new version beside the old one",
  "Move the callers, one module at a time",
  "Delete the old version",
  "Test what happens at midnight",
  "Measure it again",
  "Describe it in the guide",
];

function createTasks(done: number, total: number) {
  const list = Array.from({ length: total }, (_, index) => ({
    subject: taskSubjects[index % taskSubjects.length] ?? "",
    status:
      index < done
        ? ("completed" as const)
        : index === done
          ? ("in_progress" as const)
          : ("pending" as const),
  }));
  return { done, total, list };
}

const usage = (total: number, costUsd: number | null, percent: number, tasks?: [number, number]) => ({
  tokens: {
    input: total * 0.02,
    output: total * 0.08,
    cacheRead: total * 0.9,
    cacheWrite: 0,
    cached: total * 0.9,
  },
  costUsd,
  context: { used: percent * 2_000, window: 200_000 },
  ...(tasks ? { tasks: createTasks(...tasks) } : {}),
});

const details = (fields: Partial<AskDetails>): AskDetails => ({
  kind: "permission",
  tool: "Bash",
  heading: "Run a command",
  isGenericHeading: true,
  startsWithSubject: true,
  lines: [],
  isWhole: true,
  dangers: [],
  always: [],
  questions: [],
  ...fields,
});

function createAsk(id: string, openedAt: number, fields: Partial<AskView>): AskView {
  return {
    id,
    kind: "permission",
    agentId: null,
    tool: "Bash",
    summary: "",
    options: [],
    openedAt,
    answerable: fields.asked !== undefined,
    ...(fields.asked ? { answerId: `${id}.secret` } : {}),
    ...fields,
  };
}

function needsYou(
  project: string,
  waitedMs: number,
  ask: Partial<AskView>,
  fields: Partial<SessionView>,
): SessionView {
  const since = noon - waitedMs;
  return createSession({
    group: "needs_you",
    activityPhase: "waiting_permission",
    status: { kind: "attention", detail: null },
    asks: [createAsk("ask-1", since, ask)],
    ...fields,
    project,
    since,
  });
}

const child = (name: string, fields: Partial<ChildView>): ChildView => ({
  agentId: name.toLowerCase(),
  parentSessionId: "",
  name,
  type: name,
  state: "running",
  detail: null,
  startedAt: noon - 4 * minute,
  endedAt: null,
  model: null,
  tokens: null,
  costUsd: null,
  context: null,
  transcriptPath: null,
  ...fields,
});
const childTokens = (total: number) => ({
  tokens: { input: total, output: 0, cacheRead: 0, cacheWrite: 0, cached: 0 },
});

const command = "npm run migrate -- --env staging && rm -rf dist-old";
const plan = [
  "# One page per task",
  "",
  "1. List the tasks people come with: 9 of them.",
  "2. Move each section to the page of its task.",
  "3. Keep every old address as a redirect.",
  "4. Check all 214 links, inside and out.",
  "5. Cut what no task needs, in one commit.",
  "",
  "## The nine tasks",
  "",
  ...[
    "install",
    "connect an agent",
    "answer",
    "go to a terminal",
    "quiet hours",
    "search",
    "remote machines",
    "phones",
    "repair",
  ].map((task) => `- ${task}`),
];

const waiting: readonly SessionView[] = [
  needsYou(
    "checkout-api",
    401_000,
    {
      summary: command,
      asked: details({ lines: [command], dangers: ["deletes without asking (rm -rf)"] }),
      dangers: ["deletes without asking (rm -rf)"],
    },
    {
      title: "Move the orders to the new schema",
      lastResponse: "The dry run is clean: 41 rows to move.",
      ...usage(1_900_000, 4.18, 62, [3, 7]),
    },
  ),
  needsYou(
    "notes",
    188_000,
    {
      kind: "question",
      tool: "AskUserQuestion",
      summary: "Which database should the new service use?",
      asked: details({
        kind: "question",
        tool: "AskUserQuestion",
        heading: "Answer a question",
        questions: [
          {
            header: "Database",
            question: "Which database should the new service use?",
            options: [
              { label: "SQLite", description: "One file, nothing to run; one writer at a time" },
              { label: "Postgres", description: "Grows with you; one more server to keep" },
            ],
            isMultiple: false,
          },
        ],
      }),
    },
    { gitBranch: "redesign", model: "claude-sonnet-4-5-20250929", ...usage(402_000, 0.86, 31, [1, 4]) },
  ),
  needsYou(
    "infra",
    112_000,
    {
      tool: "Edit",
      summary: "terraform/network.tf",
      asked: {
        kind: "permission",
        tool: "Edit",
        heading: "Edit terraform/network.tf",
        lines: [
          "  ingress {",
          "    from_port = 8443",
          '-   cidr_blocks = ["0.0.0.0/0"]',
          '+   description = "office only"',
          "+   cidr_blocks = [var.office_range]",
          "  }",
        ],
        isWhole: true,
        dangers: [],
        always: ["Always allow Edit in terraform/, for you", "Allow all edits in this session"],
        questions: [],
      },
    },
    { ...usage(618_000, null, 44) },
  ),
  needsYou(
    "docs",
    48_000,
    {
      kind: "plan",
      tool: "ExitPlanMode",
      summary: "# One page per task",
      asked: details({ kind: "plan", tool: "ExitPlanMode", heading: "Approve a plan", lines: plan }),
    },
    { gitBranch: "guide-split", ...usage(1_100_000, 2.3, 88) },
  ),
  needsYou(
    "search-index",
    21_000,
    {
      tool: "WebFetch",
      agentId: "general-purpose",
      summary: "https://example.org/roaring/format",
      why: "a subagent asks, and the agent would not show its dialog while beckon waits for you",
    },
    {
      model: "claude-sonnet-4-5-20250929",
      ...usage(2_200_000, 3.02, 57, [2, 5]),
      children: [
        child("general-purpose", {
          detail: "WebFetch: https://example.org/roaring/format",
          startedAt: noon - 21_000,
          ...childTokens(310_000),
        }),
        child("Explore", {
          detail: "Grep: PostingList",
          startedAt: noon - 2 * minute,
          ...childTokens(184_000),
        }),
        child("Plan", {
          state: "ended",
          detail: "Delta coding saves 38 %.",
          startedAt: noon - 9 * minute,
          endedAt: noon - 3 * minute,
          ...childTokens(96_000),
        }),
      ],
    },
  ),
];

const working: readonly SessionView[] = [
  createSession({
    project: "mobile-app",
    gitBranch: "release-4.2",
    since: noon - 22 * minute,
    status: { kind: "working", detail: "Task: 2 subagents" },
    lastResponse: "The build is green on both platforms; the release notes come next.",
    ...usage(3_800_000, 7.61, 91, [6, 9]),
    children: [
      child("test-runner", { detail: "Bash: npm run test:device -- --shard 2/4", ...childTokens(141_000) }),
      child("Explore", { detail: "Read: CHANGELOG.md", startedAt: noon - 35_000, ...childTokens(22_000) }),
    ],
  }),
  createSession({
    project: "landing-page",
    gitBranch: "hero-copy",
    model: "claude-sonnet-4-5-20250929",
    since: noon - 9 * minute,
    status: { kind: "working", detail: "Bash: npx playwright test --project=mobile" },
    lastResponse: "Two headlines are too long for 390 px. I shorten them.",
    ...usage(540_000, 1.12, 38, [4, 6]),
  }),
  createSession({
    project: "infra",
    gitBranch: "drift-report",
    evidence: "inferred",
    since: noon - 4 * minute,
    status: { kind: "working", detail: "Bash: terraform plan -detailed-exitcode" },
    lastResponse: "14 of 22 modules are as planned.",
    ...usage(255_000, null, 23),
  }),
  createSession({
    project: "checkout-web",
    gitBranch: "cart-total",
    model: "claude-sonnet-4-5-20250929",
    since: noon - 51_000,
    lastResponse: "The total is summed before rounding in one place and after it in another.",
    ...usage(214_000, 0.47, 19, [2, 3]),
  }),
];

const quietOnes: readonly SessionView[] = [
  createSession({
    project: "billing",
    group: "failed",
    activityPhase: "interactable",
    error: "API Error: 529 Overloaded",
    status: { kind: "idle", detail: "API Error: 529 Overloaded" },
    since: noon - 6 * minute,
    lastResponse: "Now the rounding: half up, per line, as the law wants it.",
    ...usage(1_600_000, 3.44, 71, [5, 6]),
  }),
  createSession({
    project: "scratch",
    group: "set_aside",
    silence: "snoozed until 15:00",
    silenceKind: "snoozed",
  }),
  ...(
    [
      [
        "design-tokens",
        "claude-haiku-4-5-20251001",
        2,
        "Renamed 64 tokens; nothing else refers to the old names.",
        "rename the greys by what they are for",
        88_000,
        0.09,
        12,
      ],
      [
        "runbooks",
        "claude-sonnet-4-5-20250929",
        102,
        "The on-call page has a section for each alert now.",
        "every alert needs a first step",
        470_000,
        0.98,
        47,
      ],
      [
        "playground",
        "claude-sonnet-4-5-20250929",
        120,
        "Done. The sketch is in sketch.html.",
        "a clock made of squares",
        41_000,
        0.12,
        5,
      ],
    ] as const
  ).map(([project, model, minutes, lastResponse, lastPrompt, total, cost, percent]) =>
    createSession({
      project,
      model,
      group: "ready",
      activityPhase: "interactable",
      status: { kind: "idle", detail: null },
      since: noon - minutes * minute,
      lastResponse,
      lastPrompt,
      ...usage(total, cost, percent, project === "runbooks" ? [4, 4] : undefined),
    }),
  ),
  ...["data-import", "wiki", "vault", "tax", "sync", "uploads"].map((project, index) =>
    createSession({
      project,
      group: "ended",
      state: "completed",
      activityPhase: null,
      status: { kind: "idle", detail: null },
      endReason: "logout",
      since: noon - (34 + index * 40) * minute,
      lastResponse: "Imported 1,204 rows.",
    }),
  ),
];

const keyOf = ({ provider, sessionId }: SessionView) => `${provider}:${sessionId}`;

/** "8:42 working 9:31 ready …": times of the day and what starts then. */
function createSpans(text: string): Span[] {
  const parts = text.split(" ");
  const at = (time: string) => {
    const [hours = 0, minutes = 0, seconds = 0] = time.split(":").map(Number);
    return new Date(2026, 10, 17, hours, minutes, seconds).getTime();
  };
  const spans: Span[] = [];
  for (let index = 0; index + 1 < parts.length; index += 2) {
    const state = parts[index + 1];
    const end = parts[index + 2];
    if (state !== "end")
      spans.push({
        state: state as Span["state"],
        from: at(parts[index] ?? ""),
        to: end === undefined ? null : at(end),
      });
  }
  return spans;
}

const laneTexts: Readonly<Record<string, string>> = {
  "checkout-api":
    "8:42 working 9:31 ready 9:48 working 10:20 waiting 10:24 working 11:36 waiting 11:39:30 working 12:28 ready 13:21 working 14:25:23 waiting",
  notes:
    "9:12 working 9:40 ready 11:04 working 11:05 waiting 11:06 working 11:50 ready 13:44 working 14:28:56 waiting",
  "infra main": "10:02 working 10:48 waiting 10:52 working 11:30 ready 14:02 working 14:30:12 waiting",
  docs: "8:10 ready 9:02 working 9:26 waiting 9:29 working 9:58 ready 13:50 working 14:31:16 waiting",
  "search-index": "12:40 working 14:31:43 waiting",
  billing: "11:10 working 12:05 waiting 12:08:30 working 13:02 ready 14:08 working 14:25:40 failed",
  "landing-page":
    "8:20 working 8:51 ready 10:10 working 10:43 waiting 10:43:30 working 11:12 ready 13:30 working",
  "checkout-web": "13:05 working 13:46 waiting 13:46:48 working",
  "mobile-app": "8:05 working 8:39 failed 8:52 working 9:54 waiting 10:01 working 11:44 ready 13:10 working",
  "infra drift-report": "13:58 working",
  "design-tokens": "9:30 working 10:12 ready 12:46 working 14:30 ready",
  runbooks: "11:20 working 11:58 waiting 11:59 working 12:50 ready",
  "data-import": "8:30 working 9:50 waiting 9:52 working 13:20 ready 13:58 end",
};

const rateLimits: SessionView["rateLimits"] = {
  fiveHour: { usedPercent: 82.4, resetsAt: noon + 33 * minute },
  sevenDay: { usedPercent: 41, resetsAt: noon + 4_000 * minute },
};

const sessions: readonly SessionView[] = [
  ...waiting,
  ...working.map((session) => (session.provider === agentId ? { ...session, rateLimits } : session)),
  ...quietOnes,
];

const waitedOf = (spans: readonly Span[]) =>
  spans
    .filter(({ state }) => state === "waiting")
    .reduce((sum, { from, to }) => sum + (to ?? noon) - from, 0);

const laneList = sessions.map((session) => {
  const { project, gitBranch, title, group } = session;
  const spans = createSpans(laneTexts[`${project} ${gitBranch}`] ?? laneTexts[project ?? ""] ?? "");
  const { fingerprint } = session;
  return {
    key: keyOf(session),
    project,
    branch: gitBranch,
    title,
    group,
    fingerprint,
    waitedMs: waitedOf(spans),
    spans,
  };
});

const waits = laneList
  .flatMap(({ spans }) => spans.filter(({ state }) => state === "waiting"))
  .sort((a, b) => a.from - b.from);

const dayMinutes = [31, 52, 0, 6, 64, 48, 71, 39, 58, 0, 12, 55, 29, 42];

const historyRows: readonly [
  time: string,
  project: string,
  kind: HistoryItem["kind"],
  text: string,
  how: HistoryItem["how"],
  where: string | null,
  waited: number | null,
][] = [
  ["14:25:40", "billing", "failed", "API Error: 529 Overloaded", null, null, null],
  ["13:47:02", "checkout-web", "permission", "Bash: npm install decimal.js", "denied", "page", 48_000],
  ["12:05:11", "billing", "permission", "Bash: npm publish --dry-run", "allowed", "page", 210_000],
  [
    "11:36:00",
    "checkout-api",
    "plan",
    "Move the orders to the new schema (npm run migrate …)",
    "approved",
    "terminal",
    210_000,
  ],
  ["10:20:44", "checkout-api", "permission", "Bash: npm run test:e2e", "always", "notification", 240_000],
  ["10:18:09", "checkout-api", "permission", "Bash: npm ls --depth=0", "rule", "rule", 0],
  ["9:50:12", "data-import", "prompt", "run npm run import again with the new dates", null, null, null],
  ["9:26:30", "docs", "question", "npm, pnpm or yarn?", "replied", "menu", 12_000],
];

export const liveDay: Sample = {
  now: noon,
  story: createStory,
  transcript: sampleTranscript,
  sessions,
  lanes: {
    enabled: true,
    from: new Date(2026, 10, 17).getTime(),
    to: noon,
    lanes: laneList.filter(({ spans }) => spans.length > 0),
    anyWaiting: waits.map(({ from, to }) => ({ from, to })),
  },
  stats: {
    enabled: true,
    now: noon,
    today: {
      waitedMs: 42 * minute,
      asks: 29,
      medianMs: 38_000,
      longest: {
        ms: 401_000,
        from: noon - 401_000,
        key: keyOf(sessions[0] as SessionView),
        project: "checkout-api",
        open: true,
      },
      byRules: 64,
      tokens: 14_900_000,
      costUsd: 27.31,
    },
    days: dayMinutes.map((minutes, index) => ({
      date: `2026-11-${String(4 + index).padStart(2, "0")}`,
      waitedMs: minutes * minute,
      asks: Math.round(minutes / 1.5),
      medianMs: minutes === 0 ? null : 44_000,
      tokens: 1_000_000,
      costUsd: 2,
    })),
    projects: (
      [
        ["infra", 96, 6, 31, 64],
        ["mobile-app", 84, 6, 22, 52],
        ["checkout-api", 71, 14, 40, 36],
        ["billing", 58, 4, 12, 131],
        ["notes", 37, 4, 19, 28],
        ["docs", 31, 2, 14, 30],
        ["landing-page", 30, 1, 12, 25],
        ["runbooks", 25, 1, 9, 40],
      ] as const
    ).map(([project, minutes, today, asks, median]) => ({
      project,
      waitedMs: minutes * minute,
      todayMs: today * minute,
      asks,
      medianMs: median * 1_000,
      tokens: 1_000_000,
      costUsd: 2,
    })),
  },
  history: {
    enabled: true,
    total: 4_218,
    next: "100",
    items: historyRows.map(([time, project, kind, text, how, where, waitedMs], index) => {
      const [hours, minutes, seconds] = time.split(":").map(Number);
      return {
        id: String(index),
        at: new Date(2026, 10, 17, hours, minutes, seconds).getTime(),
        key: keyOf(sessions.find((session) => session.project === project) ?? (sessions[0] as SessionView)),
        provider: agentId,
        project,
        branch: "main",
        kind,
        text,
        how,
        where,
        waitedMs,
        severity: kind === "failed" ? "error" : "info",
      };
    }),
  },
};

const shop = "/home/dev/checkout-api";

const createPort = (
  id: string,
  title: string,
  fields: Partial<PortView> & Pick<PortView, "status">,
): PortView => ({
  ...{ project: shop, id, title, dependsOn: [], openDependencies: [], isForEverybody: false },
  ...{ createdAt: noon - 90 * minute, endedAt: null, note: null, ...fields },
});

const portFigures = (
  [
    ["passkeys", "Log in with a passkey", 184, 21, 6_400_000, 12.4],
    ["session-store", "Keep sessions in Redis", 52, 3, 910_000, null],
    ["rate-limits", "Limit requests by account", 96, 12, 2_100_000, 3.87],
  ] as const
).map(([port, title, worked, waited, tokens, costUsd]) => ({
  ...{ project: shop, port, title, workedMs: worked * minute, waitedMs: waited * minute },
  ...{ sessions: 2, tokens, costUsd, lastAt: noon - 10 * minute },
}));

/** The work guard is on in one project. */
/** The same sessions twelve minutes ago: what asks now worked then, and two others waited. */
export const rewoundDay: Sample = {
  ...liveDay,
  moment(at) {
    const [first, second] = sessions.filter(({ group }) => group === "working");
    const asked = new Map(
      [first, second].flatMap((session, index) =>
        session
          ? [[keyOf(session), createPastAsk(session, at - (index === 0 ? 130_000 : 40_000))] as const]
          : [],
      ),
    );
    const then = sessions
      .filter(({ startedAt }) => startedAt <= at)
      .map((session): SessionView => {
        const ask = asked.get(keyOf(session));
        if (ask) return { ...session, group: "needs_you", since: ask.openedAt, asks: [ask] };
        if (session.group !== "needs_you") return { ...session, since: Math.min(session.since, at - minute) };
        const status = { kind: "working", detail: "Edit src/rounding.ts" } as const;
        return { ...session, group: "working", status, asks: [], since: at - 9 * minute };
      });
    const keys = [...asked].map(([key, { id }]) => ({ key, ask: id }));
    const end = { waitedMs: 350_000, how: "approved", where: "page", detail: null } as const;
    const open = { closedAt: null, waitedMs: null, how: null, where: null, detail: null };
    return {
      enabled: true,
      at,
      now: noon,
      from: noon - 7 * 24 * 60 * minute,
      isKnown: true,
      sessions: then,
      ends: keys.map((about, index) => ({
        ...about,
        ...(index === 0 ? { ...end, closedAt: at + 220_000 } : open),
      })),
      alerts: keys.map((about, index) => ({
        ...about,
        at: at - 30_000,
        what: index === 0 ? ("not shown" as const) : ("shown" as const),
        outcome: index === 0 ? "you are looking at it" : "alert shown",
      })),
    };
  },
};

function createPastAsk({ project }: SessionView, openedAt: number): AskView {
  const isPlan = openedAt % 2 === 0;
  return {
    id: `${project}-1`,
    kind: isPlan ? "plan" : "permission",
    agentId: null,
    tool: isPlan ? null : "Bash",
    summary: isPlan ? "One page per task" : "npm run migrate -- --env staging --dry-run",
    options: [],
    openedAt,
    answerable: false,
  };
}

export const guardedDay: Sample = {
  ...liveDay,
  sessions: sessions.map((session, index) =>
    index < 2
      ? {
          ...session,
          port: { id: "passkeys", title: "Log in with a passkey", project: shop, since: noon - 64 * minute },
        }
      : session,
  ),
  stats: { ...liveDay.stats, ports: portFigures },
  ports: [
    createPort("passkeys", "Log in with a passkey", { status: "running" }),
    createPort("session-store", "Keep sessions in Redis", { status: "running", isForEverybody: true }),
    createPort("logout", "Log out everywhere, on all devices of a user, within a second of the click", {
      status: "open",
      dependsOn: ["passkeys", "session-store"],
      openDependencies: ["passkeys", "session-store"],
    }),
    createPort("rate-limits", "Limit requests by account", {
      ...{ status: "ended", endedAt: noon - 50 * minute, note: "also for tokens of the API" },
    }),
  ],
};

/** Two sessions change the same files, and one may be stuck. */
export const collidingDay: Sample = {
  ...liveDay,
  sessions: sessions.map((session) => {
    const other = {
      machine: null,
      agent: "codex",
      sessionId: "x",
      project: "checkout-api",
      at: noon - 2 * minute,
    };
    const path = (name: string) => `${session.cwd}/${name}`;
    const working = sessions.filter(({ group }) => group === "working").indexOf(session);
    const waiting = sessions.filter(({ group }) => group === "needs_you").indexOf(session);
    const edit = session.asks.find(({ asked }) => asked?.heading.startsWith("Edit "));
    if (edit?.asked) {
      const { lines } = edit.asked;
      const others = [
        "⟨not committed, changed by codex in checkout-api⟩",
        "⟨line 41⟩",
        '-   description = "office"',
        '+   description = "office and home"',
        "⟨line 58⟩",
        "+   revoke_rules_on_delete = true",
      ];
      const asked = { ...edit.asked, lines: [...lines, ...others], otherChangesAt: lines.length };
      return {
        ...session,
        asks: session.asks.map((ask) => (ask === edit ? { ...ask, asked } : ask)),
        sharedFiles: [{ ...other, path: path("terraform/network.tf") }],
      };
    }
    if (working === 0 || waiting === 0)
      return { ...session, sharedFiles: [{ ...other, path: path("src/cart.ts") }] };
    if (working === 1)
      return {
        ...session,
        stuck: { kind: "repeats", since: noon - 3 * minute, last: "Bash: npm test -- cart", count: 3 },
        sharedFiles: ["src/cart.ts", "src/order.ts", "src/tax.ts", "README.md"].map((name) => ({
          ...{ ...other, agent: "claude", at: noon - 61 * minute },
          path: path(name),
        })),
      };
    return working === 2
      ? { ...session, stuck: { kind: "silent", since: noon - 16 * minute, last: "Bash: npm run build" } }
      : session;
  }),
};

export const calmDay: Sample = {
  ...liveDay,
  sessions: sessions.map((session) =>
    session.group === "needs_you"
      ? {
          ...session,
          group: "working",
          asks: [],
          status: { kind: "working", detail: "Bash: npm run migrate -- --env staging" },
        }
      : session,
  ),
};

const none = { waitedMs: 0, asks: 0, medianMs: null, tokens: 0, costUsd: null };

export const emptyDay: Sample = {
  now: noon,
  sessions: [],
  lanes: { ...liveDay.lanes, lanes: [], anyWaiting: [] },
  stats: { enabled: true, now: noon, today: { ...none, longest: null, byRules: 0 }, days: [], projects: [] },
  history: { enabled: true, total: 0, next: null, items: [] },
  story: () => ({ enabled: true, threads: [], days: [], next: null }),
};

export const historyOffDay: Sample = {
  ...liveDay,
  lanes: { ...emptyDay.lanes, enabled: false },
  stats: { ...emptyDay.stats, enabled: false },
  history: { ...emptyDay.history, enabled: false },
  story: () => ({ enabled: false, threads: [], days: [], next: null }),
};

const manyProjects =
  "api-gateway auth billing-worker blog cart catalog cms events-hub feature-flags geo-lookup iam image-resize inventory jobs ledger mailer maps media metrics notify onboarding orders payments pdf-render pricing profile queue rate-limit receipts reports scheduler sessions shipping storefront telemetry translate webhooks".split(
    " ",
  );
const manyDetails = [
  "Bash: npm test -- --changed",
  "Edit: src/server/routes.ts",
  "Thinking",
  "Read: package.json",
  "Bash: cargo clippy --all-targets",
  "Compacting",
];

export const manyDay: Sample = {
  ...liveDay,
  sessions: [
    ...sessions,
    ...Array.from({ length: 200 - sessions.length }, (_, index) => {
      const group = index < 2 ? "failed" : index < 40 ? "working" : index < 95 ? "ready" : "ended";
      return createSession({
        project: manyProjects[index % manyProjects.length] ?? "",
        sessionId: `many-${index}`,
        gitBranch: ["main", "fix/rounding", "retry-queue", "next"][index % 4] ?? "main",
        group,
        state: group === "ended" ? "completed" : "active",
        died: group === "failed",
        status: {
          kind: group === "working" ? "working" : "idle",
          detail: group === "working" ? (manyDetails[index % 6] ?? "") : null,
        },
        since: noon - (index + 1) * minute,
        lastResponse: "Done. All 212 tests pass.",
        lastPrompt: "make it pass",
        ...usage(90_000 + index * 1_000, 0.4 + index / 50, (index * 7) % 95, [index % 5, 7]),
      });
    }),
  ],
};

const at = (hour: number, minutes: number) => new Date(2026, 10, 17, hour, minutes).getTime();

const machines: readonly PageMachine[] = [
  {
    name: "build-box",
    way: "ssh",
    target: "build-box",
    state: "not linked",
    problem: "ssh: connect to host build-box port 22: No route to host. It is tried again by itself.",
    since: at(14, 2),
  },
  {
    name: "devcontainer",
    way: "container",
    target: "shop-dev",
    state: "linked",
    problem: null,
    since: at(9, 12),
  },
  {
    name: "gpu-lab-frankfurt-2.internal.example",
    way: "ssh",
    target: "me@gpu-lab-frankfurt-2.internal.example",
    state: "linked",
    problem: null,
    since: at(11, 40),
  },
];
const [lostMachine, container, longNamed] = machines.map(({ name }) => name);

/** As it was when its machine was lost. */
function loseSession(session: SessionView): SessionView {
  const isAsking = session.group === "needs_you";
  return {
    ...session,
    machine: lostMachine ?? "",
    reachable: false,
    transcriptPath: null,
    unreachableSince: at(14, 2),
    silence: "not reachable since 14:02",
    silenceKind: "unreachable",
    group: isAsking ? "set_aside" : session.group,
    asks: session.asks.map(({ asked: _, answerId: __, ...ask }) => ({
      ...ask,
      answerable: false,
      why: `${lostMachine} cannot be reached`,
    })),
  };
}

/** Most of the day's sessions are here, some on other machines, one of which is lost. */
const spread = (session: SessionView): SessionView => {
  const machine =
    session.project === "infra" ? container : session.project === "docs" ? longNamed : undefined;
  return machine === undefined ? session : { ...session, machine, transcriptPath: null };
};

const lostSessions = [
  needsYou(
    "billing",
    34 * minute,
    { summary: "npm publish --dry-run", asked: details({ lines: ["npm publish --dry-run"] }) },
    {
      sessionId: "billing-lost",
      lastResponse: "Now the rounding: half up, per line, as the law wants it.",
      ...usage(1_600_000, 3.44, 71, [5, 6]),
    },
  ),
  createSession({
    project: "runbooks",
    sessionId: "runbooks-lost",
    status: { kind: "working", detail: "Bash: make check-links" },
    lastPrompt: "every alert needs a first step",
    since: noon - 41 * minute,
    model: "claude-sonnet-4-5-20250929",
    ...usage(470_000, 0.98, 47, [2, 4]),
  }),
].map(loseSession);

/** The lanes know sessions by their keys. */
const renameLanes = (from: readonly SessionView[], to: readonly SessionView[]): Lanes => {
  const keys = new Map(from.map((session, index) => [viewKeyOf(session), viewKeyOf(to[index] ?? session)]));
  return {
    ...liveDay.lanes,
    lanes: liveDay.lanes.lanes.map((lane) => ({ ...lane, key: keys.get(lane.key) ?? lane.key })),
  };
};

const spreadSessions = sessions.map(spread);

/** Three other machines, one of which is lost. */
export const machinesDay: Sample = {
  ...liveDay,
  sessions: [...spreadSessions, ...lostSessions],
  lanes: renameLanes(sessions, spreadSessions),
  machines,
};

export const manyMachinesDay: Sample = {
  ...machinesDay,
  sessions: [
    ...machinesDay.sessions,
    ...manyDay.sessions.slice(sessions.length).map((session, index) => {
      const machine = [null, container ?? null, longNamed ?? null, lostMachine ?? null][index % 4] ?? null;
      const moved = { ...session, machine, transcriptPath: null };
      return machine === lostMachine && session.group !== "ended" ? loseSession(moved) : moved;
    }),
  ],
};

const script =
  '<script>attacked = true</script><img src=x onerror="attacked = true"><a href=javascript:attacked=true>x</a>';
/** Longer than any field that beckon keeps. */
const long = `${script}${"x".repeat(20_000)}`;
const backwards = `\u202e${script}\u2066 \u0000\u001b[31m`;

/** Everything that an agent can send, in every field that it can fill. */
export const hostileDay: Sample = {
  ...liveDay,
  sessions: sessions.map((session, index) => {
    const text = [script, long, backwards][index % 3] ?? "";
    return {
      ...session,
      project: text,
      gitBranch: text,
      title: text,
      model: text,
      cwd: text,
      error: session.error === null ? null : text,
      status: { ...session.status, detail: text },
      lastPrompt: text,
      lastResponse: text,
      permissionMode: text,
      asks: session.asks.map((ask) => ({
        ...ask,
        summary: text,
        ...(ask.asked
          ? {
              asked: {
                ...ask.asked,
                heading: script,
                // beckon itself has made these visible and limited them.
                lines: ask.asked.lines.map(() => script),
                dangers: ask.asked.dangers.map(() => script),
                always: ask.asked.always.map(() => script),
                questions: ask.asked.questions.map((question) => ({
                  ...question,
                  question: script,
                  options: [{ label: script, description: script }],
                })),
              },
            }
          : { why: text }),
      })),
      children: session.children.map((each) => ({ ...each, name: text, detail: text })),
    };
  }),
  lanes: {
    ...liveDay.lanes,
    lanes: liveDay.lanes.lanes.map((lane) => ({
      ...lane,
      project: long,
      branch: backwards,
      title: script,
    })),
    problem: long,
  },
  stats: {
    ...liveDay.stats,
    problem: script,
    projects: liveDay.stats.projects.map((project, index) => ({
      ...project,
      project: `${index}${backwards}`,
    })),
  },
  story: (query) => createHostileStory(createStory(query), [script, long, backwards]),
  transcript: {
    ...sampleTranscript,
    lines: sampleTranscript.lines.map((line, index) => ({
      ...line,
      text: [script, long, backwards][index % 3] ?? "",
    })),
  },
  history: {
    ...liveDay.history,
    items: liveDay.history.items.map((item, index) => ({
      ...item,
      project: long,
      text: [script, long, backwards][index % 3] ?? "",
      where: script,
    })),
  },
};

/** The first minutes with beckon. */
export const firstDay: Sample = {
  ...calmDay,
  lanes: {
    ...liveDay.lanes,
    lanes: liveDay.lanes.lanes.slice(0, 3).map((lane, index) => {
      const start = noon - (18 - 5 * index) * minute;
      const waits = index === 2 ? [] : index === 0 ? [5, 5.4, 12] : [3];
      const spans: Span[] = [
        { state: "working", from: start, to: null },
        ...waits.map(
          (after): Span => ({
            state: "waiting",
            from: start + after * minute,
            to: start + after * minute + 14_000,
          }),
        ),
      ];
      return { ...lane, group: "working", waitedMs: 14_000 * waits.length, spans };
    }),
    anyWaiting: [],
  },
  stats: {
    ...liveDay.stats,
    today: { ...liveDay.stats.today, waitedMs: 71_000, asks: 4, medianMs: 18_000, longest: null, byRules: 0 },
    days: liveDay.stats.days.map((day, index, days) =>
      index === days.length - 1 ? { ...day, waitedMs: 71_000, asks: 4 } : { ...day, ...none },
    ),
  },
};
