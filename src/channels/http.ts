/** HTTP for services without a client library: one request with a deadline, and its failures as DeliveryErrors. */
import { parseJson } from "../core/json.ts";
import { hasFreeDescriptors } from "../system/descriptors.ts";
import { describeFetchFailure, isUnreachable, isUntrusted } from "../system/fetch-failure.ts";
import { DeliveryError } from "./channel.ts";

const requestTimeoutMs = 10_000;
const maxResponseBytes = 1024 * 1024;

export interface RequestOptions {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly timeoutMs?: number | undefined;
  /** Ends the request early. */
  readonly signal?: AbortSignal | undefined;
}

export interface HttpResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** null if the body is not JSON. */
  readonly json: unknown;
}

let isFetchStarted = false;

/** The first fetch starts a thread. */
export function startFetch(url: string, init: RequestInit): Promise<Response> {
  if (!isFetchStarted && !hasFreeDescriptors()) throw new DeliveryError("beckon has too many open files");
  isFetchStarted = true;
  return fetch(url, init);
}

/** A redirect is not followed: it would take the token to another address. */
export async function request(url: string, options: RequestOptions): Promise<HttpResponse> {
  const { method, headers, body = null, timeoutMs = requestTimeoutMs } = options;
  const deadline = AbortSignal.timeout(timeoutMs);
  const signal = options.signal ? AbortSignal.any([deadline, options.signal]) : deadline;
  try {
    const init = { method, headers: { ...headers }, body, redirect: "manual", signal } as const;
    const response = await startFetch(url, init);
    const text = await readText(response);
    if (response.status >= 300 && response.status < 400)
      throw new DeliveryError(`${new URL(url).host} answered with a redirect`, { isPermanent: true });
    return {
      ok: response.ok,
      status: response.status,
      headers: response.headers,
      text,
      json: parseJson(text),
    };
  } catch (error) {
    if (error instanceof DeliveryError) throw error;
    throw new DeliveryError(describeFetchFailure(url, error), {
      isUncertain: !isUnreachable(error) && !isUntrusted(error),
    });
  }
}

async function readText(response: Response): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > maxResponseBytes) break;
  }
  return text;
}

/** The error of a response whose status is not 2xx; null for others. `reason` is what the service says about it. */
export function findStatusError(
  service: string,
  { ok, status, headers }: Pick<HttpResponse, "ok" | "status" | "headers">,
  reason: string | null = null,
): DeliveryError | null {
  if (ok) return null;
  return new DeliveryError(`${service} answered ${status}${reason === null ? "" : `: ${reason}`}`, {
    retryAfterMs: readRetryAfterMs(headers),
    isPermanent: status < 500 && status !== 408 && status !== 429,
    // The gateway does not know whether the server has carried it out.
    isUncertain: status === 504,
  });
}

/** From the header Retry-After: seconds, or a date. */
export function readRetryAfterMs(headers: Headers, now: number = Date.now()): number | null {
  const value = headers.get("retry-after");
  if (value === null) return null;
  const ms = /^\d+(?:\.\d+)?$/.test(value.trim()) ? Number(value) * 1_000 : Date.parse(value) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}

/** Cuts at the end of a character, and marks the cut. */
export function cutToBytes(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const cut = Buffer.from(text).subarray(0, Math.max(0, maxBytes - 3));
  return `${new TextDecoder().decode(cut).replace(/\ufffd+$/, "")}…`;
}
