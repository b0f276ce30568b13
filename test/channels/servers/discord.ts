/** Discord's REST API and gateway as its documentation describes them, as far as beckon uses them, and their misbehaviour. */
import { asRecord, type JsonRecord } from "../../../src/core/json.ts";
import { waitForValue } from "../../wait-until.ts";
import type { FakeService, Misbehaviour } from "./fake-service.ts";
import { addGateway, type GatewayConnection } from "./gateway.ts";
import { type Fault, type MisbehavingServer, type Reply, startMisbehavingServer } from "./misbehaving.ts";

export interface DiscordMessage {
  readonly id: string;
  readonly channel: string;
  readonly content: string;
  readonly flags: number;
  readonly allowedMentions: JsonRecord | null;
  readonly buttons: readonly JsonRecord[];
  readonly nonce: string | null;
  readonly edits: number;
}

export interface DiscordThread {
  readonly id: string;
  readonly channel: string;
  readonly name: string;
}

export interface DiscordUser {
  readonly id: string;
  readonly username: string;
}

/** What the sender of an interaction is shown. */
export interface ShownReply {
  readonly content: string;
  /** Only the sender sees it. */
  readonly isEphemeral: boolean;
}

export interface DiscordServer extends FakeService {
  readonly api: MisbehavingServer;
  readonly sent: () => readonly DiscordMessage[];
  readonly threads: () => readonly DiscordThread[];
  /** The texts in a thread or channel. */
  contentsOf(channel: string): readonly string[];
  readonly replies: () => readonly ShownReply[];
  readonly dialogs: () => readonly JsonRecord[];
  readonly gateway: {
    /** Identify and resume frames, the newest last. */
    readonly starts: readonly JsonRecord[];
    readonly heartbeats: () => number;
    /** How many connections there were. */
    readonly count: () => number;
    readonly isReady: () => boolean;
    /** To all connections. */
    send(frame: unknown): void;
    sendText(text: string): void;
    close(code: number): void;
    reset(): void;
    /** From now on, the handshake is not answered. */
    stall(isStalled: boolean): void;
    /** From now on, connections answer nothing, neither heartbeats nor closes. Later connections do. */
    freeze(): void;
    /** In place of the next HELLO. */
    setHello(frame: unknown): void;
    setReady(data: JsonRecord): void;
  };
  /** Sends an interaction as if the user had tapped. Returns its payload. */
  interact(interaction: JsonRecord): JsonRecord;
  /** The messages, threads and user ids of one kind of id have 18 digits, as Discord's have. */
  readonly channel: string;
  readonly projectChannel: string;
}

const token = "MTIzNDU2Nzg5MDEyMzQ1Njc4.test12.not-a-token-of-any-bot-at-all-0";
const webhookToken = "test-token-of-a-webhook-that-does-not-exist";
const webhookId = "300000000000000001";
const application = "400000000000000001";
const channel = "100000000000000001";
const projectChannel = "100000000000000002";
const directChannel = "100000000000000003";
export const joe: DiscordUser = { id: "777000111222333444", username: "joe" };
export const eve: DiscordUser = { id: "666000111222333444", username: "eve" };

const faults: Readonly<Record<Misbehaviour, Fault>> = {
  "rate-limit": {
    status: 429,
    body: { message: "You are being rate limited.", retry_after: 0.9, global: false },
    headers: { "Retry-After": "1", "X-RateLimit-Scope": "user" },
  },
  error: { status: 500, body: { message: "500: Internal Server Error", code: 0 } },
  refuse: { status: 403, body: { message: "Missing Access", code: 50001 } },
  hang: "hang",
  reset: "reset",
  "lose-answer": "lost",
  garbage: "garbage",
};

export interface DiscordServerOptions {
  /** Only with the address of a webhook. */
  readonly isWebhook?: boolean;
  /** Without a channel, beckon writes direct messages. */
  readonly isDirect?: boolean;
  readonly heartbeatMs?: number;
  readonly settings?: JsonRecord;
}

