/** The receiver: Elysia on loopback. Every request passes the guard before its body is read. */
import { Elysia } from "elysia";
import type { ActionRefused, HoldHandler, IngestResult } from "../core/ports.ts";
import type { SessionSnapshot } from "../core/view/snapshot.ts";
import { answer, json, readBody, readGiven, tooLarge } from "./body.ts";
import { createGuard, readFacts } from "./guard.ts";
import { createHoldRoute, holdOpen } from "./hold.ts";

export interface SessionList {
  all(): readonly SessionSnapshot[];
  /** By id, a unique prefix of one, `agent:id`, or a unique project name. */
  find(name: string): SessionSnapshot | null;
  /** Every session that the name could mean. */
  findMatches(name: string): readonly SessionSnapshot[];
  /** What beside them a list of sessions should say: quiet modes that are on. */
  more(): object;
}

/**
 * Where hooks send their events: `/api/hook`, and `/ingest` for the older form. With `?hold`, a permission hook's response
 * stays open for the decision; its status says that the event was accepted.
 */
export function createHookRoute(
  accept: (text: string) => Promise<IngestResult>,
  holds: HoldHandler | null = null,
) {
  const take = async ({ request }: { request: Request }): Promise<Response> => {
    const body = await readBody(request);
    if (body === null) return tooLarge();
    const { status, error } = await accept(body);
    if (status !== 200) return answer(status, { error });
    if (holds !== null && request.url.endsWith("?hold")) return holdOpen(body, request.signal, holds);
    return new Response('{"ok":true}', { headers: json });
  };
  return new Elysia({ systemRouter: false })
    .post("/api/hook", take, { parse: "none" })
    .post("/ingest", take, { parse: "none" });
}

function isRefused(done: object): done is ActionRefused {
  return "refused" in done;
}

export interface ReceiverOptions {
  readonly token: string;
  /** Quits the app, soon. */
  readonly stop: () => void;
  readonly accept: (text: string) => Promise<IngestResult>;
  readonly sessions: SessionList;
  /** Does something with a session. The answer; a text: what is wrong with what was given; null: no such session. */
  readonly act: (
    name: string,
    deed: string,
    given: Readonly<Record<string, unknown>>,
  ) => Promise<object | string | null>;
  /** The lines that permission hooks hold open. */
  readonly lines: HoldHandler;
  /** What `beckon doctor` asks of the running app; `wants`: the names in the query. */
  readonly doctor: (wants: ReadonlySet<string>) => Promise<object>;
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

/** Of an ambiguous name. */
const maxCandidates = 20;

/** Listens on the port, or throws EADDRINUSE. */
export function listen(port: number, options: ReceiverOptions): Receiver {
  const guard = createGuard({ port, token: options.token });
  /** 404, with the candidates if the name is ambiguous. `name` is null if it could not be decoded. */
  const noSession = (name: string | null): Response => {
    const matches = name === null ? [] : options.sessions.findMatches(name);
    if (matches.length < 2) return answer(404, { error: `no session ${name}` });
    const candidates = matches
      .slice(0, maxCandidates)
      .map(({ provider, sessionId, project, title, state }) => {
        return { provider, sessionId, project, title, state };
      });
    return answer(404, { error: `${matches.length} sessions match ${name}`, candidates });
  };
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
    .use(createHookRoute(options.accept, options.lines))
    .use(createHoldRoute(options.lines))
    .get("/health", () => new Response("ok"))
    .get("/api/sessions", () => answer(200, { sessions: options.sessions.all(), ...options.sessions.more() }))
    .get("/api/sessions/:id", ({ params }) => {
      // An id that cannot be decoded arrives as null.
      const session = params.id === null ? null : options.sessions.find(params.id);
      return session ? answer(200, session) : noSession(params.id);
    })
    .get("/api/doctor", async ({ query }) => answer(200, await options.doctor(new Set(Object.keys(query)))))
    .post(
      "/api/sessions/:id/:deed",
      async ({ request, params: { id, deed } }) => {
        const given = readGiven(await readBody(request));
        if (typeof given === "string") return answer(400, { error: given });
        const done = id === null ? null : await options.act(id, deed, given);
        if (typeof done === "string") return answer(400, { error: done });
        if (done && isRefused(done)) return answer(done.refused, { error: done.error });
        return done ? answer(200, done) : noSession(id);
      },
      { parse: "none" },
    )
    .post(
      "/api/stop",
      () => {
        // The answer first.
        setTimeout(options.stop, 0);
        return answer(200, { ok: true });
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
