/** GET /api/events of a running app. */
import { expect, test } from "bun:test";
import { connect } from "node:net";
import { version } from "../../package.json";
import { limits } from "../../src/core/limits.ts";
import { createEventStream, type EventStream } from "../../src/streams/event-stream.ts";
import { schedule } from "../../src/system/schedule.ts";
import { createAppFixture, createAskEvent, createPromptEvent, proj } from "../app-fixture.ts";
import { forEachTest } from "../for-each-test.ts";
import { waitUntil } from "../wait-until.ts";

const fixture = forEachTest(createAppFixture);

interface Received {
  readonly id: string;
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: each event has other data
  readonly data: any;
}

/** Reads the stream until `close`. */
async function openEvents(lastEventId?: string) {
  const controller = new AbortController();
  const headers: Record<string, string> = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
  const response = await fixture.request("/api/events", { headers, signal: controller.signal });
  expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  const received: Received[] = [];
  const comments: string[] = [];
  const reading = (async () => {
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body as ReadableStream<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true });
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        if (block.startsWith(":")) comments.push(block);
        else received.push(parseBlock(block));
      }
    }
  })().catch(() => {});
  return {
    received,
    comments,
    names: () => received.map(({ event }) => event),
    find: (event: string) => received.find((one) => one.event === event),
    reading,
    close: () => controller.abort(),
  };
}

function parseBlock(block: string): Received {
  const fields = Object.fromEntries(
    block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
  );
  return { id: fields.id ?? "", event: fields.event ?? "", data: JSON.parse(fields.data ?? "null") };
}

test("a client gets the whole state first, then each change once", async () => {
  await fixture.start();
  await fixture.postHook(createPromptEvent("s1"));
  const events = await openEvents();
  await waitUntil(() => events.find("snapshot"), 2_000);
  expect(events.received[0]).toMatchObject({
    event: "snapshot",
    data: { version, quiet: null, sessions: [{ sessionId: "s1", group: "working" }] },
  });
  await fixture.postHook(createAskEvent("s1"));
  await waitUntil(() => events.find("session-updated"), 2_000);
  expect(events.find("session-updated")?.data.session).toMatchObject({ sessionId: "s1", group: "needs_you" });
  expect(events.find("ask-opened")?.data).toMatchObject({
    key: "claude:s1",
    ask: { kind: "permission", tool: "Bash" },
  });
  await fixture.postHook({ ...createAskEvent("s1"), hook_event_name: "PostToolUse", tool_use_id: "t1" });
  await waitUntil(() => events.find("ask-closed"), 2_000);
  expect(events.find("ask-closed")?.data).toMatchObject({
    key: "claude:s1",
    how: "allowed",
    where: "terminal",
  });
  await fixture.postHook(createPromptEvent("s2"));
  await waitUntil(() => events.find("session-appeared"), 2_000);
  expect(events.find("session-appeared")?.data.session.sessionId).toBe("s2");
  const ids = events.received.map(({ id }) => Number(id));
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
  events.close();
});

test("a client that was away gets the asks and agents that it missed, also over a restart", async () => {
  const app = await fixture.start();
  const first = await openEvents();
  await fixture.postHook(createPromptEvent("s1"));
  await waitUntil(() => first.find("session-appeared"), 2_000);
  const last = first.received.at(-1)?.id;
  first.close();
  await fixture.postHook(createAskEvent("s1"));
  await fixture.postHook({
    session_id: "s1",
    hook_event_name: "SubagentStart",
    agent_id: "a1",
    agent_type: "Explore",
    ...proj,
  });
  const second = await openEvents(last);
  await waitUntil(() => second.find("snapshot"), 2_000);
  expect(second.names()).toEqual(["ask-opened", "agent-appeared", "snapshot"]);
  expect(second.find("agent-appeared")?.data).toMatchObject({
    agent_id: "proj/a1",
    name: "Explore",
    employment_type: "contractor",
    source: "runtime_agent",
  });
  second.close();
  await app.stop();
  await fixture.start();
  const third = await openEvents(last);
  await waitUntil(() => third.find("snapshot"), 2_000);
  expect(third.names()).toEqual(["ask-opened", "agent-appeared", "snapshot"]);
  third.close();
});

