/** What a response means: the answer that it gives, or why it gives none. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createAnswer, createDraft } from "../../src/channels/message.ts";
import type { ChannelSettings } from "../../src/core/config/channels.ts";
import type { AskDetails, Question } from "../../src/core/session/ask-details.ts";
import type { Ask, Session } from "../../src/core/session/session.ts";
import type { JudgedCause } from "../../src/core/view/alerts/alerts.ts";
import { formatAskAlert } from "../../src/core/view/alerts/text.ts";
import type { SessionName } from "../../src/core/view/session-names.ts";
import { repo } from "../repo.ts";

const createQuestion = (question: string, isMultiple = false): Question => ({
  header: "",
  question,
  options: ["Red", "Green", "Blue"].map((label) => ({ label, description: "" })),
  isMultiple,
});

const createDetails = (kind: AskDetails["kind"], questions: readonly Question[] = []): AskDetails => ({
  kind,
  tool: null,
  heading: "",
  lines: [],
  isWhole: true,
  dangers: [],
  always: [],
  questions,
});

const one = createDetails("question", [createQuestion("Which?")]);
const several = createDetails("question", [createQuestion("Which?", true)]);
const two = createDetails("question", [createQuestion("First?"), createQuestion("Second?")]);

describe("a reply with text", () => {
  const reply = (text: string | null, details: AskDetails) => createAnswer({ do: "text" }, text, details);

  test("denies a permission with that reason, and sends a plan back", () => {
    expect(reply(" not now ", createDetails("permission"))).toEqual({ do: "deny", message: "not now" });
    expect(reply("first the tests", createDetails("plan"))).toEqual({
      do: "deny",
      message: "first the tests",
    });
  });

  test.each([
    ["2", [["Green"]]],
    ["7", [["7"]]],
    ["1 and 2", [["1 and 2"]]],
    ["1, 2", [["1, 2"]]],
    ["a new one\nin two lines", [["a new one\nin two lines"]]],
  ])("to a question: %j", (text, replies) => {
    expect(reply(text, one)).toEqual({ do: "reply", replies });
  });

  test.each([
    ["1, 3", [["Red", "Blue"]]],
    ["3 1", [["Blue", "Red"]]],
    ["1, 9", [["1, 9"]]],
  ])("to a question with several answers: %j", (text, replies) => {
    expect(reply(text, several)).toEqual({ do: "reply", replies });
  });

  test("to two questions needs a line for each", () => {
    expect(reply("1\n\nmine", two)).toEqual({ do: "reply", replies: [["Red"], ["mine"]] });
    expect(reply("1", two)).toBe("there are 2 questions: reply with one line for each");
    expect(reply("1\n2\n3", two)).toBe("there are 2 questions: reply with one line for each");
  });

  test("that is empty gives no answer", () => {
    for (const text of [null, "", " \n "]) expect(reply(text, one)).toBe("the reply is empty");
  });
});

test("an option that the question no longer has gives no answer", () => {
  expect(createAnswer({ do: "option", index: 2 }, null, one)).toEqual({ do: "reply", replies: [["Blue"]] });
  expect(createAnswer({ do: "option", index: 3 }, null, one)).toBe("there is no such option");
});

describe("what is sent at each level is what README and docs/channels.md show", () => {
  const ask = { id: "1", kind: "permission", tool: "Bash", summary: "npm publish --dry-run", agentId: null };
  const cwd = "/home/me/checkout-api";
  const session = {
    agent: "claude",
    sessionId: "s1",
    firstCwd: cwd,
    cwd,
    gitBranch: "main",
    title: "Release 2.1",
  };
  const cause = {
    key: "claude:s1#1",
    kind: "blocked",
    ask,
    since: { at: 0, t: 0 },
    session,
    name: { project: "checkout-api", difference: "" },
    formatText: (name: SessionName, when: string) =>
      formatAskAlert(
        ask as unknown as Ask,
        { ...session, children: [], ended: true } as unknown as Session,
        name,
        when,
      ),
  } as unknown as JudgedCause;
  const details = { ...createDetails("permission"), isGenericHeading: true as const, lines: [ask.summary] };
  const render = (detail: string) => {
    const { title, lines } = createDraft({
      cause,
      settings: { detail, answers: "off" } as ChannelSettings,
      service: { fits: () => true, maxButtons: 3, hasAccounts: true },
      isAnswering: false,
      takesPrompt: false,
      details,
      hasSecret: false,
      confirmingMs: null,
      formatTime: () => "14:20",
      mask: (text) => text,
    });
    return [title, ...lines];
  };
  const readPage = (path: string) => readFileSync(join(repo, path), "utf8");
  const levels = ["minimal", "summary", "full"];

  test.each(levels)("README: %s", (level) => {
    const row = new RegExp(`^\\| \`${level}\`.*\\| ([^|]*) \\|$`, "m").exec(readPage("README.md"));
    expect(row?.[1]?.replaceAll("`", "")).toBe(render(level).join(" · "));
  });

  test("docs/channels.md", () => {
    const row = /^\| example \| (.*) \|$/m.exec(readPage("docs/channels.md"));
    expect(row?.[1]?.split(" | ")).toEqual(levels.map((level) => render(level).join("<br>")));
  });
});

const draftOf = (details: AskDetails, more: object = {}, hasAccounts = true) =>
  createDraft({
    cause: {
      key: "codex:s1#1",
      kind: "blocked",
      ask: { id: "1" },
      since: { at: 0, t: 0 },
      session: { agent: "codex", sessionId: "s1", firstCwd: "/p", cwd: "/p", gitBranch: null, title: null },
      name: { project: "p", difference: "" },
      formatText: () => ({ title: "p wants to use Bash", body: "" }),
    } as unknown as JudgedCause,
    settings: { detail: "full", answers: "safe", ...more } as ChannelSettings,
    service: { fits: () => true, maxButtons: 3, hasAccounts },
    isAnswering: true,
    takesPrompt: false,
    details,
    hasSecret: false,
    confirmingMs: null,
    formatTime: () => "now",
    mask: (text) => text,
  });

test("a reason is asked for only if the agent takes one", () => {
  const permission = createDetails("permission");
  expect(draftOf(permission).replyHint).toBe("Reply with a reason to deny it.");
  const draft = draftOf({ ...permission, takesNoReason: true });
  expect([draft.replyHint, draft.buttons.map(({ label }) => label)]).toEqual([null, ["Allow", "Deny"]]);
});

test("a request can be allowed for good only with consent, where there are accounts, and never if it is marked", () => {
  const permission = { ...createDetails("permission"), always: ["Always allow npm test in this project"] };
  const labelsOf = (...input: Parameters<typeof draftOf>) =>
    draftOf(...input).buttons.map(({ label }) => label);
  expect(labelsOf(permission)).toEqual(["Allow", "Deny"]);
  expect(labelsOf(permission, { always: true })).toEqual(["Allow", "Always", "Deny"]);
  expect(draftOf(permission, { always: true }).lines[0]).toBe(
    "“Always”: Always allow npm test in this project",
  );
  expect(labelsOf(permission, { always: true }, false)).toEqual(["Allow", "Deny"]);
  const marked = { ...permission, dangers: ["deletes without asking (rm -rf)"] };
  expect(labelsOf(marked, { always: true, answers: "all" })).not.toContain("Always");
  expect(createAnswer({ do: "always" }, null, permission)).toEqual({ do: "always", choice: 0 });
});
