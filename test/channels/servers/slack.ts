/** A local server that speaks Slack's Web API, incoming webhooks and Socket Mode, as docs.slack.dev documents them. */
import type { ServerWebSocket } from "bun";
import { asRecord } from "../../../src/core/json.ts";
import { waitUntil } from "../../wait-until.ts";
import type { FakeService, Misbehaviour } from "./fake-service.ts";
import { type Fault, type ReceivedRequest, type Reply, startMisbehavingServer } from "./misbehaving.ts";

type Fields = Readonly<Record<string, unknown>>;

interface SlackMessage {
  readonly channel: string;
  readonly ts: string;
  body: Fields;
}

export interface SlackServer extends FakeService {
  readonly requests: readonly ReceivedRequest[];
  readonly webhookUrl: string;
  /** What only one user sees. */
  readonly ephemeral: readonly { readonly user: unknown; readonly text: unknown }[];
  /** Ids of envelopes, as often as they were acknowledged. */
  readonly acknowledged: readonly string[];
  connectionCount(): number;
  /** How many connections were opened. */
  openedCount(): number;
  closedCount(): number;
  /** What apps.connections.open names in place of this server. */
  socketUrl: string | null;
  /** New connections are accepted, but get no greeting. */
  isMute: boolean;
  /** Sends an envelope once a connection is there. Resolves with its id. */
  sendEnvelope(type: string, payload: object, id?: string): Promise<string>;
  /** A message in the thread of the newest message; `more` replaces fields of the event. */
  sendEvent(text: string, more?: object, eventId?: string): Promise<string>;
  sendRaw(text: string): void;
  /** Slack announces that it closes the connection. */
  announceDisconnect(reason: string): void;
}

const tokens = { botToken: "xoxb-1-2-abcdefgh", appToken: "xapp-1-A1-2-abcdefgh" } as const;
const accounts = { listed: "U0123JOE", foreign: "U0666MAL" } as const;
const webhookPath = "/services/T1/B2/secret-part";

export async function startSlackServer(): Promise<SlackServer> {
  const messages: SlackMessage[] = [];
  const ephemeral: { user: unknown; text: unknown }[] = [];
  const acknowledged: string[] = [];
  const sockets = new Set<ServerWebSocket<unknown>>();
  const unfinished = new Map<string, string>();
  let opened = 0;
  let closed = 0;
  let second = 1_700_000_000;
  let lastEnvelope: { type: string; payload: object } | null = null;
  const nextTimestamp = () => `${++second}.000100`;

  const gateway = Bun.serve<unknown, string>({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request, server) =>
      server.upgrade(request, { data: null }) ? undefined : new Response("", { status: 400 }),
    websocket: {
      open(socket) {
        opened++;
        if (slack.isMute) return;
        sockets.add(socket);
        socket.send(
          JSON.stringify({ type: "hello", num_connections: sockets.size, connection_info: { app_id: "A1" } }),
        );
        // What was not acknowledged is sent again.
        for (const text of unfinished.values()) socket.send(text);
      },
      message(_, text) {
        const { envelope_id: id } = JSON.parse(String(text)) as { envelope_id?: string };
        if (id === undefined) return;
        acknowledged.push(id);
        unfinished.delete(id);
      },
      close(socket) {
        closed++;
        sockets.delete(socket);
      },
    },
  });

  const refuse = (error: string): Reply => ({ status: 200, body: { ok: false, error } });

  function handle({ path, headers, body: sent }: ReceivedRequest): Reply {
    const body = asRecord(sent);
    if (path.startsWith("/services/")) return takeWebhook(path, body);
    const token = String(headers.authorization).replace("Bearer ", "");
    if (path === "/api/apps.connections.open") {
      if (token !== tokens.appToken) return refuse("not_allowed_token_type");
      return {
        status: 200,
        body: { ok: true, url: slack.socketUrl ?? `ws://127.0.0.1:${gateway.port}/link/?ticket=1` },
      };
    }
    if (token !== tokens.botToken) return refuse("invalid_auth");
    const wrongBlocks = findBlockError(body);
    if (wrongBlocks !== null) return refuse(wrongBlocks);
    if (path === "/api/chat.postMessage") {
      if (!/^[CDGU]/.test(String(body.channel))) return refuse("channel_not_found");
      // A message to a user goes into their direct message with the bot.
      const message = { channel: String(body.channel).replace(/^U/, "D"), ts: nextTimestamp(), body };
      messages.push(message);
      return { status: 200, body: { ok: true, channel: message.channel, ts: message.ts } };
    }
    if (path === "/api/chat.update") {
      const message = messages.find(({ channel, ts }) => channel === body.channel && ts === body.ts);
      if (!message) return refuse("message_not_found");
      message.body = body;
      return { status: 200, body: { ok: true, channel: message.channel, ts: message.ts } };
    }
    if (path === "/api/chat.postEphemeral") {
      ephemeral.push({ user: body.user, text: body.text });
      return { status: 200, body: { ok: true, message_ts: nextTimestamp() } };
    }
    return refuse("unknown_method");
  }

  function takeWebhook(path: string, body: Fields): Reply {
    if (path !== webhookPath) return { status: 404, body: "no_service" };
    if (findBlockError(body) !== null) return { status: 400, body: "invalid_blocks" };
    messages.push({ channel: "webhook", ts: nextTimestamp(), body });
    return { status: 200, body: "ok" };
  }

  const faults: Readonly<Record<Misbehaviour, Fault>> = {
    "rate-limit": { status: 429, headers: { "retry-after": "1" }, body: { ok: false, error: "ratelimited" } },
    error: { status: 502, body: "bad gateway" },
    refuse: refuse("invalid_auth"),
    hang: "hang",
    reset: "reset",
    "lose-answer": "lost",
    garbage: { status: 200, body: "<html>captive portal</html>" },
  };
  const server = await startMisbehavingServer(handle);
  const newest = (): SlackMessage => {
    const message = messages.at(-1);
    if (!message) throw new Error("no message was sent");
    return message;
  };

  async function tapReference(reference: string, user: string): Promise<void> {
    const { channel, ts } = newest();
    await slack.sendEnvelope("interactive", {
      type: "block_actions",
      user: { id: user, username: user === accounts.listed ? "joe" : "mallory", team_id: "T1" },
      container: { type: "message", message_ts: ts, channel_id: channel, is_ephemeral: false },
      actions: [{ type: "button", action_id: "beckon-0", block_id: "b", value: reference, action_ts: "1.1" }],
    });
  }

  const slack: SlackServer = {
    requests: server.requests,
    webhookUrl: `${server.url}${webhookPath}`,
    ephemeral,
    acknowledged,
    connectionCount: () => sockets.size,
    openedCount: () => opened,
    closedCount: () => closed,
    socketUrl: null,
    isMute: false,
    settings: { channel: "C0123ABCD", apiUrl: `${server.url}/api` },
    secrets: tokens,
    accounts,
    messages: () => messages.map(({ body }) => showMessage(body)),
    bodies: () => server.requests.map(({ body }) => body),
    sentCount: () => messages.length,
    misbehave: (how, times) =>
      server.fail(/chat\.|services/, ...Array.from({ length: times }, () => faults[how])),
    async tap(label, account = accounts.listed) {
      const buttons = messages.toReversed().flatMap(({ body }) => listButtons(body));
      const value = buttons.find(({ text }) => text?.text === label)?.value;
      if (value === undefined) throw new Error(`no message has a button "${label}"`);
      await tapReference(value, account);
    },
    async reply(text, account = accounts.listed) {
      await slack.sendEvent(escapeText(text), { user: account });
    },
    forge: (reference, account = accounts.listed) => tapReference(reference, account),
    async replay() {
      if (lastEnvelope) await slack.sendEnvelope(lastEnvelope.type, lastEnvelope.payload);
    },
    dropListeners() {
      for (const socket of sockets) socket.terminate();
      sockets.clear();
    },
    async sendEnvelope(type, payload, id = crypto.randomUUID()) {
      await waitUntil(() => sockets.size > 0, 10_000, "a connection is open");
      lastEnvelope = { type, payload };
      const text = JSON.stringify({
        envelope_id: id,
        type,
        accepts_response_payload: type === "interactive",
        payload,
      });
      unfinished.set(id, text);
      [...sockets].at(-1)?.send(text);
      return id;
    },
    sendEvent(text, more = {}, eventId = `Ev${crypto.randomUUID()}`) {
      const { channel, ts } = newest();
      const event = {
        type: "message",
        user: accounts.listed,
        text,
        channel,
        thread_ts: ts,
        ts: nextTimestamp(),
      };
      return slack.sendEnvelope("events_api", {
        type: "event_callback",
        event_id: eventId,
        event: { ...event, ...more },
      });
    },
    sendRaw: (text) => void [...sockets].at(-1)?.send(text),
    announceDisconnect(reason) {
      [...sockets]
        .at(-1)
        ?.send(JSON.stringify({ type: "disconnect", reason, debug_info: { host: "local" } }));
    },
    async stop() {
      await server.stop();
      await gateway.stop(true);
    },
  };
  return slack;
}

