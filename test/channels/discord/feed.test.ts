import { describe, expect, test } from "bun:test";
import { DeliveryError } from "../../../src/channels/channel.ts";
import { createSessionFeed, type StartedSession } from "../../../src/channels/discord/feed.ts";
import type { SessionChange, Transition } from "../../../src/core/interfaces/index.ts";
import type { SpanState } from "../../../src/core/interfaces/wire.ts";
import type { JsonRecord } from "../../../src/core/json.ts";
import type { Session } from "../../../src/core/session/session.ts";
import { createTimeline, type Timeline } from "../../core/session/fixture.ts";
import { createVirtualTime } from "../../virtual-time.ts";

interface Posted {
  readonly channel: string;
  readonly content: string;
}

const channel = "100000000000000001";

function createFixture(
  settings: JsonRecord = {},
  saved: { value: JsonRecord } = { value: {} },
  readLastResponse: (session: Session) => Promise<string | null> = async () => null,
) {
  const time = createVirtualTime();
  const threads: { channel: string; text: string; name: string; nonce: string }[] = [];
  const posts: Posted[] = [];
  const problems: string[] = [];
  const failures: DeliveryError[] = [];
  const fail = () => {
    const failure = failures.shift();
    if (failure) throw failure;
  };
  const feed = createSessionFeed({
    settings: { projects: { "/home/dev": channel }, forward: { phases: true, responses: true }, ...settings },
    state: {
      get: () => saved.value,
      set: (value) => {
        saved.value = value;
      },
    },
    schedule: time.schedule,
    now: () => time.clock().at,
    onProblem: (text) => problems.push(text),
    readLastResponse,
    async createThread(to, text, name, nonce) {
      fail();
      threads.push({ channel: to, text, name, nonce });
      return `thread-${threads.length}`;
    },
    async post(to, content) {
      fail();
      posts.push({ channel: to, content });
    },
  });
  return { feed, time, threads, posts, problems, failures, saved };
}

type Fixture = ReturnType<typeof createFixture>;

const started: StartedSession = {
  provider: "claude",
  sessionId: "5e55109e-0001",
  cwd: "/home/dev/shop",
  project: "shop",
  gitBranch: "main",
  title: null,
  model: null,
  startSource: "startup",
};

/** Passes the last event of the timeline to the feed. */
function change({ feed }: Fixture, timeline: Timeline, before: Session | null): void {
  const event = timeline.events.at(-1);
  if (event) feed.onChange({ session: timeline.session(), event, before } as SessionChange);
}

function enter({ feed }: Fixture, session: Session, before: SpanState | null, state: SpanState | null): void {
  feed.onTransition({ kind: "span", session, before, state, at: 0 } as Transition);
}

const contents = ({ posts }: Fixture) => posts.map(({ content }) => content);

