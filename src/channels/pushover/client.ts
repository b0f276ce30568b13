/** Sends to Pushover's message API: https://pushover.net/api. */

import { asRecord } from "../../core/json.ts";
import { truncate } from "../../core/text/truncate.ts";
import { type Channel, type ChannelMessage, type ChannelOptions, DeliveryError } from "../channel.ts";
import { findStatusError, type HttpResponse, request } from "../http.ts";
import { formatMessage } from "./message.ts";

const name = "Pushover";
/** What Pushover asks for after an error of its own. */
const minRetryMs = 5_000;
/** Emergency: repeated this often, for this long at most. Pushover allows 30 s and 3 hours. */
const emergency = { priority: 2, retry: 60, expire: 3_600 } as const;
const sent = "sent";

export function openPushover({ settings, secret, requestTimeoutMs }: ChannelOptions): Channel {
  const isEmergency = settings.priority === "emergency";

  async function post(path: string, fields: Readonly<Record<string, unknown>>): Promise<HttpResponse> {
    const token = secret("token");
    if (token === null) throw new DeliveryError("the token of Pushover is not set", { isPermanent: true });
    const url = `${String(settings.server).replace(/\/+$/, "")}/1/${path}`;
    const response = await request(url, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ token, ...fields }),
      timeoutMs: requestTimeoutMs,
    });
    const error = findError(response);
    if (error) throw error;
    return response;
  }

  const base: Channel = {
    async send(message) {
      const user = secret("user");
      if (user === null)
        throw new DeliveryError("the user key of Pushover is not set", { isPermanent: true });
      const { device, sound } = settings;
      const response = await post("messages.json", {
        user,
        ...formatMessage(message),
        ...(message.urgency === "urgent" && isEmergency ? emergency : { priority: choosePriority(message) }),
        ...(device === null ? {} : { device }),
        ...(sound === null ? {} : { sound }),
      });
      const { receipt } = asRecord(response.json);
      return typeof receipt === "string" && /^\w{1,64}$/.test(receipt) ? receipt : sent;
    },
    async stop() {},
    problem: () => null,
  };
  if (!isEmergency) return base;
  return {
    ...base,
    /** A message cannot be changed. What repeats can be stopped. */
    async update(handle, { isFinal }) {
      if (!isFinal || handle === sent) return;
      await post(`receipts/${handle}/cancel.json`, {}).catch((error) => {
        // It was confirmed or has expired.
        if (!(error instanceof DeliveryError && error.isPermanent)) throw error;
      });
    },
  };

  function choosePriority({ urgency }: ChannelMessage): number {
    if (urgency === "urgent") return settings.priority === "normal" ? 0 : 1;
    return urgency === "low" ? -1 : 0;
  }
}

function findError(response: HttpResponse): DeliveryError | null {
  const { status, headers } = response;
  const { status: isDone, errors } = asRecord(response.json);
  const why = Array.isArray(errors) ? truncate(errors.map(String).join("; "), 300) : null;
  if (status === 429 && headers.has("x-limit-app-reset")) {
    const retryAfterMs = Math.max(0, Number(headers.get("x-limit-app-reset")) * 1_000 - Date.now()) || null;
    const text = "Pushover: the messages that your application may send this month are used up";
    return new DeliveryError(text, { retryAfterMs });
  }
  const error = findStatusError(name, response, why);
  if (error && status >= 500)
    return new DeliveryError(error.message, {
      retryAfterMs: Math.max(minRetryMs, error.retryAfterMs ?? 0),
      isUncertain: error.isUncertain,
    });
  if (error) return error;
  if (isDone === 1) return null;
  return new DeliveryError(`Pushover did not accept the message: ${why ?? "its answer makes no sense"}`, {
    isPermanent: true,
  });
}