test("several clients get the same events, and one that leaves is forgotten", async () => {
  await fixture.start();
  const [first, second] = [await openEvents(), await openEvents()];
  await waitUntil(() => first.find("snapshot") && second.find("snapshot"), 2_000);
  await fixture.postHook(createPromptEvent("s1"));
  await waitUntil(() => first.find("session-appeared") && second.find("session-appeared"), 2_000);
  expect(first.find("session-appeared")?.id).toBe(second.find("session-appeared")?.id ?? "");
  first.close();
  await fixture.postHook(createPromptEvent("s2"));
  await waitUntil(() => second.received.some(({ data }) => data.session?.sessionId === "s2"), 2_000);
  expect(first.received.some(({ data }) => data.session?.sessionId === "s2")).toBe(false);
  second.close();
});

test("stopping beckon ends the stream", async () => {
  const app = await fixture.start();
  const events = await openEvents();
  await waitUntil(() => events.find("snapshot"), 2_000);
  await app.stop();
  await events.reading;
});

test("hostile text cannot add an event of its own", async () => {
  await fixture.start();
  const events = await openEvents();
  const prompt = "x\n\nevent: session-departed\ndata: {}\n\n\r\r\u2028";
  await fixture.postHook(createPromptEvent("s1", { prompt }));
  await waitUntil(() => events.find("session-appeared"), 2_000);
  expect(events.find("session-appeared")?.data.session.lastPrompt).toBe(prompt);
  expect(events.names()).not.toContain("session-departed");
  events.close();
});

function createBareStream(pingMs = 20): EventStream {
  const history = { findMissedEvents: async () => [], addStreamEvent() {} };
  return createEventStream({
    now: Date.now,
    sessions: () => [],
    findSession: () => null,
    quiet: () => null,
    history,
    schedule,
    startRendering() {},
    pingMs,
  });
}

test("a quiet stream has a ping now and then", async () => {
  const stream = createBareStream();
  const response = stream.connect(null, new AbortController().signal);
  let text = "";
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  while (!text.includes(": ping\n\n: ping\n\n"))
    text += new TextDecoder().decode((await reader.read()).value);
  stream.stop();
});

test("a client that leaves is cleaned up, whether it cancels or its connection is lost", async () => {
  const stream = createBareStream();
  const controller = new AbortController();
  const first = stream.connect(null, controller.signal);
  const second = stream.connect(null, new AbortController().signal);
  await waitUntil(() => stream.clients() === 2, 1_000);
  controller.abort();
  expect(stream.clients()).toBe(1);
  await second.body?.cancel();
  expect(stream.clients()).toBe(0);
  await first.body?.cancel();
});

test("clients that connect at the same time count at once, and make room when they leave", async () => {
  const stream = createBareStream();
  const controllers = Array.from({ length: limits.maxStreamClients * 2 }, () => new AbortController());
  const statuses = controllers.map(({ signal }) => stream.connect("1", signal).status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(limits.maxStreamClients);
  expect(statuses.slice(limits.maxStreamClients)).not.toContain(200);
  controllers[0]?.abort();
  expect(stream.connect("1", new AbortController().signal).status).toBe(200);
  expect(stream.connect("1", new AbortController().signal).status).toBe(503);
  stream.stop();
});

test("a client that does not read is dropped, and the others go on", async () => {
  const stream = createBareStream(60_000);
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => stream.connect(null, request.signal),
  });
  const slow = connect(Number(server.port), "127.0.0.1");
  slow.on("error", () => {});
  slow.pause();
  slow.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  const fast = await fetch(server.url);
  let length = 0;
  const reading = (async () => {
    for await (const chunk of fast.body as ReadableStream<Uint8Array>) length += chunk.length;
  })();
  await waitUntil(() => stream.clients() === 2, 2_000);
  const key = "k".repeat(256 * 1024);
  let sent = 0;
  await waitUntil(() => {
    stream.onTransition?.({ kind: "departed", key, at: 0 });
    sent += key.length;
    return stream.clients() === 1;
  }, 4_000);
  // What the slow client had not read is bounded.
  expect(sent).toBeLessThan(64 * 1024 * 1024);
  await waitUntil(() => length > sent, 2_000);
  slow.destroy();
  stream.stop();
  await reading;
  await server.stop(true);
});
