/** A headless app with one alert sink alerts as well as a desktop does. */
import { expect, test } from "bun:test";
import type { OpenAlertSink } from "../../src/core/ports.ts";
import type { Alert } from "../../src/core/view/view.ts";
import { createAppFixture, proj } from "../app-fixture.ts";
import { forEachTest } from "../for-each-test.ts";
import { waitUntil } from "../wait-until.ts";

const fixture = forEachTest(createAppFixture);

/** Keeps what it is asked to do, in order. */
function createRecordingSink() {
  const calls: string[] = [];
  const shown = new Map<string, Alert>();
  const open: OpenAlertSink = async () => ({
    async show(alert) {
      calls.push(`${shown.has(alert.key) ? "update" : "show"}: ${alert.title}: ${alert.body.split("\n")[0]}`);
      shown.set(alert.key, alert);
      return alert.key;
    },
    async close(key) {
      calls.push(`close: ${shown.get(key)?.title}`);
      shown.delete(key);
    },
    forget: async () => {},
    isSilenced: async () => false,
    stop: async () => {},
  });
  return { open, calls, shown };
}

test("an alert, its update when the ask learns its command, and its end; mute and snooze hold", async () => {
  const { open, calls, shown } = createRecordingSink();
  const app = await fixture.start({}, { alertSinks: { phone: open } });
  expect(app.isHeadless).toBe(true);
  const { pid } = fixture.startAgent();
  fixture.writeStatus(pid, { sessionId: "s", status: "waiting", waitingFor: "permission prompt" });
  await waitUntil(() => calls.length === 1, 5_000);
  const permission = { tool_name: "Bash", tool_input: { command: "npm publish" } };
  await fixture.postHook({ session_id: "s", hook_event_name: "PermissionRequest", ...proj, ...permission });
  await waitUntil(() => calls.length === 2, 5_000);
  fixture.writeStatus(pid, { sessionId: "s", status: "busy" });
  await fixture.postHook({
    session_id: "s",
    hook_event_name: "PostToolUse",
    ...proj,
    ...permission,
    tool_use_id: "t",
  });
  await waitUntil(() => calls.length === 3, 5_000);
  expect(calls.map((call) => call.split(":")[0])).toEqual(["show", "update", "close"]);
  expect(calls[1]).toContain("npm publish");

  const ask = (session_id: string) =>
    fixture.postHook({ session_id, hook_event_name: "PermissionRequest", ...proj, ...permission });
  await fixture.postHook({ session_id: "muted", hook_event_name: "SessionStart", ...proj });
  await fixture.postHook({ session_id: "snoozed", hook_event_name: "SessionStart", ...proj });
  await fixture.post({}, "/api/sessions/muted/mute");
  await fixture.post({ minutes: 10 }, "/api/sessions/snoozed/snooze");
  await ask("muted");
  await ask("snoozed");
  // Asked last, so the other two would have been shown before it.
  await ask("loud");
  await waitUntil(() => calls.length === 4, 5_000);
  expect([...shown.values()].map(({ session }) => session)).toEqual(["claude:loud"]);
  await fixture.post({ on: false }, "/api/sessions/muted/mute");
  await waitUntil(() => shown.size === 2, 5_000);
});