describe("onSessionStart", () => {
  test("creates one thread per session in the channel of its project", async () => {
    const fixture = createFixture();
    await fixture.feed.onSessionStart(started);
    await fixture.feed.onSessionStart({ ...started, startSource: "resume" });
    await fixture.feed.onSessionStart({ ...started, startSource: "compact" });
    expect(fixture.threads).toMatchObject([{ channel, name: "shop · main · 5e55109e" }]);
    expect(fixture.threads[0]?.text).toContain("shop (main)");
    await fixture.feed.onSessionStart({ ...started, sessionId: "another" });
    expect(fixture.threads).toHaveLength(2);
  });

  test("two agents can have a session with the same id", async () => {
    const fixture = createFixture();
    await fixture.feed.onSessionStart(started);
    await fixture.feed.onSessionStart({ ...started, provider: "codex" });
    expect(fixture.threads).toHaveLength(2);
  });

  test("the longest folder of the settings wins, and a folder without a channel gets no thread", async () => {
    const projects = { "/home/dev": "1", "/home/dev/shop": "2", "/home/dev/shop/api": "3" };
    const { feed, threads } = createFixture({ projects });
    await feed.onSessionStart({ ...started, cwd: "/home/dev/shop/apis" });
    await feed.onSessionStart({ ...started, sessionId: "2", cwd: "/home/dev/shop/api" });
    await feed.onSessionStart({ ...started, sessionId: "3", cwd: "/home/devil" });
    await feed.onSessionStart({ ...started, sessionId: "4", cwd: null });
    expect(threads.map((thread) => thread.channel)).toEqual(["2", "3"]);
  });

  test.each(["clear", "fork"])(
    "a session that starts over with %s gets a new thread",
    async (startSource) => {
      const fixture = createFixture();
      await fixture.feed.onSessionStart(started);
      await fixture.feed.sendToSessionThread("claude", started.sessionId, "hello");
      await fixture.feed.onSessionStart({ ...started, startSource });
      expect(fixture.threads).toHaveLength(2);
      expect(new Set(fixture.threads.map(({ nonce }) => nonce)).size).toBe(2);
      // Reported a second time, as by the status file and a hook.
      await fixture.feed.onSessionStart({ ...started, startSource });
      expect(fixture.threads).toHaveLength(2);
    },
  );

  test("threads are remembered across restarts, and two hundred at most", async () => {
    const first = createFixture();
    for (let n = 0; n < 210; n++) await first.feed.onSessionStart({ ...started, sessionId: `s${n}` });
    const second = createFixture({}, first.saved);
    await second.feed.onSessionStart({ ...started, sessionId: "s209" });
    expect(second.threads).toEqual([]);
    expect(await second.feed.sendToSessionThread("claude", "s209", "hello")).toBe(true);
    expect(second.posts).toEqual([{ channel: "thread-210", content: "hello" }]);
    expect(await second.feed.sendToSessionThread("claude", "s0", "hello")).toBe(false);
  });

  test("names from a session neither format nor mention anything", async () => {
    const fixture = createFixture();
    await fixture.feed.onSessionStart({ ...started, project: "**@everyone** \u202e<@1>", gitBranch: "a`b`" });
    expect(fixture.threads[0]?.text).toContain("\\*\\*\\@everyone\\*\\* \\<\\@1> (a\\`b\\`)");
    expect(fixture.threads[0]?.name).not.toContain("\u202e");
  });

  test("a channel in which no thread can be created is left alone for a while", async () => {
    const fixture = createFixture();
    fixture.failures.push(new DeliveryError("the bot may not write there", { isPermanent: true }));
    await fixture.feed.onSessionStart(started);
    await fixture.feed.onSessionStart(started);
    expect(fixture.threads).toEqual([]);
    expect(fixture.problems).toEqual(["no thread could be created: the bot may not write there"]);
    await fixture.time.advance(11 * 60_000);
    await fixture.feed.onSessionStart(started);
    expect(fixture.threads).toHaveLength(1);
  });

  test("a failure that may pass is tried again, with the pause that Discord asks for, and makes one thread", async () => {
    const fixture = createFixture();
    fixture.failures.push(new DeliveryError("x"), new DeliveryError("y", { retryAfterMs: 5_000 }));
    const done = fixture.feed.onSessionStart(started);
    await fixture.time.advance(1_000);
    expect(fixture.threads).toEqual([]);
    await fixture.time.advance(5_000);
    await done;
    expect(fixture.threads).toHaveLength(1);
  });
});

describe("sendToSessionThread", () => {
  test("resolves with false for a session without a thread", async () => {
    const fixture = createFixture();
    expect(await fixture.feed.sendToSessionThread("claude", "unknown", "hello")).toBe(false);
    expect(fixture.problems).toEqual([]);
  });

  test("resolves with false if Discord does not take it, and logs why", async () => {
    const fixture = createFixture();
    await fixture.feed.onSessionStart(started);
    fixture.failures.push(...Array.from({ length: 4 }, () => new DeliveryError("the server answered 500")));
    const sent = fixture.feed.sendToSessionThread("claude", started.sessionId, "hello");
    await fixture.time.advance(60_000);
    expect(await sent).toBe(false);
    expect(fixture.problems).toEqual(["a message did not get into its thread: the server answered 500"]);
    expect(await fixture.feed.sendToSessionThread("claude", started.sessionId, "again")).toBe(true);
  });

  test("sends nothing for an empty text", async () => {
    const fixture = createFixture();
    await fixture.feed.onSessionStart(started);
    expect(await fixture.feed.sendToSessionThread("claude", started.sessionId, " \n")).toBe(false);
    expect(fixture.posts).toEqual([]);
  });

  test("waits for a thread that is being created", async () => {
    const fixture = createFixture();
    const start = fixture.feed.onSessionStart(started);
    const sent = fixture.feed.sendToSessionThread("claude", started.sessionId, "hello");
    expect([await start, await sent]).toEqual([undefined, true]);
    expect(fixture.posts).toEqual([{ channel: "thread-1", content: "hello" }]);
  });

  test("a thread that the user deleted is forgotten", async () => {
    const fixture = createFixture();
    await fixture.feed.onSessionStart(started);
    fixture.failures.push(new DeliveryError("the channel does not exist", { isPermanent: true }));
    expect(await fixture.feed.sendToSessionThread("claude", started.sessionId, "hello")).toBe(false);
    expect(await fixture.feed.sendToSessionThread("claude", started.sessionId, "hello")).toBe(false);
    expect(fixture.problems).toHaveLength(1);
  });
});

