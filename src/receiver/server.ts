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
  /** What beside them a list of sessions should say: quiet modes that are on. */
  more(): object;
}

const json = new Headers({ "content-type": "application/json", "cache-control": "no-store" });

function answer(status: number, body: unknown): Response {
  return new Response(JSON.stringify(body), { status, headers: json });
}

/** The doors through which hooks come: `/api/hook`, and `/ingest` for the older form. */
export function createHookRoute(accept: (text: string) => Promise<Outcome>) {
  const take = async ({ request }: { request: Request }): Promise<Response> => {
    const body = await readBody(request);
    if (body === null) return answer(413, { error: `body is larger than ${limits.maxBodyBytes} bytes` });
    const { status, error } = await accept(body);
    return status === 200 ? new Response('{"ok":true}', { headers: json }) : answer(status, { error });
  };
  return new Elysia({ systemRouter: false })
    .post("/api/hook", take, { parse: "none" })
    .post("/ingest", take, { parse: "none" });
}

/** A body that names its length was measured by the guard. */
function readBody(request: Request): Promise<string | null> {
  return request.headers.has("content-length") ? request.text() : readCounted(request);
}

/** What a deed was given, or what is wrong with it. Nothing at all is fine. */
function readGiven(body: string | null): Readonly<Record<string, unknown>> | string {
  if (body === null || body.trim() === "") return {};
  try {
    const given: unknown = JSON.parse(body);
    if (typeof given === "object" && given !== null && !Array.isArray(given)) return { ...given };
  } catch {}
  return "invalid JSON";
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
  /** Does something with a session. The answer; a text: what is wrong with what was given; null: no such session. */
  readonly act: (
    name: string,
    deed: string,
    given: Readonly<Record<string, unknown>>,
  ) => Promise<object | string | null>;
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
    .get("/api/sessions", () => answer(200, { sessions: options.sessions.all(), ...options.sessions.more() }))
    .get("/api/sessions/:id", ({ params }) => {
      // An id that cannot be decoded arrives as null.
      const session = params.id === null ? null : options.sessions.find(params.id);
      return session ? answer(200, session) : answer(404, { error: `no session ${params.id}` });
    })
    .post(
      "/api/sessions/:id/:deed",
      async ({ request, params: { id, deed } }) => {
        const given = readGiven(await readBody(request));
        if (typeof given === "string") return answer(400, { error: given });
        const done = id === null ? null : await options.act(id, deed, given);
        if (typeof done === "string") return answer(400, { error: done });
        return done ? answer(200, done) : answer(404, { error: `no session ${id}` });
      },
      { parse: "none" },
    )
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
