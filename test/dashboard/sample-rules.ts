/** Invented rules, suggestions and trust. */
import type { BackTest, RulesReport } from "../../src/core/interfaces/wire.ts";
import type { AskDetails } from "../../src/core/session/ask-details.ts";
import type { AskPrecedent } from "../../src/core/session/precedent.ts";
import type { Sample } from "./sample.ts";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

const createTest = (more: Partial<BackTest>, now: number): BackTest => ({
  asks: 118,
  since: now - 30 * dayMs,
  answered: 22,
  allowedByYou: 22,
  deniedByYou: 0,
  savedMs: 9 * minuteMs,
  medianMs: 21_000,
  longest: { ms: 2 * minuteMs, at: now - 5 * 60 * minuteMs },
  would: [{ text: "make check", count: 22 }],
  stillAsks: [],
  ...more,
});

function createRulesReport(now: number): RulesReport {
  const rule = (name: string, text: string, project: string, count: number, lastAgoMs: number) => ({
    name,
    agent: "claude",
    project: `/home/dev/${project}`,
    text,
    madeAt: now - 55 * dayMs,
    madeFrom: name.length % 2 === 0 ? ("suggestion" as const) : ("text" as const),
    use: count === 0 ? null : { count, lastAt: now - lastAgoMs },
  });
  return {
    asks: 118,
    since: now - 30 * dayMs,
    problems: [],
    suggestions: [
      {
        agent: "claude",
        project: "/home/dev/checkout-api",
        text: "Bash(npm run test:e2e [--project=checkout] [--changed] *)",
        test: createTest(
          {
            answered: 41,
            allowedByYou: 41,
            savedMs: 23 * minuteMs,
            medianMs: 34_000,
            longest: { ms: 4 * minuteMs, at: now - 4 * 60 * minuteMs },
            would: [
              { text: "npm run test:e2e -- --project=checkout", count: 19 },
              { text: "npm run test:e2e -- --changed", count: 14 },
              { text: "npm run test:e2e src/cart", count: 8 },
            ],
            stillAsks: [
              { text: "npm run test:e2e && git push", count: 2, why: "reaches another machine" },
              { text: "npm run test:e2e > ../report.txt", count: 1, why: "reads or writes a file" },
              {
                text: "npm run test:e2e -- --config=../other",
                count: 1,
                why: "an option you have not allowed",
              },
            ],
          },
          now,
        ),
      },
      { agent: "claude", project: "/home/dev/docs", text: "Bash(make check)", test: createTest({}, now) },
      {
        agent: "codex",
        project: "/home/dev/infra",
        text: "Edit(modules/network/**)",
        test: createTest({ answered: 7, allowedByYou: 7 }, now),
      },
    ],
    trusts: [
      {
        session: "claude:s-landing",
        project: "landing-page",
        until: now + 28 * minuteMs,
        since: now,
        uses: 6,
      },
    ],
    rules: [
      rule("npm-ls-checkout-api", "Bash(npm ls)", "checkout-api", 61, 60 * minuteMs),
      rule("git-status-docs", "Bash(git status)", "docs", 38, 30 * minuteMs),
      rule("edit-guide-docs", "Edit(guide/**)", "docs", 9, dayMs),
      rule(
        "npm-run-lint",
        "Bash(npm run lint [--workspace=customer-onboarding] *)",
        "customer-onboarding-and-identity-verification",
        0,
        0,
      ),
    ],
    settings: [
      { text: "Bash(ls *)", project: "/home/dev/docs", use: { count: 212, lastAt: now - minuteMs } },
    ],
  };
}

/** Two like requests with what was answered before, one marked one, and the rules. */
export function createRulesDay(day: Sample): Sample {
  const waiting = day.sessions.find(
    ({ group, asks }) => group === "needs_you" && asks[0]?.kind === "permission",
  );
  if (!waiting) throw new Error("nothing waits on that day");
  const { now } = day;
  const ask = (
    project: string,
    command: string,
    precedent: AskPrecedent,
    dangers: readonly string[] = [],
  ) => {
    const asked: AskDetails = {
      kind: "permission",
      tool: "Bash",
      heading: "Run a command",
      isGenericHeading: true,
      startsWithSubject: true,
      lines: [command],
      isWhole: true,
      dangers,
      always: [],
      questions: [],
      precedent,
    };
    const [first] = waiting.asks;
    const id = `ask-${project}`;
    return {
      ...waiting,
      sessionId: `s-${project}`,
      project,
      title: null,
      asks: first
        ? [
            {
              ...first,
              id,
              answerId: id,
              tool: "Bash",
              summary: command,
              asked,
              dangers,
              openedAt: now - 38_000,
            },
          ]
        : [],
    };
  };
  const test: AskPrecedent = {
    label: "npm run test:e2e",
    allowed: 14,
    denied: 0,
    firstAt: now - 40 * dayMs,
    lastAt: now - 3 * 60 * minuteMs,
    lastProject: "shop-web",
    lastDenial: null,
    recent: "y".repeat(14),
    rule: {
      text: "Bash(npm run test:e2e [--project=checkout] *)",
      project: "/home/dev/checkout-api",
      agent: "claude",
    },
  };
  const push: AskPrecedent = {
    ...test,
    label: "git push",
    allowed: 16,
    denied: 3,
    lastDenial: { at: now - dayMs, message: "not on a Friday" },
    recent: `${"y".repeat(16)}nnn`,
  };
  const { rule: _, ...marked } = push;
  return {
    ...day,
    rules: createRulesReport(now),
    sessions: [
      ask("checkout-api", "npm run test:e2e -- --project=checkout", test),
      ask("storefront", "npm run test:e2e -- --project=cart", test),
      ask("infra", "git push --force origin drift-report", marked, [
        "overwrites what others have (git push --force)",
      ]),
      ...day.sessions.filter(({ group }) => group !== "needs_you"),
    ],
  };
}
