/** An HTTP server for tests of channels that can fail in every way a service or a network can. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { letTimePass } from "../../wait-until.ts";

/**
 * How the next matching request fails. "lost": it is carried out, but the connection breaks before the response. "slow": it is carried
 * out, and answered two seconds later.
 */
export type Fault =
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  | "hang"
  | "reset"
  | "lost"
  | "slow"
  | "garbage"
  | "redirect";

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: unknown;
  /** Since the server started, in ms. */
  readonly at: number;
}

export interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface MisbehavingServer {
  readonly url: string;
  readonly port: number;
  readonly server: Server;
  readonly requests: readonly ReceivedRequest[];
  /** The next request whose `METHOD path` matches fails like this. Faults for the same pattern are used in order. */
  fail(pattern: RegExp, ...faults: readonly Fault[]): void;
  stop(): Promise<void>;
}

const slowMs = 2_000;

/** `respond` resolves with null if the client has gone. */
export async function startMisbehavingServer(
  respond: (request: ReceivedRequest, isGone: () => boolean) => Reply | null | Promise<Reply | null>,
): Promise<MisbehavingServer> {
  const requests: ReceivedRequest[] = [];
  const faults: { readonly pattern: RegExp; readonly fault: Fault }[] = [];
  const started = performance.now();

  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await readBody(incoming);
    const request: ReceivedRequest = {
      method: incoming.method ?? "",
      path: incoming.url ?? "",
      headers: incoming.headers,
      body: text === "" ? null : JSON.parse(text),
      at: performance.now() - started,
    };
    requests.push(request);
    const index = faults.findIndex(({ pattern }) => pattern.test(`${request.method} ${request.path}`));
    const fault = index < 0 ? null : (faults.splice(index, 1)[0]?.fault ?? null);
    if (fault === "hang") return;
    if (fault === "reset") {
      incoming.socket.resetAndDestroy();
      return;
    }
    if (fault === "garbage") return write(response, { status: 502, body: "<html>Bad Gateway" });
    if (fault === "redirect") {
      return write(response, { status: 302, headers: { location: "http://127.0.0.1:9/elsewhere" } });
    }
    if (fault !== null && fault !== "lost" && fault !== "slow") return write(response, fault);
    const reply = await respond(request, () => response.destroyed);
    if (fault === "slow") await letTimePass(slowMs, "a slow server");
    if (fault === "lost") incoming.socket.resetAndDestroy();
    else if (reply) write(response, reply);
  }

  const server = createServer((incoming, response) => void handle(incoming, response).catch(() => {}));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    server,
    requests,
    fail(pattern, ...list) {
      faults.push(...list.map((fault) => ({ pattern, fault })));
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function write(response: ServerResponse, { status, body, headers }: Reply): void {
  if (response.destroyed) return;
  const isText = typeof body === "string";
  response.writeHead(status, { "content-type": isText ? "text/html" : "application/json", ...headers });
  response.end(body === undefined ? undefined : isText ? body : JSON.stringify(body));
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
