import { afterEach, beforeEach, expect, test } from "bun:test";
import { type AppFixture, createAppFixture, createPromptEvent } from "../app-fixture.ts";

let fixture: AppFixture;
beforeEach(async () => {
  fixture = createAppFixture();
  await fixture.start();
  await fixture.postHook(createPromptEvent("s1"));
});
afterEach(() => fixture.destroy());

const payload = {
  session_id: "s1",
  model: { id: "claude-opus-4-6[1m]", display_name: "Opus 4.6" },
  context_window: {
    context_window_size: 1_000_000,
    current_usage: {
      input_tokens: 100,
      output_tokens: 20,
      cache_creation_input_tokens: 30,
      cache_read_input_tokens: 4_000,
    },
  },
  rate_limits: {
    five_hour: { used_percentage: 23.5, resets_at: 1_794_900_000 },
    seven_day: { used_percentage: 41, resets_at: "soon" },
  },
};
const send = (fields: object = {}, provider = "claude") =>
  fixture.post({ provider, payload: { ...payload, ...fields } }, "/api/statusline");

test("the status line gives a session its context and quotas, and is not journalled", async () => {
  const before = fixture.readJournal();
  expect((await send()).status).toBe(200);
  expect(await fixture.fetchSession("s1")).toMatchObject({
    model: "claude-opus-4-6[1m]",
    context: { used: 4_130, window: 1_000_000 },
    rateLimits: {
      fiveHour: { usedPercent: 23.5, resetsAt: 1_794_900_000_000 },
      sevenDay: { usedPercent: 41, resetsAt: null },
    },
    activityPhase: "busy",
  });
  expect(fixture.readJournal()).toBe(before);
});

test("what a later status line does not say stays", async () => {
  await send();
  expect((await send({ rate_limits: null, context_window: { current_usage: null } })).status).toBe(200);
  expect(await fixture.fetchSession("s1")).toMatchObject({
    context: { used: 4_130 },
    rateLimits: { fiveHour: { usedPercent: 23.5 } },
  });
});

test("it creates no session, and no wrong value counts", async () => {
  expect((await send({ session_id: "unknown" })).status).toBe(200);
  expect(await fixture.fetchSession("unknown")).toBeUndefined();
  const odd = {
    model: 3,
    context_window: { context_window_size: -1, current_usage: { input_tokens: "9" } },
    rate_limits: { five_hour: { used_percentage: Number.NaN }, seven_day: [] },
  };
  expect((await send(odd)).status).toBe(200);
  expect(await fixture.fetchSession("s1")).toMatchObject({ context: null, rateLimits: null });
  expect((await send({ session_id: 3 })).status).toBe(400);
  expect((await send({}, "nobody")).status).toBe(400);
  expect((await fixture.post({ provider: "claude" }, "/api/statusline")).status).toBe(400);
});
