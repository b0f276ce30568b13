/**
 * A local ntfy server: POST / with JSON, POST /topic, GET /topic/json?since=…, as docs.ntfy.sh describes them and as ntfy 2.27.0
 * behaves (test/long/ntfy-server.test.ts runs the real one).
 */
import { asRecord } from "../../../src/core/json.ts";
import type { FakeService, Misbehaviour } from "./fake-service.ts";

interface Stored {
  readonly id: string;
  readonly time: number;
  readonly topic: string;
  readonly sequenceId: string;
  readonly title: string;
  readonly message: string;
  readonly priority: number;
  readonly tags: readonly string[];
  readonly click: string | null;
  readonly actions: readonly Readonly<Record<string, unknown>>[];
}

export interface NtfyServer extends FakeService {
  readonly url: string;
  /** Everything that was published to the topic, including what was replaced. */
  published(topic?: string): readonly Stored[];
  publishReply(text: string): Promise<void>;
  /** Wall time in ms at which something was last published to the reply topic. */
  lastTapAt(): number;
  listenerCount(): number;
  /** How many subscribers have come so far. */
  connectedCount(): number;
  /** Requests that were taken and are never answered. */
  hangingCount(): number;
  /** Takes the next message, and never answers. */
  withholdReceipt(): void;
  /** Writes to the streams of all subscribers. */
  writeToListeners(text: string): void;
}

const topic = "alerts-4f1c";
const replyTopic = "answers-9b2e";
const token = "tk_local";

export interface NtfyOptions {
  /** Everybody may publish and read, as on ntfy.sh. */
  readonly isPublic?: boolean;
}

