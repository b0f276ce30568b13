/** Telegram's Bot API as its documentation describes it, as far as beckon uses it, and with its misbehaviour. */
import { asRecord, type JsonRecord } from "../../../src/core/json.ts";
import { waitUntil } from "../../wait-until.ts";
import type { FakeService, Misbehaviour } from "./fake-service.ts";
import { type Fault, type MisbehavingServer, type Reply, startMisbehavingServer } from "./misbehaving.ts";

export interface TelegramMessage {
  readonly message_id: number;
  readonly chat: { readonly id: number; readonly type: string };
  readonly from: JsonRecord;
  readonly text: string;
  readonly entities: readonly JsonRecord[];
  readonly link_preview_options: JsonRecord | null;
  /** `[[{text, callback_data}]]` */
  readonly keyboard: readonly (readonly JsonRecord[])[];
  readonly isSilent: boolean;
  readonly replyTo: number | null;
  readonly edits: number;
}

export interface TelegramUser {
  readonly id: number;
  readonly username?: string;
  readonly first_name: string;
}

export interface TelegramServer extends FakeService {
  readonly api: MisbehavingServer;
  /** In the order they were sent, the user's own included. */
  sent(): readonly TelegramMessage[];
  /** The texts that `answerCallbackQuery` showed. */
  readonly toasts: readonly { readonly text: string; readonly isAlert: boolean }[];
  /** Queues any update. `id` repeats one. Returns its id. */
  queue(update: JsonRecord, id?: number): number;
  /** Writes a message as a user. Without `text`, a photo. */
  write(
    text: string | undefined,
    from: TelegramUser,
    options?: { readonly replyTo?: TelegramMessage; readonly chat?: number; readonly extra?: JsonRecord },
  ): number;
  /** Taps a button of a certain message. */
  tapButton(message: TelegramMessage, label: string, from: TelegramUser): number;
  /** A later poll has confirmed the update. */
  isConfirmed(update: number): boolean;
}

const token = "123456:test-token-of-a-bot-that-does-not-exist";
export const joe: TelegramUser = { id: 777_000_111, username: "joe", first_name: "Joe" };
export const eve: TelegramUser = { id: 666_000_222, username: "eve", first_name: "Eve" };
const bot = { id: 123_456, is_bot: true, first_name: "beckon", username: "beckon_test_bot" };

const rateLimit = {
  ok: false,
  error_code: 429,
  description: "Too Many Requests: retry after 1",
  parameters: { retry_after: 1 },
};
const faults: Readonly<Record<Misbehaviour, Fault>> = {
  "rate-limit": { status: 429, body: rateLimit },
  error: { status: 500, body: { ok: false, error_code: 500, description: "Internal Server Error" } },
  refuse: {
    status: 403,
    body: { ok: false, error_code: 403, description: "Forbidden: bot was blocked by the user" },
  },
  hang: "hang",
  reset: "reset",
  "lose-answer": "lost",
  garbage: "garbage",
};

