/** The receiver: Elysia on loopback. Every request passes the guard before its body is read. */
import { Elysia } from "elysia";
import type { SessionSnapshot } from "../core/snapshot.ts";
import { limits } from "../limits.ts";
import { createGuard, readFacts } from "./guard.ts";

/** What became of an event. 503: it could not be kept, and its sender must keep it. */
export interface Outcome {
  readonly status: 200 | 400 | 500 | 503;
  readonly error?: string;
}

export interface Sessions {
  all(): readonly SessionSnapshot[];
  /** By id, `agent:id`, or a unique prefix. */
  find(name: string): SessionSnapshot | null;
}

const json = new Headers({ "content-type": "application/json", "cache-control": "no-store" });

function answer(status: number, body: unknown): Response {
  return new Response(JSON.stringify(body), { status, headers: json });
}

/** The doors through which hooks come: `/api/hook`, and `/ingest` for the older form. */
export function createHookRoute(accept: (text: string) => Promise<Outcome>) {
  const take = async ({ request }: { request: Request }): Promise<Response> => {
    // A body that names its length was measured by the guard.
    const body = await (request.headers.has("content-length") ? request.text() : readCounted(request));
    if (body === null) return answer(413, { error: `body is larger than ${limits.maxBodyBytes} bytes` });
    const { status, error } = await accept(body);
    return status === 200 ? new Response('{"ok":true}', { headers: json }) : answer(status, { error });
  };
  return new Elysia({ systemRouter: false })
    .post("/api/hook", take, { parse: "none" })
    .post("/ingest", take, { parse: "none" });
}

/** Counted as it comes, and never all of it held. null: it is too large. */
async function readCounted(request: Request): Promise<string | null> {
  if (!request.body) return "";
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body) {
    size += chunk.byteLength;
    if (size > limits.maxBodyBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

export interface ReceiverOptions {
  readonly token: string;
  readonly accept: (text: string) => Promise<Outcome>;
  readonly sessions: Sessions;
  readonly onError: (text: string) => void;
}

export interface Receiver {
  readonly port: number;
  stop(): Promise<void>;
}

function pathOf(url: string): string {
  const from = url.indexOf("/", url.indexOf("//") + 2);
  const query = url.indexOf("?", from);
  return from < 0 ? "/" : url.slice(from, query < 0 ? undefined : query);
}

/** How long requests under way are waited for: a client that keeps its connection open would hold us for ever. */
const stopMs = 500;

/** Listens on the port, or throws EADDRINUSE. */
export function listen(port: number, options: ReceiverOptions): Receiver {
  const guard = createGuard({ port, token: options.token });
  // Bun's own router would match the path as it was sent, the guard judges the one that it means.
  const app = new Elysia({ systemRouter: false })
    .onRequest(({ request }) => {
      const verdict = guard(readFacts(request.method, pathOf(request.url), request.headers));
      if (!verdict.ok) return answer(verdict.status, { error: verdict.error });
    })
    .onError(({ code, error }) => {
      if (code === "NOT_FOUND") return answer(404, { error: "not found" });
      options.onError(`a request failed: ${error instanceof Error ? error.message : String(error)}`);
      return answer(500, { error: "internal error: see beckon's log" });
    })
    .use(createHookRoute(options.accept))
    .get("/health", () => new Response("ok"))
    .get("/api/sessions", () => answer(200, { sessions: options.sessions.all() }))
    .get("/api/sessions/:id", ({ params }) => {
      // An id that cannot be decoded arrives as null.
      const session = params.id === null ? null : options.sessions.find(params.id);
      return session ? answer(200, session) : answer(404, { error: `no session ${params.id}` });
    })
    .listen({
      hostname: "127.0.0.1",
      port,
      // Elysia's default would let a second instance share the port without a word.
      reusePort: false,
      development: false,
      // The guard and readBody refuse what is too large, and say so. Bun's own answer would be an empty one.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    });
  const { server } = app;
  if (server?.port === undefined) throw new Error("the receiver did not start");
  return {
    port: server.port,
    async stop() {
      const waited = Promise.withResolvers<void>();
      const timer = setTimeout(waited.resolve, stopMs);
      await Promise.race([server.stop(), waited.promise]);
      // Left running, it would keep the process from ending.
      clearTimeout(timer);
      await server.stop(true);
    },
  };
}
