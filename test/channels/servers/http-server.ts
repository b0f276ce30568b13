/** A local HTTP server for a service's API. It keeps every request, and misbehaves as it is told. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Misbehaviour } from "./fake-service.ts";

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  /** The body as JSON; empty if it is not a JSON object. */
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object | string;
}

export interface LocalServer {
  readonly url: string;
  readonly requests: ReceivedRequest[];
  misbehave(how: Misbehaviour, times: number): void;
  stop(): void;
}

export interface HttpServerOptions {
  readonly handle: (request: ReceivedRequest) => Reply;
  /** How this service refuses a request and limits the rate. */
  readonly refusal: Reply;
  readonly rateLimit: Reply;
}

export async function startHttpServer(options: HttpServerOptions): Promise<LocalServer> {
  const { handle, refusal, rateLimit } = options;
  const requests: ReceivedRequest[] = [];
  let planned: Misbehaviour[] = [];
  const server = createServer(async (incoming, response) => {
    const request = await readRequest(incoming);
    requests.push(request);
    const how = planned.shift();
    if (how === "hang") return;
    if (how === "reset") return void incoming.socket.destroy();
    if (how === "error") return send(response, { status: 502, body: "bad gateway" });
    if (how === "refuse") return send(response, refusal);
    if (how === "rate-limit") return send(response, rateLimit);
    if (how === "garbage") return send(response, { body: "<html>captive portal</html>" });
    const reply = handle(request);
    if (how === "lose-answer") incoming.socket.destroy();
    else send(response, reply);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    misbehave(how, times) {
      planned = Array.from({ length: times }, () => how);
    },
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function readRequest(incoming: IncomingMessage): Promise<ReceivedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString("utf8");
  return {
    method: incoming.method ?? "",
    path: incoming.url ?? "",
    headers: incoming.headers as Record<string, string | undefined>,
    text,
    body: parseObject(text),
  };
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function send(response: ServerResponse, { status = 200, headers = {}, body = "" }: Reply): void {
  const isText = typeof body === "string";
  response.writeHead(status, { "content-type": isText ? "text/plain" : "application/json", ...headers });
  response.end(isText ? body : JSON.stringify(body));
}
