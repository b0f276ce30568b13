import { describe, expect, test } from "bun:test";
import type { Alert } from "../src/core/view.ts";
import { createRecorder } from "../src/record.ts";
import type { Logged } from "../src/storage/decisions.ts";
import { maskText } from "../src/storage/secrets.ts";
import { createStore } from "../src/store.ts";
import { asking, bash, call, tell } from "./core/tell.ts";

/** What is written down of a story that was told. */
function written(told: ReturnType<typeof tell>) {
  const log: Logged[] = [];
  const store = createStore();
  const find = (key: string) =>
    store.sessions({ at: 0, t: 0 }).find(({ sessionId }) => key.endsWith(sessionId)) ?? null;
  const record = createRecorder({
    decisions: { add: (entry) => log.push(entry) },
    mask: maskText,
    now: () => 7,
    find,
  });
  store.subscribe(record.follow);
  for (const event of told.events) store.dispatch(event);
  return { log, record, session: store.sessions({ at: 0, t: 0 })[0] };
}
const outcome = { what: "answered", project: "proj", asked: "Bash: touch x", by: "in the terminal" };

describe("an ask that ended in the terminal", () => {
  test.each([
    ["allowed", asking().hook("PostToolUse", call), "allowed"],
    ["No or Esc", asking().file("waiting", "permission prompt", 10).file("idle"), "No or Esc"],
    [
      "approved, as the file says",
      asking().file("waiting", "permission prompt", 10).file("busy"),
      "answered",
    ],
    ["the session's end", asking().hook("SessionEnd", { reason: "other" }), "the session ended"],
  ])("%s", (_, told, how) => {
    expect(written(told).log).toMatchObject([{ ...outcome, outcome: how }]);
  });

  test("what was answered through beckon is not written down twice, nor what nobody named", () => {
    expect(written(asking().own({ kind: "ask-answered", request: "event-4" })).log).toEqual([]);
    const nameless = tell().hook("UserPromptSubmit", { prompt: "x" }).file("waiting", "permission prompt");
    expect(written(nameless.file("busy")).log).toEqual([]);
  });
});

test("alerts: shown, and not shown with the reason", () => {
  const { record, log, session } = written(asking());
  if (!session) throw new Error("no session");
  const key = `claude:${session.sessionId}`;
  const alert = { key: `${key}#x`, session: key, title: "proj", body: "Bash: touch x" } as Alert;
  record.shown(alert);
  record.notShown(`${key}#${session.asks[0]?.id}`, "muted");
  record.notShown("claude:nobody#1", "muted");
  expect(log).toMatchObject([
    { what: "shown", asked: "proj: Bash: touch x", by: null },
    { what: "not shown", asked: "Bash: touch x", outcome: "muted", by: null },
  ]);
});

test("secrets of an answer are masked, and a long one is cut", () => {
  const { record, log, session } = written(asking().hook("PermissionRequest", bash));
  const [ask] = session?.asks ?? [];
  if (!session || !ask) throw new Error("no ask");
  const answered = `denied: token=ghp_0123456789abcdefghijABCDEFGHIJ ${"x".repeat(500)}`;
  record.verdict({ session, ask, answered, by: "tray" });
  expect(log[0]?.outcome).toStartWith("denied: token=••• xxx");
  expect(log[0]?.outcome.length).toBeLessThan(310);
});
