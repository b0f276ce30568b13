/** The sink's rounds, in virtual time: which alerts are put into the queue of a channel, and when. */
import { afterEach, describe, expect, test } from "bun:test";
import { claude } from "../../src/agents/claude/index.ts";
import { openEnvelope } from "../../src/agents/envelope.ts";
import { type ChannelSinkOptions, createChannelSink } from "../../src/channels/sink.ts";
import { parseConfig } from "../../src/core/config/config.ts";
import { noPreferences } from "../../src/core/config/preferences.ts";
import type { PresenceReading } from "../../src/core/interfaces/index.ts";
import { asRecord, type JsonRecord } from "../../src/core/json.ts";
import { createInternalEvent, type FileStatus } from "../../src/core/session/event.ts";
import type { Session } from "../../src/core/session/session.ts";
import { createStore } from "../../src/state/store.ts";
import { createVirtualTime } from "../virtual-time.ts";

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const minuteMs = 60_000;
const present: PresenceReading = { idleMs: 1_000, isLocked: false };

/** Messages are looked at in the saved state. Nothing is sent: no server listens on the port. */
async function createFixture(
  fields: object = {},
  settings: object = {},
  more: Partial<ChannelSinkOptions> = {},
  show: (session: Session) => Session = (session) => session,
) {
  const time = createVirtualTime();
  const { clock, schedule } = time;
  const store = createStore();
  const { config } = parseConfig({
    channels: { phone: { type: "ntfy", topic: "t", server: "http://127.0.0.1:9", ...fields } },
    ...settings,
  });
  let readSaved = (): JsonRecord => ({});
  let count = 0;
  let presence = present;
  let isVisible: boolean | null = false;
  let paneChecks = 0;
  const sink = createChannelSink({
    clock,
    schedule,
    sessions: (now) => store.sessions(now).map(show),
    get(ref) {
      const session = store.get(ref);
      return session && show(session);
    },
    config: () => config,
    preferences: () => noPreferences,
    details: () => null,
    maskedDetails: () => null,
    answer: async () => "nothing is answered here",
    prompts: () => null,
    readPresence: async () => presence,
    terminals: {
      async isPaneVisible() {
        paneChecks++;
        return isVisible;
      },
    },
    isPageFocused: () => false,
    readSecrets: () => ({ get: () => null, hasVariable: () => false, problem: null, redact: (text) => text }),
    isCaughtUp: () => true,
    home: "/home/dev",
    saved: {},
    createSaver(value) {
      readSaved = value;
      return { schedule() {}, flush() {} };
    },
    onDelivery() {},
    onProblem() {},
    ...more,
  });
  store.subscribe((session, event, before) => sink.onChange?.({ session, event, before }));
  stops.push(sink.stop);
  await sink.reload();
  await time.advance(2_000);

  function send(hook_event_name: string, payloadFields: object = {}): void {
    const now = clock();
    const payload = { session_id: "s1", hook_event_name, cwd: "/home/dev/shop", ...payloadFields };
    const _meta = { pid: 4_242, tty: "/dev/pts/7" };
    const hook = openEnvelope({ provider: "claude", _meta, payload }, "claude", now.host);
    const id = `e${++count}`;
    const event = hook && claude.translate(hook, { at: now.at, t: now.t, id, key: id });
    if (event) store.dispatch(event);
  }
  /** What the agent's status file says. */
  function setFile(status: FileStatus): void {
    const change = { kind: "status", status, waitingFor: null, title: null } as const;
    store.dispatch(createInternalEvent(`e${++count}`, clock(), { agent: "claude", sessionId: "s1" }, change));
  }
  return {
    ...time,
    sink,
    send,
    setFile,
    ask: () => send("PermissionRequest", { tool_name: "Bash", tool_input: { command: "npm test" } }),
    messageCount: () => (asRecord(asRecord(readSaved().channels).phone).messages as unknown[]).length,
    setPresence(value: PresenceReading) {
      presence = value;
    },
    setVisible(value: boolean | null) {
      isVisible = value;
    },
    paneChecks: () => paneChecks,
  };
}

describe("a request that nobody answers while you are at the desk", () => {
  test("goes to the phone after two minutes", async () => {
    const fixture = await createFixture();
    fixture.ask();
    await fixture.advance(2 * minuteMs - 1_000);
    expect(fixture.messageCount()).toBe(0);
    expect(fixture.paneChecks()).toBe(0);
    await fixture.advance(2_000);
    expect(fixture.messageCount()).toBe(1);
  });

  test("waits as long as you look at the pane of its session, and goes out once you look away", async () => {
    const fixture = await createFixture();
    fixture.setVisible(true);
    fixture.ask();
    await fixture.advance(10 * minuteMs);
    expect(fixture.paneChecks()).toBeGreaterThan(1);
    expect(fixture.messageCount()).toBe(0);
    fixture.setVisible(false);
    await fixture.advance(6_000);
    expect(fixture.messageCount()).toBe(1);
  });

  test("goes out if you leave with the pane in front", async () => {
    const fixture = await createFixture();
    fixture.setVisible(true);
    fixture.ask();
    await fixture.advance(10 * minuteMs);
    expect(fixture.messageCount()).toBe(0);
    fixture.setPresence({ idleMs: 3 * minuteMs, isLocked: false });
    await fixture.advance(6_000);
    expect(fixture.messageCount()).toBe(1);
  });

  test("does not wait if it cannot be known whether the pane is visible", async () => {
    const fixture = await createFixture();
    fixture.setVisible(null);
    fixture.ask();
    await fixture.advance(2 * minuteMs + 1_000);
    expect(fixture.messageCount()).toBe(1);
  });

  test("does not wait for a desktop that does not answer", async () => {
    const fixture = await createFixture(
      {},
      {},
      { terminals: { isPaneVisible: () => new Promise(() => {}) } },
    );
    fixture.ask();
    await fixture.advance(2 * minuteMs + 5_000);
    expect(fixture.messageCount()).toBe(1);
  });

  test("does not wait if you want alerts while you look, or always", async () => {
    const whileLooking = await createFixture({}, { alerts: { whileLooking: true } });
    const always = await createFixture({ when: "always" });
    for (const fixture of [whileLooking, always]) {
      fixture.setVisible(true);
      fixture.ask();
      await fixture.advance(2 * minuteMs + 1_000);
      expect(fixture.messageCount()).toBe(1);
      expect(fixture.paneChecks()).toBe(0);
    }
  });
});

test("an ask that is hidden at first is sent once it is not, although nothing happens in its session", async () => {
  let isHidden = true;
  const hide = (session: Session): Session => (isHidden ? { ...session, asks: [] } : session);
  const fixture = await createFixture({ when: "always", afterSeconds: 0 }, {}, {}, hide);
  fixture.ask();
  await fixture.advance(2_000);
  expect(fixture.messageCount()).toBe(0);
  isHidden = false;
  fixture.sink.onRefresh?.();
  await fixture.advance(2_000);
  expect(fixture.messageCount()).toBe(1);
});

test("the end of a turn is sent although nothing happens after it", async () => {
  const fixture = await createFixture(
    { when: "always", afterSeconds: 0, asks: ["finished"] },
    { alerts: { finished: true } },
  );
  fixture.send("UserPromptSubmit", { prompt: "go" });
  fixture.setFile("busy");
  await fixture.advance(3_000);
  // The file is quicker than the hook, and both are quicker than the time after which they are sure.
  fixture.setFile("idle");
  fixture.send("Stop", { last_assistant_message: "done" });
  await fixture.advance(3_000);
  expect(fixture.messageCount()).toBe(1);
});
