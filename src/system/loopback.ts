/**
 * Requests to the running app. They carry the token, so they never go through a proxy. fetch does: Bun 1.4.4 follows
 * http_proxy for 127.0.0.1 too and ignores `proxy: ""`. node:http follows it only in its default agent, with NODE_USE_ENV_PROXY.
 */
import { type IncomingMessage, request } from "node:http";

export interface LoopbackRequest {
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON in a POST. Without it, the request is a GET. */
  readonly body?: object | undefined;
  /** The same, for JSON that is already a text. */
  readonly text?: string;
  readonly timeoutMs: number;
}

export interface LoopbackResponse {
  readonly status: number;
  readonly text: string;
}

/** Throws if there is no complete response in time: then the error's name is TimeoutError. Follows no redirect. */
export function requestLoopback(
  url: string,
  { headers = {}, body, text, timeoutMs }: LoopbackRequest,
): Promise<LoopbackResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<LoopbackResponse>();
  const json = text ?? (body && JSON.stringify(body));
  const content = json === undefined ? undefined : Buffer.from(json);
  const contentHeaders = content
    ? { "content-type": "application/json", "content-length": content.length }
    : {};
  const sent = request(
    url,
    { agent: false, method: content ? "POST" : "GET", headers: { ...headers, ...contentHeaders } },
    (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") }),
      );
      response.on("error", reject);
      response.on("aborted", () => reject(new Error("the connection broke")));
    },
  );
  sent.on("error", reject);
  const timer = setTimeout(() => {
    reject(new DOMException("no response in time", "TimeoutError"));
    sent.destroy();
  }, timeoutMs);
  sent.end(content);
  return promise.finally(() => clearTimeout(timer));
}

/** A GET whose response goes on: resolves when it begins. It ends when the app does, or with `signal`. */
export function openLoopbackStream(
  url: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = request(url, { agent: false, headers: { ...headers }, signal }, (response) => {
    if (response.statusCode === 200) return resolve(response);
    response.destroy();
    reject(new Error(`the app answered ${response.statusCode}`));
  });
  sent.on("error", reject);
  sent.end();
  return promise;
}
