/** Requests to beckon. The browser adds the cookie. */
import { pageHeaders } from "./key.ts";

export interface ApiAnswer {
  /** 0 if beckon could not be reached. */
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

const timeoutMs = 10_000;

/** A GET, or a POST if there is a body. Never throws. */
export async function callApi(path: string, body?: object): Promise<ApiAnswer> {
  try {
    const response = await fetch(path, {
      headers: { ...pageHeaders(), ...(body ? { "content-type": "application/json" } : {}) },
      signal: AbortSignal.timeout(timeoutMs),
      // Another program could have put something there.
      cache: "no-store",
      ...(body ? { method: "POST", body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    return { status: response.status, body: text.startsWith("{") ? JSON.parse(text) : {} };
  } catch {
    return { status: 0, body: {} };
  }
}