interface Block {
  readonly type: string;
  readonly text?: BlockText;
  readonly elements?: readonly Element[];
}
interface BlockText {
  readonly type: string;
  readonly text: string;
}
interface Element {
  readonly type: string;
  readonly text?: BlockText;
  readonly value?: string;
}

const blocksOf = ({ blocks }: Fields): readonly Block[] => (Array.isArray(blocks) ? blocks : []);
const escapeText = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const listButtons = (body: Fields): readonly Element[] =>
  blocksOf(body).flatMap(({ type, elements = [] }) => (type === "actions" ? elements : []));

/** Slack's limits on blocks. */
function findBlockError(body: Fields): string | null {
  const isWrong = blocksOf(body).some(({ type, text, elements = [] }) => {
    if (text && (text.text === "" || text.text.length > (type === "header" ? 150 : 3_000))) return true;
    if (type !== "actions") return false;
    return (
      elements.length > 25 ||
      elements.some(({ text: label, value = "" }) => (label?.text.length ?? 0) > 75 || value.length > 2_000)
    );
  });
  return isWrong ? "invalid_blocks" : null;
}

/** Slack renders markup, mentions and links in texts of type mrkdwn, and in `text` if there are no blocks. */
function showMessage(body: Fields): ReturnType<FakeService["messages"]>[number] {
  const texts = blocksOf(body).flatMap(({ text, elements = [] }) => [
    ...(text ? [text] : []),
    ...elements.flatMap((element) =>
      element.type === "plain_text" ? [element as unknown as BlockText] : [],
    ),
  ]);
  const marked = [
    String(body.text),
    ...texts.filter(({ type }) => type === "mrkdwn").map(({ text }) => text),
  ];
  const names = body.link_names === true || body.parse === "full" ? /<[!@#][^>]*>|@\w+/g : /<[!@#][^>]*>/g;
  return {
    text: texts.map(({ text }) => text).join("\n"),
    buttons: listButtons(body).map(({ text }) => text?.text ?? ""),
    mentions: marked.flatMap((text) => text.match(names) ?? []),
  };
}