export async function startNtfyServer({ isPublic = false }: NtfyOptions = {}): Promise<NtfyServer> {
  const isAllowed = ({ headers }: Request) => isPublic || headers.get("authorization") === `Bearer ${token}`;
  const stored: Stored[] = [];
  const listeners = new Map<string, Set<ReadableStreamDefaultController<Uint8Array>>>();
  let plan: { how: Misbehaviour; times: number } | null = null;
  let count = 0;
  let hanging = 0;
  let isReceiptWithheld = false;
  let tappedAt = 0;
  let connected = 0;
  let lastReply: string | null = null;
  const encoder = new TextEncoder();
  const encode = (event: string, message: Partial<Stored>) =>
    encoder.encode(`${JSON.stringify({ id: `m${++count}`, time: 1, event, ...message })}\n`);

  function add(message: Omit<Stored, "id" | "time">): Stored {
    const entry = { ...message, id: `id${++count}`, time: Math.floor(Date.now() / 1_000) };
    stored.push(entry);
    for (const listener of listeners.get(entry.topic) ?? []) listener.enqueue(encode("message", entry));
    return entry;
  }

  function subscribe(name: string, since: string | null): Response {
    connected++;
    const own = listeners.get(name) ?? new Set();
    listeners.set(name, own);
    let controller: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>({
      start(opened) {
        controller = opened;
        own.add(opened);
        opened.enqueue(encode("open", { topic: name }));
        const messages = stored.filter((message) => message.topic === name);
        const start = messages.findIndex(({ id }) => id === since);
        for (const message of since === null ? [] : messages.slice(start + 1))
          opened.enqueue(encode("message", message));
      },
      cancel: () => void own.delete(controller),
    });
    return new Response(body, { headers: { "Content-Type": "application/x-ndjson" } });
  }

  async function takeMisbehaviour(): Promise<Misbehaviour | null> {
    if (!plan) return null;
    const { how } = plan;
    plan.times--;
    if (plan.times === 0) plan = null;
    return how;
  }

  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      const [name = "", what = ""] = pathname.slice(1).split("/");
      if (request.method === "GET" && what === "json") {
        if (!isAllowed(request)) return Response.json({ code: 40301, error: "forbidden" }, { status: 403 });
        return subscribe(name, searchParams.get("since"));
      }
      if (request.method === "POST" && name === "") return publish(request);
      if (request.method === "POST") {
        tappedAt = performance.timeOrigin + performance.now();
        const message = await request.text();
        return Response.json(add({ ...emptyMessage, topic: name, message }));
      }
      return new Response("not found", { status: 404 });
    },
  });

  async function publish(request: Request): Promise<Response> {
    const how = await takeMisbehaviour();
    switch (how) {
      case "rate-limit":
        return Response.json(
          { code: 42901, error: "limit reached: too many requests" },
          { status: 429, headers: { "Retry-After": "1" } },
        );
      case "error":
        return new Response("bad gateway", { status: 502 });
      case "refuse":
        return Response.json({ code: 40301, error: "forbidden" }, { status: 403 });
      case "hang":
        hanging++;
        return new Promise<Response>(() => {});
      case "reset":
        return breakConnection();
      case "garbage":
        return new Response("<html>captive portal</html>", { status: 302, headers: { Location: "/login" } });
    }
    if (!isAllowed(request)) return Response.json({ code: 40301, error: "forbidden" }, { status: 403 });
    const json = await request.text();
    if (Buffer.byteLength(json) >= 8_192)
      return Response.json({ code: 41303, error: "JSON body too large" }, { status: 413 });
    const body = asRecord(JSON.parse(json));
    if (Buffer.byteLength(String(body.message)) >= 4_096)
      return Response.json(
        { code: 40014, error: "invalid request: attachments not allowed" },
        { status: 400 },
      );
    const entry = add({
      topic: String(body.topic),
      sequenceId: typeof body.sequence_id === "string" ? body.sequence_id : "",
      title: String(body.title ?? ""),
      message: String(body.message ?? ""),
      priority: Number(body.priority ?? 3),
      tags: (body.tags as string[]) ?? [],
      click: typeof body.click === "string" ? body.click : null,
      actions: (body.actions as Stored["actions"]) ?? [],
    });
    if (how === "lose-answer") return breakConnection();
    if (!isReceiptWithheld) return Response.json(entry);
    isReceiptWithheld = false;
    return new Promise<Response>(() => {});
  }

  /** A body that fails makes Bun close the socket in the middle of the response. */
  function breakConnection(): Response {
    const body = new ReadableStream({ pull: (controller) => controller.error(new Error("reset")) });
    return new Response(body, { headers: { "Content-Length": "1000" } });
  }

  /** As apps show them: one notification per sequence id, in its newest form. */
  function current(): readonly Stored[] {
    const bySequence = new Map<string, Stored>();
    for (const message of stored.filter((one) => one.topic === topic))
      bySequence.set(message.sequenceId || message.id, message);
    return [...bySequence.values()];
  }

  async function publishReply(text: string): Promise<void> {
    lastReply = text;
    await fetch(`${server.url.origin}/${replyTopic}`, { method: "POST", body: text });
  }

  return {
    url: server.url.origin,
    settings: { server: server.url.origin, topic, replyTopic },
    secrets: { token },
    accounts: { listed: "", foreign: "" },
    published: (name = topic) => stored.filter((message) => message.topic === name),
    messages: () =>
      current().map(({ title, message, actions }) => ({
        text: `${title}\n${message}`,
        buttons: actions.map(({ label }) => String(label)),
        mentions: [],
      })),
    bodies: () => stored,
    sentCount: () => new Set(stored.filter((one) => one.topic === topic).map((one) => one.sequenceId)).size,
    misbehave(how, times) {
      plan = { how, times };
    },
    async tap(label) {
      const action = current()
        .toReversed()
        .flatMap(({ actions }) => actions)
        .find((one) => one.label === label);
      if (!action) throw new Error(`no message has a button "${label}"`);
      lastReply = String(action.body);
      await fetch(String(action.url), { method: String(action.method), body: lastReply });
    },
    async reply(text) {
      const newest = current().at(-1);
      const [action] = newest?.actions ?? [];
      const hidden = asRecord(action?.headers)["X-Beckon-Reply"];
      const reference = hidden ?? /Publish to \S+: (\S+) your text/.exec(newest?.message ?? "")?.[1];
      if (!reference) throw new Error("the newest message takes no reply");
      await publishReply(`${reference} ${text}`);
    },
    forge: publishReply,
    async replay() {
      await publishReply(lastReply ?? "");
    },
    publishReply,
    lastTapAt: () => tappedAt,
    hangingCount: () => hanging,
    withholdReceipt() {
      isReceiptWithheld = true;
    },
    connectedCount: () => connected,
    listenerCount: () => [...listeners.values()].reduce((sum, own) => sum + own.size, 0),
    writeToListeners(text) {
      for (const own of listeners.values())
        for (const listener of own) listener.enqueue(encoder.encode(text));
    },
    dropListeners() {
      for (const own of listeners.values()) for (const listener of own) listener.close();
      listeners.clear();
    },
    async stop() {
      await server.stop(true);
    },
  };
}

const emptyMessage: Omit<Stored, "id" | "time" | "topic" | "message"> = {
  sequenceId: "",
  title: "",
  priority: 3,
  tags: [],
  click: null,
  actions: [],
};