export async function startDiscordServer(options: DiscordServerOptions = {}): Promise<DiscordServer> {
  const messages = new Map<string, DiscordMessage>();
  const threads = new Map<string, DiscordThread>();
  const replies: ShownReply[] = [];
  const dialogs: JsonRecord[] = [];
  const open = new Set<GatewayConnection>();
  const frozen = new Set<GatewayConnection>();
  const ready = new Set<GatewayConnection>();
  const starts: JsonRecord[] = [];
  let nextId = 500_000_000_000_000_000n;
  let heartbeats = 0;
  let count = 0;
  let isStalled = false;
  let readyData: JsonRecord = {};
  let hello: unknown = null;
  let sequence = 0;

  const createId = (): string => String(nextId++);
  const ok = (body: unknown, status = 200): Reply => ({ status, body });
  const fail = (status: number, code: number, message: string): Reply => ({
    status,
    body: { message, code },
  });

  function findMistake(body: JsonRecord): Reply | null {
    const content = String(body.content ?? "");
    const invalid = (text: string) => fail(400, 50035, `Invalid Form Body: ${text}`);
    if (content === "") return fail(400, 50006, "Cannot send an empty message");
    if (content.length > 2_000) return invalid("content: Must be 2000 or fewer in length.");
    if (String(body.nonce ?? "").length > 25) return invalid("nonce");
    const rows = Array.isArray(body.components) ? body.components : [];
    if (rows.length > 5) return invalid("components");
    for (const row of rows) {
      const buttons = asRecord(row).components as JsonRecord[];
      if (buttons.length < 1 || buttons.length > 5) return invalid("components");
      for (const { label, custom_id: id } of buttons)
        if (String(label).length > 80 || String(id ?? "").length > 100) return invalid("button");
    }
    return null;
  }

  function store(to: string, body: JsonRecord, old: DiscordMessage | null): Reply {
    const mistake = findMistake(body);
    if (mistake) return mistake;
    const nonce = typeof body.nonce === "string" ? body.nonce : null;
    const same =
      body.enforce_nonce === true ? [...messages.values()].find((message) => message.nonce === nonce) : null;
    if (!old && same) return ok({ id: same.id, channel_id: same.channel });
    const rows = Array.isArray(body.components) ? body.components : [];
    const message: DiscordMessage = {
      id: old?.id ?? createId(),
      channel: to,
      content: String(body.content),
      flags: Number(body.flags ?? old?.flags ?? 0),
      allowedMentions: (body.allowed_mentions ?? null) as JsonRecord | null,
      buttons: rows.flatMap((row) => asRecord(row).components as JsonRecord[]),
      nonce: old?.nonce ?? nonce,
      edits: old ? old.edits + 1 : 0,
    };
    messages.set(message.id, message);
    return ok({ id: message.id, channel_id: to });
  }

  function patch(to: string, id: string, body: JsonRecord): Reply {
    const old = messages.get(id);
    return old?.channel === to ? store(to, body, old) : fail(404, 10008, "Unknown Message");
  }

  function createThread(to: string, id: string, body: JsonRecord): Reply {
    if (messages.get(id)?.channel !== to) return fail(404, 10008, "Unknown Message");
    if (threads.has(id)) return fail(400, 160004, "A thread has already been created for this message");
    const name = String(body.name ?? "");
    if (name === "" || name.length > 100) return fail(400, 50035, "Invalid Form Body: name");
    threads.set(id, { id, channel: to, name });
    return ok({ id, parent_id: to, name }, 201);
  }

  function respond(request: { method: string; path: string; body: unknown; headers: JsonRecord }): Reply {
    const [path = ""] = request.path.split("?");
    const route = `${request.method} ${path.replace(/^\/api\/v10/, "")}`;
    const body = asRecord(request.body);
    const isAuthorized = request.headers.authorization === `Bot ${token}`;
    const [, hookPath, hookMessage] =
      /^\w+ (\/webhooks\/\d+\/[\w-]+)(?:\/messages\/(@?\w+))?$/.exec(route) ?? [];
    if (hookPath === `/webhooks/${webhookId}/${webhookToken}`)
      return hookMessage ? patch("webhook", hookMessage, body) : store("webhook", body, null);
    if (hookPath?.startsWith(`/webhooks/${application}/`) && hookMessage === "@original") {
      const deferred = replies.at(-1);
      replies.splice(-1, 1, { content: String(body.content), isEphemeral: deferred?.isEphemeral === true });
      return ok({ id: createId() });
    }
    if (/^POST \/interactions\/\d+\/[\w-]+\/callback$/.test(route)) return respondTo(body);
    if (!isAuthorized) return fail(401, 0, "401: Unauthorized");
    if (route === "GET /gateway/bot")
      return ok({
        url: server.url.replace("http", "ws"),
        shards: 1,
        session_start_limit: { total: 1_000, remaining: 999, reset_after: 1_000, max_concurrency: 1 },
      });
    if (route === "POST /users/@me/channels")
      return body.recipient_id === joe.id
        ? ok({ id: directChannel })
        : fail(403, 50007, "Cannot send messages");
    const [, to = "", id, isThread] =
      /^\w+ \/channels\/(\d+)\/messages(?:\/(\d+)(\/threads)?)?$/.exec(route) ?? [];
    const isKnown = [channel, projectChannel, directChannel].includes(to) || threads.has(to);
    if (!isKnown) return fail(404, 10003, "Unknown Channel");
    if (id === undefined) return store(to, body, null);
    return isThread ? createThread(to, id, body) : patch(to, id, body);
  }

  function respondTo(body: JsonRecord): Reply {
    const data = asRecord(body.data);
    if (body.type === 9) {
      if (String(data.title).length > 45) return fail(400, 50035, "Invalid Form Body: title");
      dialogs.push(data);
    } else replies.push({ content: String(data.content ?? ""), isEphemeral: data.flags === 64 });
    return { status: 204 };
  }

  const server = await startMisbehavingServer(({ method, path, body, headers }) =>
    respond({ method, path, body, headers }),
  );

  addGateway(server.server, {
    acceptsHandshake: () => !isStalled,
    onOpen(connection) {
      open.add(connection);
      count++;
      connection.send(hello ?? { op: 10, d: { heartbeat_interval: options.heartbeatMs ?? 41_250 } });
      hello = null;
    },
    onClosed(connection) {
      open.delete(connection);
      ready.delete(connection);
    },
    onFrame(connection, frame) {
      if (frozen.has(connection)) return;
      if (frame.op === 1) {
        heartbeats++;
        connection.send({ op: 11 });
      }
      if (frame.op !== 2 && frame.op !== 6) return;
      starts.push(frame);
      if (asRecord(frame.d).token !== token) return connection.close(4004);
      ready.add(connection);
      const data = {
        session_id: "session-1",
        resume_gateway_url: server.url.replace("http", "ws"),
        user: { id: "1", username: "beckon" },
        ...readyData,
      };
      if (frame.op === 2) connection.send({ op: 0, s: ++sequence, t: "READY", d: data });
      else connection.send({ op: 0, s: ++sequence, t: "RESUMED", d: {} });
    },
  });

  const userOf = (account: string | undefined): DiscordUser =>
    account === undefined || account === joe.id ? joe : { ...eve, id: account };
  const newest = (isRight: (message: DiscordMessage) => boolean): DiscordMessage => {
    const message = [...messages.values()].findLast(isRight);
    if (!message) throw new Error("there is no such message");
    return message;
  };
  let last: JsonRecord = {};

  function createInteraction(type: number, data: JsonRecord, user: DiscordUser): JsonRecord {
    const isDirect = options.isDirect === true;
    return {
      id: createId(),
      application_id: application,
      type,
      token: `interaction-${createId()}`,
      channel_id: channel,
      data,
      ...(isDirect ? { user } : { member: { user } }),
    };
  }

  async function send(interaction: JsonRecord): Promise<void> {
    last = interaction;
    await waitForValue(
      () => ready.size,
      (size) => size > 0,
      20_000,
    );
    own.interact(interaction);
  }

  async function tap(customId: unknown, account: string | undefined): Promise<void> {
    await send(createInteraction(3, { custom_id: customId, component_type: 2 }, userOf(account)));
  }

  const destination = options.isDirect ? {} : { channel };
  const secrets = options.isWebhook
    ? { webhook: `${server.url}/api/webhooks/${webhookId}/${webhookToken}` }
    : { token };
  const own: DiscordServer = {
    api: server,
    settings: {
      server: `${server.url}/api`,
      channel: null,
      accounts: options.isWebhook ? [] : [joe.id],
      ...(options.isWebhook ? {} : destination),
      ...options.settings,
    },
    secrets: secrets as Record<string, string>,
    accounts: { listed: joe.id, foreign: eve.id },
    messages: () =>
      [...messages.values()].map(({ content, buttons, allowedMentions }) => ({
        text: render(content),
        buttons: buttons.map(({ label }) => String(label)),
        mentions:
          Array.isArray(allowedMentions?.parse) && allowedMentions.parse.length === 0 ? [] : ["anyone"],
      })),
    bodies: () => server.requests.map(({ body }) => body),
    sentCount: () => messages.size,
    misbehave(how, times) {
      const pattern = /^(?:POST|PATCH) .*(?:\/messages|\/webhooks)/;
      server.fail(pattern, ...Array.from({ length: times }, () => faults[how]));
    },
    async tap(label, account) {
      const { buttons } = newest((message) => message.buttons.some((button) => button.label === label));
      await tap(buttons.find((button) => button.label === label)?.custom_id, account);
    },
    async reply(text, account) {
      const { buttons } = newest((message) => message.buttons.some((button) => button.label === "Reply…"));
      const before = dialogs.length;
      await tap(buttons.find((button) => button.label === "Reply…")?.custom_id, account);
      const shown = await waitForValue(
        () => dialogs.slice(before),
        (list) => list.length > 0,
      );
      const components = [{ type: 1, components: [{ type: 4, custom_id: "text", value: text }] }];
      await send(createInteraction(5, { custom_id: shown[0]?.custom_id, components }, userOf(account)));
    },
    forge: tap,
    async replay() {
      await send({ ...last, id: createId() });
    },
    dropListeners: () => own.gateway.reset(),
    async stop() {
      for (const connection of open) connection.reset();
      await server.stop();
    },
    sent: () => [...messages.values()],
    threads: () => [...threads.values()],
    contentsOf: (to) =>
      [...messages.values()].filter((message) => message.channel === to).map((m) => m.content),
    replies: () => replies,
    dialogs: () => dialogs,
    gateway: {
      starts,
      heartbeats: () => heartbeats,
      count: () => count,
      isReady: () => ready.size > 0,
      send: (frame) => own.gateway.sendText(JSON.stringify(frame)),
      sendText: (text) => {
        for (const connection of open) connection.sendText(text);
      },
      close: (code) => {
        for (const connection of open) connection.close(code);
      },
      reset: () => {
        for (const connection of open) connection.reset();
        ready.clear();
      },
      stall: (isOn) => {
        isStalled = isOn;
      },
      freeze: () => {
        for (const connection of open) frozen.add(connection);
        ready.clear();
      },
      setHello: (frame) => {
        hello = frame;
      },
      setReady: (data) => {
        readyData = data;
      },
    },
    interact(interaction) {
      for (const connection of ready)
        connection.send({ op: 0, s: ++sequence, t: "INTERACTION_CREATE", d: interaction });
      return interaction;
    },
    channel,
    projectChannel,
  };
  return own;
}

/** As Discord shows it: code blocks as they are, and elsewhere a sign after a backslash. Fails if markup is left. */
export function render(content: string): string {
  const parts = content.split("```");
  return parts
    .map((part, i) => {
      if (i % 2 === 1) return part.replace(/^\n/, "").replace(/\n$/, "");
      const shown: string[] = [];
      // Our own bold title.
      const rest = part.replace(/^\*\*((?:[^*\\]|\\.)*)\*\*/s, "$1");
      for (const [, escaped, plain = ""] of rest.matchAll(/\\([!-/:-@[-`{-~])|([\s\S])/g)) {
        if (escaped === undefined && /[*_~`|[\]<@]/.test(plain))
          throw new Error(`Discord would interpret ${plain} in ${JSON.stringify(rest)}`);
        shown.push(escaped ?? plain);
      }
      return shown.join("");
    })
    .join("")
    .replaceAll("\u200b", "");
}
