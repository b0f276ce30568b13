/**
 * Posts messages as JSON, signed as https://www.standardwebhooks.com describes it. The id is the same for every attempt, so the
 * receiver can ignore what it has seen.
 */
import { createHash, createHmac } from "node:crypto";
import { limits } from "../../core/limits.ts";
import { type Channel, type ChannelMessage, type ChannelOptions, DeliveryError } from "../channel.ts";
import { cutToBytes, readRetryAfterMs, request } from "../http.ts";

export function openWebhook({ settings, secret, now, requestTimeoutMs }: ChannelOptions): Channel {
  async function post(message: ChannelMessage, event: string, alert: string): Promise<void> {
    const url = secret("url");
    if (url === null) throw new DeliveryError("the address of the webhook is not set", { isPermanent: true });
    const values = listValues(message, event, alert);
    const body = JSON.stringify(settings.template ? fillTemplate(settings.template, values) : values);
    // Equal for equal messages, so that an update which is tried again is recognised too.
    const id = `${alert}.${createHash("sha256").update(body).digest("hex").slice(0, 16)}`;
    const response = await request(url, {
      method: "POST",
      headers: { "Content-Type": "application/json", "Idempotency-Key": id, ...sign(id, body) },
      body,
      timeoutMs: requestTimeoutMs,
    });
    if (response.ok) return;
    const { status } = response;
    throw new DeliveryError(`the webhook answered ${status}`, {
      retryAfterMs: readRetryAfterMs(response.headers, now()),
      isPermanent: status >= 400 && status < 500 && ![408, 409, 425, 429].includes(status),
    });
  }

  function sign(id: string, body: string): Record<string, string> {
    const timestamp = String(Math.floor(now() / 1_000));
    const head = { "webhook-id": id, "webhook-timestamp": timestamp };
    const key = secret("key");
    if (key === null) return head;
    const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
    return { ...head, "webhook-signature": `v1,${signature}` };
  }

  return {
    async send(message, id) {
      await post(message, "opened", id);
      return id;
    },
    update: (handle, message) => post(message, message.isFinal ? "closed" : "changed", handle),
    async stop() {},
    problem: () => null,
  };
}

type Values = Readonly<Record<"event" | "alert" | "title" | "text" | "urgency", string>>;

function listValues({ title, lines, urgency }: ChannelMessage, event: string, alert: string): Values {
  const text = cutToBytes(lines.join("\n"), limits.maxWebhookTextBytes - Buffer.byteLength(title));
  return { event, alert, title, text, urgency };
}

const maxDepth = 10;

/** Replaces {{title}} and so on inside of strings. The result is JSON again whatever the values are. */
function fillTemplate(template: unknown, values: Values, depth = 0): unknown {
  if (typeof template === "string") {
    return template.replace(/\{\{(\w+)\}\}/g, (whole, name: string) =>
      Object.hasOwn(values, name) ? values[name as keyof Values] : whole,
    );
  }
  if (typeof template !== "object" || template === null || depth > maxDepth) return template;
  if (Array.isArray(template)) return template.map((item) => fillTemplate(item, values, depth + 1));
  return Object.fromEntries(
    Object.entries(template).map(([name, value]) => [name, fillTemplate(value, values, depth + 1)]),
  );
}
