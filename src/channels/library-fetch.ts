/**
 * The fetch for client libraries: with a deadline and a limit for the response, without redirects, and with its failures as
 * DeliveryErrors. The libraries would wait for ever, read everything, or take the token to another address.
 */
import { DeliveryError } from "./channel.ts";
import { readRetryAfterMs, request } from "./http.ts";

interface LibraryRequest {
  readonly method?: string;
  readonly headers?: unknown;
  readonly body?: unknown;
  readonly signal?: unknown;
}

export function createLibraryFetch(timeoutMs: number) {
  return async (url: unknown, init: LibraryRequest = {}): Promise<Response> => {
    const address = String(url);
    const response = await request(address, {
      method: init.method ?? "GET",
      headers: Object.fromEntries(new Headers(init.headers as Record<string, string>)),
      body: typeof init.body === "string" ? init.body : undefined,
      timeoutMs,
      signal: init.signal instanceof AbortSignal ? init.signal : undefined,
    });
    const { status, headers, text, json } = response;
    if (json === null && text !== "")
      throw new DeliveryError(`${new URL(address).host} answered ${status} without JSON`, {
        retryAfterMs: readRetryAfterMs(headers),
        isPermanent: status >= 400 && status < 500 && status !== 408 && status !== 429,
        isUncertain: status < 400 || status === 504,
      });
    // The text is decoded already.
    headers.delete("content-encoding");
    headers.delete("content-length");
    // A library would read JSON from nothing.
    if (text === "") headers.delete("content-type");
    return new Response(text === "" ? null : text, { status, headers });
  };
}
