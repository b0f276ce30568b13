import { expect, test } from "bun:test";
import type { SessionView } from "../../src/core/view/session-view.ts";
import { judge } from "./judge.ts";
import type { Recording, Row } from "./recording.ts";
import type { Shown } from "./replay.ts";

const id = "s-1";
const status = (ms: number, fields: Partial<Row>): Row =>
  ({ ms, src: "session-file", file: "7.json", sessionId: id, ...fields }) as Row;
const waiting = { status: "waiting", waitingFor: "permission prompt" };

/** Busy from 1 s on. The dialog opens at 3.5 s, and the CLI's file says so a second later. */
const recording: Recording = {
  name: "late file",
  startedAt: 0,
  hasStatus: true,
  rows: [
    status(1_000, { status: "busy" }),
    {
      ms: 3_500,
      src: "hook",
      payload: { hook_event_name: "PermissionRequest", session_id: id },
    } as unknown as Row,
    status(4_500, waiting),
    { ms: 6_500, src: "driver", mark: "end" } as Row,
  ],
};

const show = (ms: number, activityPhase: string, asks: readonly object[] = []): Shown => ({
  ms,
  sessions: [{ sessionId: id, state: "active", activityPhase, asks } as unknown as SessionView],
});
const ask = { kind: "permission", tool: "Bash" };
const judgeLive = (askedAtMs: number) =>
  judge(recording, [show(1_100, "busy"), show(askedAtMs, "waiting_permission", [ask])], 600, {
    isLive: true,
  });

test("a dialog that is shown from its hook on is right, however late the CLI writes its file", () => {
  expect(judgeLive(3_600).wrong).toEqual([]);
});

test("a dialog that is shown a second before its hook is wrong", () => {
  expect(judgeLive(2_500).wrong).toEqual(["late file at 1000 ms: busy was shown, then waiting_permission"]);
});

test("a dialog that is shown too late is wrong", () => {
  expect(judgeLive(5_200).wrong).toEqual(["late file at 4500 ms: expected waiting_permission, shown busy"]);
});
