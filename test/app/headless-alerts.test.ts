/** A headless app with one channel alerts as well as a desktop does. */
import { expect, test } from "bun:test";
import { proj } from "../app-fixture.ts";
import { createChannelFixture } from "../channels/app-fixture.ts";
import { startNtfyServer } from "../channels/servers/ntfy.ts";
import { forEachTest } from "../for-each-test.ts";
import { waitUntil } from "../wait-until.ts";

const fixture = forEachTest(createChannelFixture);

test("an alert, its update when the ask learns its command, and its end; mute and snooze hold", async () => {
  const server = await startNtfyServer();
  fixture.configure({ phone: { type: "ntfy", server } });
  const app = await fixture.start();
  expect(app.isHeadless).toBe(true);
  const { pid } = fixture.startAgent();
  fixture.writeStatus(pid, { sessionId: "s", status: "waiting", waitingFor: "permission prompt" });
  await waitUntil(() => server.published().length === 1, 8_000);
  const permission = (command: string) => ({ tool_name: "Bash", tool_input: { command } });
  const ask = (session_id: string, command: string) =>
    fixture.postHook({
      session_id,
      hook_event_name: "PermissionRequest",
      ...proj,
      ...permission(command),
    });
  await ask("s", "npm publish");
  await waitUntil(() => server.published().length === 2, 8_000);
  fixture.writeStatus(pid, { sessionId: "s", status: "busy" });
  await fixture.postHook({
    session_id: "s",
    hook_event_name: "PostToolUse",
    ...proj,
    ...permission("npm publish"),
    tool_use_id: "t",
  });
  await waitUntil(() => server.published().length === 3, 8_000);
  const [shown, updated, ended] = server.published();
  expect(shown?.message).not.toContain("npm publish");
  expect(updated?.message).toContain("npm publish");
  expect(ended?.message).not.toContain("npm publish");
  expect(new Set(server.published().map(({ sequenceId }) => sequenceId)).size).toBe(1);

  await fixture.postHook({ session_id: "muted", hook_event_name: "SessionStart", ...proj });
  await fixture.postHook({ session_id: "snoozed", hook_event_name: "SessionStart", ...proj });
  await fixture.post({}, "/api/sessions/muted/mute");
  await fixture.post({ minutes: 10 }, "/api/sessions/snoozed/snooze");
  await ask("muted", "echo muted");
  await ask("snoozed", "echo snoozed");
  // Asked last, so the other two would have been sent before it.
  await ask("loud", "echo loud");
  await fixture.waitForText(server, "echo loud");
  expect(server.published()).toHaveLength(4);
  await fixture.post({ on: false }, "/api/sessions/muted/mute");
  await fixture.waitForText(server, "echo muted");
  expect(server.messages().some(({ text }) => text.includes("echo snoozed"))).toBe(false);
}, 30_000);