/** `chat` is the chat that the bot writes to. */
export async function startTelegramServer(chat = joe.id): Promise<TelegramServer> {
  const messages = new Map<number, TelegramMessage>();
  const toasts: { text: string; isAlert: boolean }[] = [];
  let updates: { readonly update_id: number; readonly [field: string]: unknown }[] = [];
  let nextUpdate = 900_000;
  let nextMessage = 1;
  let confirmedBelow = 0;

  const ok = (result: unknown): Reply => ({ status: 200, body: { ok: true, result } });
  const fail = (status: number, description: string): Reply => ({
    status,
    body: { ok: false, error_code: status, description },
  });

  const chatOf = (id: number) => ({ id, type: id < 0 ? "supergroup" : "private" });

  function toMessage(body: JsonRecord, id: number, edits: number): TelegramMessage {
    const markup = asRecord(body.reply_markup).inline_keyboard;
    return {
      message_id: id,
      chat: chatOf(Number(body.chat_id)),
      from: bot,
      text: String(body.text),
      entities: (body.entities ?? []) as JsonRecord[],
      link_preview_options: (body.link_preview_options ?? null) as JsonRecord | null,
      keyboard: (markup ?? []) as JsonRecord[][],
      isSilent: body.disable_notification === true,
      replyTo: Number(asRecord(body.reply_parameters).message_id ?? 0) || null,
      edits,
    };
  }

  /** Telegram's own limits. */
  function findMistake(body: JsonRecord): Reply | null {
    const text = String(body.text ?? "");
    if (text.trim() === "") return fail(400, "Bad Request: message text is empty");
    if (text.length > 4_096) return fail(400, "Bad Request: message is too long");
    for (const button of toMessage(body, 0, 0).keyboard.flat()) {
      const data = button.callback_data;
      if (typeof data === "string" && (data === "" || Buffer.byteLength(data) > 64))
        return fail(400, "Bad Request: BUTTON_DATA_INVALID");
    }
    for (const { offset, length } of toMessage(body, 0, 0).entities) {
      if (Number(offset) + Number(length) > text.length)
        return fail(400, "Bad Request: entity is out of the text");
    }
    return null;
  }

  async function getUpdates(body: JsonRecord, isGone: () => boolean): Promise<Reply | null> {
    const offset = body.offset === undefined ? null : Number(body.offset);
    if (offset !== null) {
      confirmedBelow = offset;
      updates = updates.filter(({ update_id }) => update_id >= offset);
    }
    const maxMs = Number(body.timeout ?? 0) * 1_000;
    const allowed = new Set(body.allowed_updates as string[]);
    const find = () => updates.filter((update) => Object.keys(update).some((field) => allowed.has(field)));
    await waitUntil(() => isGone() || find().length > 0, maxMs).catch(() => {});
    return isGone() ? null : ok(find());
  }

  const server = await startMisbehavingServer((request, isGone) => {
    const [, usedToken, method] = /^\/bot([^/]+)\/(\w+)$/.exec(request.path) ?? [];
    if (usedToken !== token) return fail(401, "Unauthorized");
    const body = asRecord(request.body);
    switch (method) {
      case "getMe":
        return ok(bot);
      case "getChat":
        return ok({ id: -100_200_300, type: "supergroup", title: "team" });
      case "getUpdates":
        return getUpdates(body, isGone);
      case "sendMessage": {
        const mistake = findMistake(body);
        if (mistake) return mistake;
        const message = toMessage(body, nextMessage++, 0);
        messages.set(message.message_id, message);
        return ok({
          message_id: message.message_id,
          chat: message.chat,
          from: bot,
          date: 1,
          text: message.text,
        });
      }
      case "editMessageText": {
        const old = messages.get(Number(body.message_id));
        if (!old || String(old.chat.id) !== String(body.chat_id))
          return fail(400, "Bad Request: message to edit not found");
        const mistake = findMistake(body);
        if (mistake) return mistake;
        const edited = toMessage(body, old.message_id, old.edits + 1);
        const isSame = edited.text === old.text && Bun.deepEquals(edited.keyboard, old.keyboard);
        if (isSame)
          return fail(400, "Bad Request: message is not modified: specified new message content is the same");
        messages.set(old.message_id, edited);
        return ok({ message_id: old.message_id, chat: old.chat, from: bot, date: 1, text: edited.text });
      }
      case "answerCallbackQuery":
        if (String(body.text ?? "").length > 200) return fail(400, "Bad Request: MESSAGE_TOO_LONG");
        toasts.push({ text: String(body.text ?? ""), isAlert: body.show_alert === true });
        return ok(true);
      default:
        return fail(404, "Not Found: method not found");
    }
  });

  function queue(update: JsonRecord, id = nextUpdate++): number {
    updates.push({ update_id: id, ...update });
    return id;
  }

  /** As Telegram shows the bot's own message in a reply or a tap. */
  const showMessage = ({ message_id, chat, from, text }: TelegramMessage) => ({
    message_id,
    chat,
    from,
    date: 1,
    text,
  });

  let lastUpdate: JsonRecord = {};
  const userOf = (account: string | undefined): TelegramUser =>
    account === undefined || account === String(joe.id) ? joe : { ...eve, id: Number(account) };
  /** Without what the bot replies to the sender of a response. */
  const listAlerts = () => [...messages.values()].filter(({ replyTo }) => replyTo === null);
  const newest = (isRight: (message: TelegramMessage) => boolean): TelegramMessage => {
    const message = listAlerts().findLast(isRight);
    if (!message) throw new Error("there is no such message");
    return message;
  };
  function queueResponse(update: JsonRecord): number {
    lastUpdate = update;
    return queue(update);
  }
  function queueTap(message: TelegramMessage, data: unknown, from: TelegramUser): number {
    return queueResponse({
      callback_query: {
        id: String(nextUpdate),
        from: { is_bot: false, ...from },
        message: showMessage(message),
        chat_instance: "1",
        data,
      },
    });
  }

  const own: TelegramServer = {
    api: server,
    settings: { server: server.url, chat: String(chat), accounts: [String(joe.id)] },
    secrets: { token },
    accounts: { listed: String(joe.id), foreign: String(eve.id) },
    messages: () =>
      listAlerts().map(({ text, keyboard, entities }) => ({
        text,
        buttons: keyboard.flat().map((button) => String(button.text)),
        mentions: findMentions(text, entities),
      })),
    sent: () => [...messages.values()],
    bodies: () => server.requests.map(({ body }) => body),
    sentCount: () => listAlerts().length,
    misbehave(how, times) {
      server.fail(/sendMessage|editMessageText/, ...Array.from({ length: times }, () => faults[how]));
    },
    async tap(label, account) {
      own.tapButton(
        newest(({ keyboard }) => keyboard.flat().some(({ text }) => text === label)),
        label,
        userOf(account),
      );
    },
    async reply(text, account) {
      own.write(text, userOf(account), { replyTo: newest(() => true), chat });
    },
    async forge(reference, account) {
      queueTap(
        newest(() => true),
        reference,
        userOf(account),
      );
    },
    async replay() {
      queue(lastUpdate);
    },
    dropListeners: () => server.server.closeAllConnections(),
    stop: server.stop,
    toasts,
    queue,
    tapButton(message, label, from) {
      const button = message.keyboard.flat().find(({ text }) => text === label);
      if (!button) throw new Error(`no button ${label} in ${JSON.stringify(message.keyboard)}`);
      return queueTap(message, button.callback_data, from);
    },
    write(text, from, { replyTo, chat: writtenIn = from.id, extra = {} } = {}) {
      return queueResponse({
        message: {
          message_id: nextMessage++,
          chat: chatOf(writtenIn),
          from: { is_bot: false, ...from },
          date: 1,
          ...(text === undefined ? { photo: [] } : { text }),
          ...(replyTo ? { reply_to_message: showMessage(replyTo) } : {}),
          ...extra,
        },
      });
    },
    isConfirmed: (update) => update < confirmedBelow,
  };
  return own;
}

/** Telegram makes mentions of names by itself, except inside of code. */
function findMentions(text: string, entities: readonly JsonRecord[]): string[] {
  const isCode = (index: number) =>
    entities.some(
      ({ type, offset, length }) =>
        (type === "code" || type === "pre") &&
        index >= Number(offset) &&
        index < Number(offset) + Number(length),
    );
  return [...text.matchAll(/@\w+/g)].filter(({ index }) => !isCode(index)).map(([name]) => name);
}
