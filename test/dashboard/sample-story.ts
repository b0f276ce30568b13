/** The history of the invented day: sessions with what happened in them, told by beckon's own code. */
import type { StoryPage, StoryQuery, StoryThread, TranscriptPage } from "../../src/core/interfaces/wire.ts";
import { kindOfTool, splitCall } from "../../src/core/view/moment-words.ts";
import { isAskKind, type StoryMoment, tellStory } from "../../src/core/view/story.ts";

const today = new Date(2026, 10, 17).getTime();
const yesterday = new Date(2026, 10, 16).getTime();

type Line = readonly [
  time: string,
  kind: string,
  text: string,
  how?: StoryMoment["how"],
  where?: string | null,
  waitedMs?: number,
  detail?: string,
];

interface Told extends Partial<StoryThread> {
  readonly project: string;
  readonly lines: readonly Line[];
}

function atTime(day: number, time: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = time.split(":").map(Number);
  return new Date(day).setHours(hours, minutes, seconds);
}

const steps = (from: string, count: number, minutes: number): Line[] => {
  const calls = [
    "Read: src/orders/schema.ts",
    "Edit: src/orders/migrate.ts",
    "Bash: npm run migrate -- --env staging --dry-run",
    "Explore: Who calls the old table?",
    "Bash: npm test -- --changed",
    "Grep: legacy_orders",
    "Bash: git diff --stat",
    "Edit: src/orders/repository.ts",
  ];
  const start = atTime(today, from);
  return Array.from({ length: count }, (_, index) => {
    const at = new Date(start + (index * minutes * 60_000) / count);
    const time = `${at.getHours()}:${at.getMinutes()}:${at.getSeconds()}`;
    return [time, "tool", calls[index % calls.length] ?? ""];
  });
};

const earlier = Array.from({ length: 11 }, (_, turn): Line[] => {
  const hour = 8 + Math.floor((42 + turn * 20) / 60);
  const minute = (42 + turn * 20) % 60;
  return [
    [`${hour}:${minute}`, "prompt", "next table, same as before"],
    ...steps(`${hour}:${minute}`, 7, 10),
    [
      `${hour}:${minute + 1}`,
      "permission",
      `Bash: npm run check -- --table ${turn}`,
      "allowed",
      "menu",
      21_000,
    ],
    [`${hour}:${minute + 2}`, "answer", "Done. All rows have an id now."],
  ];
}).flat();

const told: readonly Told[] = [
  {
    project: "checkout-api",
    title: "Move the orders to the new schema",
    group: "needs_you",
    waitedMs: 14 * 60_000,
    lines: [
      ...earlier,
      ["12:20", "permission", "Bash: npm run test:e2e", "always", "notification", 240_000],
      [
        "13:21",
        "prompt",
        "go on with the migration, staging first. Stop before anything that cannot be undone.",
      ],
      ...steps("13:21", 15, 58),
      [
        "14:22",
        "permission",
        "Bash: npm run migrate -- --env staging --dry-run --verbose",
        "allowed",
        "phone (@ana)",
        72_000,
      ],
      [
        "14:25:23",
        "permission",
        "Bash: npm run migrate -- --env staging && rm -rf dist-old",
        null,
        null,
        401_000,
      ],
    ],
  },
  {
    project: "billing",
    title: "Round invoices half up, per line",
    group: "failed",
    waitedMs: 4 * 60_000,
    lines: [
      ["12:01", "prompt", "publish a dry run so that I see what is in the package"],
      ["12:01:10", "tool", "Bash: npm pack"],
      ["12:02", "tool", "Bash: tar -tf billing-2.1.0.tgz"],
      ["12:03", "tool", "Read: package.json"],
      ["12:05:11", "permission", "Bash: npm publish --dry-run", "allowed", "page", 210_000],
      [
        "12:09",
        "answer",
        "Dry run is clean: 14 files, 61 kB. The changelog is not in the package; say so if it should be.",
      ],
      ["14:10", "prompt", "now the rounding: half up, per line, as the law wants it"],
      ...steps("14:10", 13, 15),
      ["14:25:40", "failed", "API Error: 529 Overloaded"],
    ],
  },
  {
    project: "customer-onboarding-and-identity-verification",
    branch: "feature/retry-identity-checks-with-backoff",
    title: "Retry identity checks with backoff",
    model: "gpt-5-codex",
    group: "ready",
    waitedMs: 50_000,
    lines: [
      [
        "13:02",
        "prompt",
        "identity checks time out under load. Retry them with backoff, at most five times, and never twice for one applicant at once.",
      ],
      ...steps("13:02", 28, 25),
      ["13:30", "permission", "Bash: npm ls --depth=0", "rule", "rule", 0],
      [
        "13:47:02",
        "permission",
        "Bash: npm install exponential-backoff",
        "denied",
        "page",
        48_000,
        "use the helper in lib/retry",
      ],
      [
        "13:49",
        "answer",
        "Used lib/retry with a lock per applicant. 5 tries, 0.4 s to 6 s apart. All 212 tests pass.",
      ],
    ],
  },
  ...["landing-page", "design-tokens", "playground"].map((project) => ({
    project,
    lines: [
      ["11:10", "prompt", "make the headline shorter"],
      ["11:12", "tool", "Edit: index.html"],
      ["11:13", "answer", "It fits on one line now."],
    ] as Line[],
  })),
  {
    project: "notes",
    branch: "redesign",
    title: "A service for shared notes",
    model: "claude-sonnet-4-5-20250929",
    day: yesterday,
    group: "ended",
    endedAt: atTime(yesterday, "18:20"),
    waitedMs: 120_000,
    lines: [
      ["17:40", "prompt", "set up the workspace"],
      ["17:52", "question", "AskUserQuestion: npm, pnpm or yarn?", "replied", "menu", 12_000, "pnpm"],
      ["17:53", "tool", "Bash: pnpm init"],
      ["17:54", "tool", "Bash: pnpm add -D typescript"],
      ["18:18", "answer", "The workspace builds. Three packages: server, web, shared."],
    ],
  },
];

