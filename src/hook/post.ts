/**
 * One POST, within one deadline. To loopback over a bare socket: in the compiled binary fetch takes 0.2 ms more,
 * node:net 4, node:http 9, and none of HTTP_PROXY, DNS or keep-alive is wanted there.
 */
import { readSmall } from "./meta.ts";
import type { Target } from "./target.ts";

/** The status of the answer, or why there is none: nobody listens, no answer in time, connection lost. */
export type Sent = number | "refused" | "late" | "broken";

/** The line `Authorization: Bearer …` of the file; null: there is none that could be sent. */
export async function readToken(path: string): Promise<string | null> {
  const text = (await readSmall(path)) ?? "";
  const end = text.indexOf("\n");
  const line = (end < 0 ? text : text.slice(0, end)).trim();
  return line.startsWith("Authorization:") && !line.includes("\r") ? line : null;
}

export function post(target: Target, token: string | null, body: string, deadlineMs: number): Promise<Sent> {
  const { promise, resolve } = Promise.withResolvers<Sent>();
  setTimeout(resolve, deadlineMs, "late");
  if (target.isLoopback) postDirectly(target.url, token, body, resolve);
  else postAbroad(target.url, token, body).then(resolve, () => resolve("broken"));
  return promise;
}

function postDirectly(url: URL, token: string | null, body: string, resolve: (sent: Sent) => void): void {
  const bytes = new TextEncoder().encode(body);
  const head =
    `POST /api/hook HTTP/1.1\r\nHost: ${url.host}\r\nContent-Type: application/json\r\n` +
    `${token === null ? "" : `${token}\r\n`}Content-Length: ${bytes.length}\r\nConnection: close\r\n\r\n`;
  let rest = new Uint8Array(head.length + bytes.length);
  new TextEncoder().encodeInto(head, rest);
  rest.set(bytes, head.length);
  const write = (socket: Bun.Socket): void => {
    rest = rest.subarray(Math.max(0, socket.write(rest)));
  };
  let answer = "";
  Bun.connect({
    hostname: addressOf(url.hostname),
    port: Number(url.port || 80),
    socket: {
      open: write,
      drain: write,
      data(_socket, chunk) {
        answer += new TextDecoder().decode(chunk);
        // "HTTP/1.1 200": all there is to wait for.
        if (answer.length >= 12)
          resolve((answer.startsWith("HTTP/1.") && Number(answer.slice(9, 12))) || "broken");
      },
      close: () => resolve("broken"),
      error: () => resolve("broken"),
      connectError: () => resolve("refused"),
    },
  }).catch(() => resolve("refused"));
}

export function addressOf(hostname: string): string {
  if (hostname === "localhost") return "127.0.0.1";
  return hostname === "[::1]" ? "::1" : hostname;
}

/** Only where the person's own config allows it: with their proxy and certificates, and never redirected. */
async function postAbroad(url: URL, token: string | null, body: string): Promise<number> {
  const headers = new Headers({ "content-type": "application/json" });
  if (token !== null) headers.set("authorization", token.slice("Authorization:".length).trim());
  const answer = await fetch(new URL("/api/hook", url), {
    method: "POST",
    headers,
    body,
    redirect: "manual",
  });
  return answer.status;
}
