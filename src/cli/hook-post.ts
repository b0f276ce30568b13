/**
 * One POST, within one deadline. To loopback over a bare socket: in the compiled binary fetch takes 0.2 ms more,
 * node:net 4, node:http 9, and none of HTTP_PROXY, DNS or a keep-alive is wanted there.
 */
import type { Target } from "./hook-target.ts";

/** The status of the answer, or why there is none: nobody listens, no answer in time, connection lost. */
export type Sent = number | "refused" | "late" | "broken";

/** The value of the line `Authorization: Bearer …`; null: there is none that could be sent. */
export async function readToken(path: string): Promise<string | null> {
  const text = await Bun.file(path)
    .text()
    .catch(() => "");
  return /^authorization:[ \t]*([\x21-\x7e][\x20-\x7e]*)/i.exec(text)?.[1]?.trimEnd() ?? null;
}

export function post(target: Target, token: string | null, body: string, deadlineMs: number): Promise<Sent> {
  return Promise.race([
    target.isLoopback ? postDirectly(target.url, token, body) : postAbroad(target.url, token, body),
    Bun.sleep(deadlineMs).then(() => "late" as const),
  ]);
}

function postDirectly(url: URL, token: string | null, body: string): Promise<Sent> {
  const content = Buffer.from(body);
  const head =
    `POST /api/hook HTTP/1.1\r\nHost: ${url.host}\r\nContent-Type: application/json\r\n` +
    `${token === null ? "" : `Authorization: ${token}\r\n`}Content-Length: ${content.length}\r\nConnection: close\r\n\r\n`;
  let rest: Uint8Array = Buffer.concat([Buffer.from(head), content]);
  let answer = "";
  return new Promise((resolve) => {
    const write = (socket: Bun.Socket): void => {
      rest = rest.subarray(Math.max(0, socket.write(rest)));
    };
    Bun.connect({
      hostname: url.hostname === "localhost" ? "127.0.0.1" : url.hostname.replace(/[[\]]/g, ""),
      port: Number(url.port || 80),
      socket: {
        open: write,
        drain: write,
        data(_socket, chunk) {
          answer += Buffer.from(chunk).toString("latin1");
          const status = /^HTTP\/1\.[01] (\d{3})/.exec(answer)?.[1];
          if (status) resolve(Number(status));
          else if (answer.length > 12) resolve("broken");
        },
        close: () => resolve("broken"),
        error: () => resolve("broken"),
        connectError: () => resolve("refused"),
      },
    }).catch(() => resolve("refused"));
  });
}

/** Only where the person's own config allows it: with their proxy and certificates, and never redirected. */
async function postAbroad(url: URL, token: string | null, body: string): Promise<Sent> {
  const headers = { "content-type": "application/json", ...(token === null ? {} : { authorization: token }) };
  try {
    return (await fetch(new URL("/api/hook", url), { method: "POST", headers, body, redirect: "manual" }))
      .status;
  } catch {
    return "broken";
  }
}