describe("what a session does", () => {
  test("a session first seen through its status file gets a thread, one that has ended does not", async () => {
    const fixture = createFixture();
    const seen = createTimeline().hook("UserPromptSubmit", { prompt: "hi" }).file("busy");
    change(fixture, seen, null);
    await fixture.time.advance(0);
    expect(fixture.threads).toHaveLength(1);
    const other = createFixture();
    const ended = createTimeline().hook("SessionStart", { source: "startup" }).hook("SessionEnd");
    change(other, ended, null);
    await other.time.advance(0);
    expect(other.threads).toEqual([]);
  });

  test("sessions that were active when the channel opened get a thread, those of yesterday do not", async () => {
    const fixture = createFixture();
    const { at, t } = fixture.time.clock();
    const session = createTimeline().hook("UserPromptSubmit", { prompt: "hi" }).session();
    const recent = { ...session, sessionId: "recent", last: { at, t } };
    const old = { ...session, sessionId: "old", last: { at: at - 86_400_000, t } };
    fixture.feed.onOpened([
      recent,
      old,
      { ...recent, sessionId: "over", ended: { at, t, reason: "x", whileBusy: false } },
    ]);
    await fixture.time.advance(0);
    expect(fixture.threads.map(({ name }) => name)).toEqual(["proj · recent"]);
  });

  test("the last response of a turn is posted, then that it is ready", async () => {
    const fixture = createFixture();
    const timeline = createTimeline().hook("SessionStart", { source: "startup" });
    change(fixture, timeline, null);
    const before = timeline.hook("UserPromptSubmit", { prompt: "hi" }).session();
    enter(fixture, before, "ready", "working");
    await fixture.time.advance(1_000);
    timeline.hook("Stop", { last_assistant_message: "**Done.**" });
    enter(fixture, timeline.session(), "working", "ready");
    change(fixture, timeline, before);
    await fixture.time.advance(1_000);
    expect(contents(fixture)).toEqual(["Working", "\\*\\*Done.\\*\\*", "Ready for your next prompt"]);
  });

  test("a response that no hook reports is read from the transcript; without one nothing is sent", async () => {
    const responses: (string | null)[] = ["From the transcript.", null];
    const fixture = createFixture({}, undefined, async () => responses.shift() ?? null);
    const timeline = createTimeline().hook("SessionStart", { source: "startup" });
    change(fixture, timeline, null);
    for (let turn = 0; turn < 2; turn++) {
      const before = timeline.hook("UserPromptSubmit", { prompt: "hi" }).session();
      timeline.hook("Stop");
      change(fixture, timeline, before);
      await fixture.time.advance(1_000);
    }
    expect(contents(fixture)).toEqual(["From the transcript."]);
  });

  test("responses and phases are only sent if the settings say so; the end always is", async () => {
    const fixture = createFixture({ forward: { phases: false, responses: false } });
    const timeline = createTimeline().hook("SessionStart", { source: "startup" });
    change(fixture, timeline, null);
    const before = timeline.hook("UserPromptSubmit", { prompt: "hi" }).session();
    enter(fixture, before, "ready", "working");
    timeline.hook("Stop", { last_assistant_message: "Done." });
    change(fixture, timeline, before);
    enter(fixture, timeline.hook("SessionEnd").session(), "ready", null);
    await fixture.time.advance(1_000);
    expect(contents(fixture)).toEqual(["The session has ended."]);
  });

  test("responses stay here unless the user asks for them", async () => {
    const fixture = createFixture({ forward: undefined });
    const timeline = createTimeline().hook("SessionStart", { source: "startup" });
    change(fixture, timeline, null);
    const before = timeline.session();
    change(fixture, timeline.hook("Stop", { last_assistant_message: "secret plan" }), before);
    await fixture.time.advance(1_000);
    expect(fixture.posts).toEqual([]);
  });

  test("a tool that is named after the status file opened the ask is in the message", async () => {
    const fixture = createFixture();
    const timeline = createTimeline().hook("SessionStart", { source: "startup" });
    change(fixture, timeline, null);
    timeline.hook("UserPromptSubmit", { prompt: "go" }).file("waiting", "permission prompt");
    enter(fixture, timeline.session(), "working", "waiting");
    await fixture.time.advance(100);
    timeline.hook("PermissionRequest", { tool_name: "Bash", tool_input: { command: "ls" } });
    const session = timeline.session();
    const [ask] = session.asks;
    fixture.feed.onTransition({ kind: "ask-named", id: "a", session, ask } as Transition);
    await fixture.time.advance(1_000);
    expect(contents(fixture)).toEqual(["Waiting for you: Permission for Bash"]);
  });

  test("waiting names what is asked, but not the command", async () => {
    const fixture = createFixture();
    const timeline = createTimeline().hook("SessionStart", { source: "startup" });
    change(fixture, timeline, null);
    timeline.hook("PermissionRequest", { tool_name: "Bash", tool_input: { command: "cat ~/.ssh/id" } });
    enter(fixture, timeline.session(), "working", "waiting");
    await fixture.time.advance(1_000);
    expect(contents(fixture)).toEqual(["Waiting for you: Permission for Bash"]);
  });

  test("a phase that lasts no longer than a moment is not posted, nor the same one twice", async () => {
    const fixture = createFixture();
    const session = createTimeline().hook("SessionStart", { source: "startup" }).session();
    await fixture.feed.onSessionStart({ ...started, sessionId: session.sessionId });
    enter(fixture, session, "ready", "working");
    await fixture.time.advance(600);
    for (let n = 0; n < 5; n++) {
      enter(fixture, session, "working", "waiting");
      enter(fixture, session, "waiting", "working");
    }
    await fixture.time.advance(1_000);
    expect(contents(fixture)).toEqual(["Working"]);
  });

  test("a session that starts over keeps no thread of what was before, though its id is the same", async () => {
    const fixture = createFixture();
    const timeline = createTimeline().hook("SessionStart", { source: "startup" });
    change(fixture, timeline, null);
    await fixture.feed.sendToSessionThread("claude", timeline.session().sessionId, "old");
    const before = timeline.session();
    change(fixture, timeline.hook("SessionStart", { source: "clear" }), before);
    await fixture.feed.sendToSessionThread("claude", timeline.session().sessionId, "new");
    expect(fixture.posts).toEqual([
      { channel: "thread-1", content: "old" },
      { channel: "thread-2", content: "new" },
    ]);
  });

  test("doctor's test sessions get no thread", async () => {
    const fixture = createFixture();
    await fixture.feed.onSessionStart({ ...started, sessionId: "beckon-doctor-1" });
    expect(fixture.threads).toEqual([]);
  });
});

test("posts that wait are limited, and stop ends all waiting", async () => {
  const fixture = createFixture();
  await fixture.feed.onSessionStart(started);
  fixture.failures.push(
    ...Array.from({ length: 100 }, () => new DeliveryError("x", { retryAfterMs: 60_000 })),
  );
  const sent = Array.from({ length: 50 }, (_, n) =>
    fixture.feed.sendToSessionThread("claude", started.sessionId, `${n}`),
  );
  await fixture.feed.stop();
  expect(await Promise.all(sent)).toEqual(Array.from({ length: 50 }, () => false));
  expect(fixture.posts).toEqual([]);
});