function createThread({ lines, ...fields }: Told, { q, kind, session }: StoryQuery): StoryThread | null {
  const { project, day = today } = fields;
  const moments = lines.map(
    ([time, of, text, how = null, where = null, waitedMs, detail = null], index): StoryMoment => {
      return {
        ...{ id: `${project}-${index}`, at: atTime(day, time), kind: of, text, how, where, detail },
        waitedMs: waitedMs ?? null,
        isFailure: false,
      };
    },
  );
  const isHit = ({ kind: of, text }: StoryMoment) =>
    (q === undefined || text.toLowerCase().includes(q.toLowerCase())) &&
    (kind === undefined ||
      (kind === "asks" && isAskKind(of)) ||
      (kind === "commands" && kindOfTool(splitCall(text).tool) === "command"));
  const hits =
    q === undefined && kind === undefined ? null : new Set(moments.filter(isHit).map(({ id }) => id));
  const asks = moments.filter(({ kind: of, how }) => isAskKind(of) && how !== "rule").length;
  const isTold = session !== undefined || hits !== null || asks > 0;
  const beats = isTold
    ? tellStory(moments, { ...(hits ? { hits } : {}), isWhole: session !== undefined })
    : null;
  if (beats?.length === 0) return null;
  return {
    key: `claude:${project}-main-0d9c41aa`,
    provider: "claude",
    branch: "main",
    title: null,
    model: "claude-opus-4-5-20251101",
    endedAt: null,
    group: "ready",
    waitedMs: 0,
    from: moments[0]?.at ?? day,
    to: moments.at(-1)?.at ?? day,
    asks,
    ...(hits && beats
      ? { hits: beats.reduce((sum, beat) => sum + (beat.kind === "work" ? (beat.hits ?? 0) : 1), 0) }
      : {}),
    ...fields,
    day,
    beats,
  };
}

export function createStory(query: StoryQuery): StoryPage {
  const all = told
    .map((thread) => createThread(thread, query))
    .filter((thread) => thread !== null)
    .filter(({ key, day }) => query.session === undefined || (query.session === key && query.day === day))
    .filter(({ day }) => query.day === undefined || day <= query.day);
  const days = [...Map.groupBy(all, ({ day }) => day)].map(([day, threads]) => {
    const hits = threads.reduce((sum, thread) => sum + (thread.hits ?? 0), 0);
    return { day, sessions: threads.length, ...(query.q || query.kind ? { hits } : {}) };
  });
  return {
    enabled: true,
    threads: all,
    days,
    next: null,
    holds: { firstAt: new Date(2026, 10, 4, 9).getTime(), agents: ["claude"] },
    kept: { days: 30, maxMb: 500, mb: 61 },
  };
}

/** The same story with these texts in every field that an agent can fill. */
export function createHostileStory(page: StoryPage, texts: readonly string[]): StoryPage {
  const [first = "", second = "", third = ""] = texts;
  return {
    ...page,
    problem: second,
    threads: page.threads.map((thread) => ({
      ...thread,
      ...{ project: second, branch: third, title: first, model: first },
      beats:
        thread.beats?.map((beat, index) => {
          const text = texts[index % texts.length] ?? "";
          if (beat.kind === "earlier") return beat;
          if (beat.kind === "work")
            return {
              ...beat,
              steps: beat.steps.map((step) => ({ ...step, tool: first, text, error: third })),
            };
          return beat.kind === "ask" ? { ...beat, text, where: first, detail: second } : { ...beat, text };
        }) ?? null,
    })),
  };
}

const line = (time: string, who: "you" | "agent" | "step", text: string, tool?: string) => ({
  at: atTime(today, time),
  who,
  text,
  ...(tool === undefined ? {} : { tool }),
});

export const sampleTranscript: TranscriptPage = {
  hasEarlier: true,
  hasLater: false,
  lines: [
    line(
      "13:44",
      "agent",
      "The provider answers 503 in bursts of about two seconds. A fixed pause makes all workers come back together, so the pause has to grow and vary.",
    ),
    line("13:44:10", "step", "src/identity/check.ts", "Read"),
    line("13:45", "step", "retry|backoff in lib/, src/", "Grep"),
    line("13:46", "agent", "I will use a small package for the pauses instead of writing them here."),
    line("13:47:01", "step", "npm install exponential-backoff", "Bash"),
    line(
      "13:47:52",
      "agent",
      "lib/retry has what is needed: retry(fn, { tries, from, to }). It has no lock, so I add one per applicant.",
    ),
    line("13:48", "step", "src/identity/check.ts", "Edit"),
    line("13:48:20", "step", "bun test identity", "Bash"),
    line(
      "13:49",
      "agent",
      "Used lib/retry with a lock per applicant. 5 tries, 0.4 s to 6 s apart. All 212 tests pass.",
    ),
  ],
};
