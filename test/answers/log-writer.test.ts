import { describe, expect, test } from "bun:test";
import { createAnswerLogWriter } from "../../src/answers/log-writer.ts";
import type { Alert } from "../../src/core/view/view.ts";
import { maskText } from "../../src/secrets/index.ts";
import { createStore } from "../../src/state/store.ts";
import type { AnswerLogEntry } from "../../src/streams/answer-log-entry.ts";
import { bash, createAskingTimeline, createTimeline } from "../core/session/fixture.ts";

/** Records the events of a timeline. */
function recordTimeline(
  timeline: ReturnType<typeof createTimeline>,
  earlier: readonly AnswerLogEntry[] = [],
) {
  const log: AnswerLogEntry[] = [];
  const store = createStore();
  const findSession = (key: string) =>
    store.sessions({ at: 0, t: 0 }).find(({ sessionId }) => key.endsWith(sessionId)) ?? null;
  const record = createAnswerLogWriter({
    log: { add: (entry) => log.push(entry), flush() {} },
    readEntries: () => earlier,
    mask: maskText,
    now: () => 7,
    findSession,
  });
  store.subscribe((session, event, before) => record.onChange({ session, event, before }));
  for (const event of timeline.events) store.dispatch(event);
  record.stop();
  return { log, record, session: store.sessions({ at: 0, t: 0 })[0] };
}

describe("an ask that was not answered through beckon", () => {
  const outcome = { at: 7, what: "answered", project: "proj", asked: "Bash: touch x" };

  test("but in the terminal is recorded as answered there", () => {
    const { log } = recordTimeline(
      createAskingTimeline().file("waiting", "permission prompt", 10).file("idle"),
    );
    expect(log).toMatchObject([{ ...outcome, outcome: "denied", by: "in the terminal" }]);
  });

  test("ended with its session, without an answer", () => {
    const { log } = recordTimeline(
      createAskingTimeline().hook("SessionEnd", { reason: "prompt_input_exit" }),
    );
    expect(log).toMatchObject([{ ...outcome, outcome: "the session ended", by: null }]);
  });

  test("an answer through beckon is recorded once; an ask without a name is not recorded", () => {
    expect(
      recordTimeline(createAskingTimeline().internal({ kind: "ask-answered", request: "event-4" })).log,
    ).toEqual([]);
    const nameless = createTimeline()
      .hook("UserPromptSubmit", { prompt: "x" })
      .file("waiting", "permission prompt");
    expect(recordTimeline(nameless.file("busy")).log).toEqual([]);
  });
});

test("alerts: shown, and not shown with the reason", () => {
  const { record, log, session } = recordTimeline(createAskingTimeline());
  if (!session) throw new Error("no session");
  const key = `claude:${session.sessionId}`;
  const alert = {
    key: `${key}#${session.asks[0]?.id}`,
    session: key,
    title: "proj",
    body: "touch x\nsince",
  } as Alert;
  record.notShown(alert.key, "muted");
  record.notShown("claude:unknown#1", "muted");
  record.shown(alert);
  record.notShown(alert.key, "you have seen or dismissed it");
  expect(log).toMatchObject([
    { what: "not shown", asked: "Bash: touch x", outcome: "muted", by: null },
    { what: "shown", asked: "Bash: touch x", outcome: "alert shown", by: null },
  ]);
});

test("why an alert was not shown is written once, with its first reason, also across restarts", () => {
  const first = recordTimeline(createAskingTimeline());
  const key = `claude:${first.session?.sessionId}#${first.session?.asks[0]?.id}`;
  for (const why of ["muted", "muted", "quiet hours", "muted"]) first.record.notShown(key, why);
  expect(first.log.map(({ outcome }) => outcome)).toEqual(["muted"]);
  const next = recordTimeline(createAskingTimeline(), first.log);
  next.record.notShown(key, "quiet hours");
  expect(next.log).toEqual([]);
});

test.each([
  ["turn finished", "Stop", {}],
  ["turn failed: server_error", "StopFailure", { error: "server_error" }],
])("an alert about the end of a turn says so: %s", (says, name, more) => {
  const timeline = createTimeline().hook("UserPromptSubmit", { prompt: "x" }).hook(name, more);
  const { record, log, session } = recordTimeline(timeline);
  record.notShown(`claude:${session?.sessionId}#over-${session?.stopped?.at}`, "you are there");
  expect(log).toMatchObject([{ asked: says, outcome: "you are there" }]);
});

test("an alert about edits without a port says so", () => {
  const edit = { kind: "untracked-edit", tool: "Edit", path: "/p/a.ts", isBlocked: false } as const;
  const timeline = createTimeline().hook("UserPromptSubmit", { prompt: "x" }).internal(edit);
  const { record, log, session } = recordTimeline(timeline);
  record.notShown(`claude:${session?.sessionId}#untracked-${session?.untracked?.at}`, "muted");
  expect(log).toMatchObject([{ asked: "edits without a port", outcome: "muted" }]);
});

test("an alert about a limit is written with what it said", () => {
  const { record, log, session } = recordTimeline(createTimeline().hook("UserPromptSubmit", { prompt: "x" }));
  const key = `claude:${session?.sessionId}#limit-fiveHour-`;
  const title = "Claude Code: 82% of 5 h used";
  record.shown({ key: `${key}1`, session: `claude:${session?.sessionId}`, title, body: "" } as Alert);
  record.notShown(`${key}2`, "quiet until 15:00");
  expect(log).toMatchObject([
    { what: "shown", asked: title },
    { what: "not shown", asked: "has news about a limit", outcome: "quiet until 15:00" },
  ]);
});

test("secrets of an answer are masked, and a long one is cut", () => {
  const { record, log, session } = recordTimeline(createAskingTimeline().hook("PermissionRequest", bash));
  const [ask] = session?.asks ?? [];
  if (!session || !ask) throw new Error("no ask");
  const outcome = `denied: token=ghp_0123456789abcdefghijABCDEFGHIJ ${"x".repeat(500)}`;
  record.answered({ session, ask, outcome, how: "denied", by: "menu" });
  expect(log[0]?.outcome).toStartWith("denied: token=••• xxx");
  expect(log[0]?.outcome.length).toBeLessThan(310);
});
