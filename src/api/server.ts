/**
 * The API: Elysia on loopback. Every request is checked before its body is read. The handlers here translate between
 * HTTP and the functions they are given; they decide nothing.
 */
import { Elysia } from "elysia";
import { readErrorMessage } from "../core/error-message.ts";
import type { ActionRefused, HistoryReader, IngestResult, PendingHooks } from "../core/interfaces/index.ts";
import type { HookOutput, PortView, TranscriptPage } from "../core/interfaces/wire.ts";
import { isRecord, type JsonRecord } from "../core/json.ts";
import { limits } from "../core/limits.ts";
import type { ChildView, SessionView } from "../core/view/session-view.ts";
import type { EventStream } from "../streams/event-stream.ts";
import { waitAtMost } from "../system/schedule.ts";
import type { PageAccess, RenewalChallenge, RenewalQuestion } from "./page-access.ts";
import { respondWhenAnswered } from "./pending-response.ts";
import { createRequestCheck, readFacts } from "./request-check.ts";
import { type RouteName, routes } from "./routes.ts";

export interface ChildWithParent {
  readonly child: ChildView;
  readonly parent: SessionView;
}

export interface SessionList {
  all(): readonly SessionView[];
  /** By id, a unique prefix of one, `agent:id`, or a unique project name. */
  find(name: string): SessionView | null;
  /** Every session that the name could mean. */
  findMatches(name: string): readonly SessionView[];
  /** A subagent with this id, and its session. null if there is none. */
  findChild(agentId: string): ChildWithParent | null;
  /** Further fields of the list: quiet modes that are on, known problems. */
  more(): object;
}

/** The files of beckon's page. */
export interface PageFiles {
  /** Contains `pageKeyMark` where the page's key goes. */
  readonly html: string;
  readonly script: string | Blob;
  /** What `script` and `moreScript` have in common. */
  readonly sharedScript: string | Blob;
  /** The history and the details of a session, which the page loads when one is opened. */
  readonly moreScript: string | Blob;
  /** The settings panel, which the page loads when it is opened. */
  readonly settingsScript: string | Blob;
  /** The team, likewise. */
  readonly teamScript: string | Blob;
  /** The rules, likewise. */
  readonly rulesScript: string | Blob;
  readonly style: string | Blob;
  readonly icon: string | Blob;
}

/** What the page's HTML has in place of its key. */
const pageKeyMark = "{{page-key}}";

export interface ServerOptions {
  readonly token: string;
  readonly pageAccess: PageAccess;
  /** What the page shows besides sessions: beckon's version, the names of agents, known problems. */
  readonly pageFacts: () => object;
  /** The page reports whether it has the keyboard's focus. */
  readonly reportPageFocus: (hasFocus: boolean) => void;
  /** Loads beckon's page, which most runs never need. */
  readonly loadPage: () => Promise<PageFiles>;
  /** Whether the process at the other end of a connection to this port belongs to this user. True if this system does not say. */
  readonly isOwnUser: (client: Client, port: number) => Promise<boolean>;
  /** Quits the app soon. */
  readonly stop: () => void;
  readonly accept: Accept;
  readonly sessions: SessionList;
  /** The list of sessions waits for it after a start. Hooks never do. */
  readonly listReady?: Promise<unknown>;
  readonly history: HistoryReader;
  /** What the transcript of a session says around a moment. `before` is how many lines before it are wanted. */
  readonly readTranscript: (key: string, at: number, before: number) => Promise<TranscriptPage>;
  readonly events: Pick<EventStream, "connect">;
  /** Resolves with the result, with a text if the body is invalid, and with null if there is no such session. */
  readonly act: (name: string, action: string, body: JsonRecord) => Promise<object | string | null>;
  /** Turns all alerts off or on. Returns what holds then, or a text if the body is invalid. */
  readonly setQuiet: (body: JsonRecord) => object | string;
  /** What an agent writes to its status line. Returns a text if the body is invalid. */
  readonly readStatusLine: (body: JsonRecord) => string | null;
  /** What the work guard says about a hook's event. A text says what is wrong with the body. */
  readonly checkGuard: (
    body: JsonRecord,
    isDryRun: boolean,
  ) => HookOutput | string | Promise<HookOutput | string>;
  /** The ports of the work guard, in all projects. */
  readonly listWorkPorts: () => readonly PortView[];
  /** Signs an answer to a hook, so that the hook can check that it is beckon's. */
  readonly sign: (request: string, text: string) => string;
  /** Permission hooks that wait for a decision. */
  readonly pending: PendingHooks;
  readonly settings: SettingsRequests;
  /** Every channel, and whether it works. */
  readonly channels: () => readonly object[];
  /** Sends a test message. Resolves with null if there is no such channel. */
  readonly testChannel: (name: string) => Promise<object | null>;
  /** Every other machine, and whether it is linked. */
  readonly machines: () => readonly object[];
  /** Tries to link it now. False if there is no such machine. */
  readonly retryMachine: (name: string) => boolean;
  /** The team fleets: who is blocked since when. */
  readonly teams: () => readonly object[];
  /** The fleets of this machine; `update` after the command line has changed which they are. */
  readonly fleets: { report(): readonly object[]; update(): Promise<void> };
  readonly rules: {
    report(): Promise<object>;
    /** "add", "remove" or "test". With a text if it cannot be done, with null if there is no such action. */
    act(action: string, body: JsonRecord): Promise<object | string | null>;
  };
  readonly prompts: {
    /** With a text if it cannot be done. */
    act(id: string, action: "change" | "remove", body: JsonRecord): Promise<object | string>;
    list(session: string | null): Promise<object>;
  };
  /** For a machine that is linked to this one. */
  readonly link: {
    connect(id: string, signal: AbortSignal): Promise<Response>;
    /** Resolves with what is wrong with the message; null if it is understood. */
    take(id: string, line: string): Promise<string | null>;
  };
  /** What `beckon doctor` asks of the running app; `wants` are the names in the query. */
  readonly doctor: (wants: ReadonlySet<string>) => Promise<object>;
  readonly onError: (text: string) => void;
}

/** What the settings panel asks for. */
export interface SettingsRequests {
  /** Every setting with its value, its default, and where the value comes from. */
  read(): Promise<object>;
  /** Writes all changes into config.json, or none. */
  save(body: JsonRecord): Promise<{ readonly status: number; readonly body: object }>;
  /** Opens config.json with the user's program; resolves with null, or with the reason why it could not. */
  open(): Promise<string | null>;
}

export interface ApiServer {
  readonly port: number;
  stop(): Promise<void>;
}

interface Context {
  readonly request: Request;
  /** An id that cannot be decoded is null. */
  readonly params: Readonly<Record<string, string | null | undefined>>;
  readonly query: Readonly<Record<string, unknown>>;
}

type Handler = (context: Context) => Response | Promise<Response>;

/** The other end of a connection. */
interface Client {
  readonly address: string;
  readonly port: number;
}

interface Connections {
  /** The port that the server listens on. */
  port(): number;
  /** Whether the client is a program of this user. It reads all sockets of the machine, so everything else is checked first. */
  isOwn(request: Request): Promise<boolean>;
}

/** How long requests are waited for at stop: a client that keeps its connection open would wait for ever. */
const stopMs = 500;
/** How many sessions an ambiguous name lists. */
const maxCandidates = 20;

const jsonHeaders = new Headers({ "content-type": "application/json", "cache-control": "no-store" });

function respond(status: number, body: unknown): Response {
  return new Response(JSON.stringify(body), { status, headers: jsonHeaders });
}

const statusOfOutcome = { rejected: 400, failed: 500, "not-stored": 503 } as const;

/**
 * Where hooks send their events: `/api/hook`, and `/ingest` for the older form. With `?hold`, a permission hook's response
 * stays open for the decision; its status says that the event was accepted.
 */
export function createHookRoute(accept: Accept, pending: PendingHooks | null = null) {
  const handle: Handler = ({ request }) => takeEvent(request, accept, pending);
  return new Elysia({ systemRouter: false })
    .post(routes.hook.path, handle, { parse: "none" })
    .post(routes.ingest.path, handle, { parse: "none" });
}

type Accept = (text: string) => Promise<IngestResult>;

async function takeEvent(request: Request, accept: Accept, pending: PendingHooks | null): Promise<Response> {
  const body = await readBody(request);
  if (body === null) return respondTooLarge();
  const result = await accept(body);
  if (result.outcome !== "accepted")
    return respond(statusOfOutcome[result.outcome], { error: result.reason });
  if (pending !== null && request.url.endsWith("?hold"))
    return respondWhenAnswered(body, request.signal, pending);
  return new Response('{"ok":true}', { headers: jsonHeaders });
}

/**
 * Takes hooks' events, and nothing else, on a socket in the state folder, which only this user can reach: without a token, and
 * without the checks that keep web pages out. Throws if the system has no such sockets there.
 */
export function listenOnSocket(path: string, accept: Accept): { stop(): Promise<void> } {
  const server = Bun.serve({
    unix: path,
    development: false,
    maxRequestBodySize: limits.maxBodyBytes,
    fetch: (request) =>
      request.method === "POST" && readPath(request.url) === routes.hook.path
        ? takeEvent(request, accept, null)
        : respond(404, { error: "not found" }),
  });
  return { stop: () => stopServer(server) };
}

async function stopServer(server: Bun.Server<unknown>): Promise<void> {
  await waitAtMost(stopMs, server.stop());
  await server.stop(true);
}

/** Nothing inline, nothing from elsewhere, in no frame. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/**
 * Removes what another user's program has left in the browser while it had beckon's port: service workers, which would read the
 * page that comes next, and cached files.
 */
const clearSite = { "clear-site-data": '"cache", "storage"' };

function respondPage(
  status: number,
  type: string,
  body: string | Blob,
  more?: Readonly<Record<string, string>>,
): Response {
  const headers = new Headers({
    ...more,
    "content-type": type,
    "content-security-policy": pagePolicy,
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
  });
  return new Response(body, { status, headers });
}

const html = "text/html; charset=utf-8";

const respondClosedPage = (more?: Readonly<Record<string, string>>) =>
  respondPage(
    401,
    html,
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>beckon</title>
<link rel="icon" href="/icon.svg">
<link rel="stylesheet" href="/page.css">
</head>
<body>
<main class="first">
<div class="first-top">
<img src="/icon.svg" alt="">
<h1>Open the dashboard again</h1>
<p>beckon was restarted, or this link was already used. A link works once, for 30 seconds. For a new one, choose “Open dashboard” in beckon’s menu, or run in a terminal:</p>
</div>
<div class="cmd"><code>beckon open</code></div>
</main>
</body>
</html>
`,
    more,
  );

/** The browser itself loads a page, which no script can imitate. */
const isNavigation = ({ headers }: Request): boolean =>
  headers.get("sec-fetch-mode") === "navigate" && headers.get("sec-fetch-dest") === "document";

/**
 * The user opened the address from outside the browser. Measured in Chromium 156: a service worker that fetches a navigation sends
 * the same mode, but "same-origin" and no document; one that lets the browser load it ahead sends the header for that.
 */
const isOpenedByUser = (request: Request): boolean =>
  isNavigation(request) &&
  request.headers.get("sec-fetch-site") === "none" &&
  !request.headers.has("service-worker-navigation-preload");

/** null if the body is not what a tab sends. Without a challenge, it asks for one. */
function parseRenewal(
  body: JsonRecord | string,
): { readonly question: RenewalQuestion; readonly challenge: RenewalChallenge | null } | null {
  if (typeof body === "string") return null;
  const { expires, pageNonce, nonce, proof } = body;
  if (typeof expires !== "number" || typeof pageNonce !== "string") return null;
  const challenge = typeof nonce === "string" && typeof proof === "string" ? { nonce, proof } : null;
  return { question: { expires, pageNonce }, challenge };
}

/** The page and its files. A code in the address is exchanged for the page's cookie and key. */
function createPageHandlers(options: ServerOptions, connections: Connections) {
  const { pageAccess, loadPage } = options;
  const serve =
    (type: string, file: Exclude<keyof PageFiles, "html">): Handler =>
    async () =>
      respondPage(200, type, (await loadPage())[file]);
  const hasCookie = ({ headers }: Request): boolean =>
    pageAccess.createCheck(connections.port()).hasCookie({ cookie: headers.get("cookie") });
  /** A browser with this run's cookie has already been cleared, and nobody else has had the port since. */
  const clearOnce = (request: Request): Readonly<Record<string, string>> =>
    hasCookie(request) ? {} : clearSite;

  /**
   * A code is exchanged for a redirect to a ticket. Scripts cannot read where a navigation is redirected to, and before the browser
   * follows it, the service workers are gone. The redirect has no opener policy, but the page has: whatever policy the tab's
   * previous page had, it differs from one of the two, so no other window keeps its hold on the tab.
   */
  const redeemCode = async (request: Request, code: string): Promise<Response> => {
    // First, because anybody can send a wrong code.
    if (!pageAccess.hasCode(code)) return respondClosedPage();
    // Other users can see the command line of the program that opens the browser, and race it with the code in it.
    if (!(await connections.isOwn(request))) return respondClosedPage();
    const ticket = pageAccess.redeemCode(code);
    // A code that a service worker has seen is no longer valid.
    if (ticket === null || !isOpenedByUser(request)) return respondClosedPage(clearSite);
    const headers = {
      location: `/?ticket=${ticket}`,
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
    };
    return new Response(null, { status: 303, headers: { ...headers, ...clearOnce(request) } });
  };
  const redeemTicket = async (request: Request, ticket: string): Promise<Response> => {
    if (!isNavigation(request) || !pageAccess.hasTicket(ticket)) return respondClosedPage();
    if (!(await connections.isOwn(request))) return respondClosedPage();
    const secrets = pageAccess.redeemTicket(ticket, connections.port());
    if (secrets === null) return respondClosedPage();
    const text = (await loadPage()).html.replace(pageKeyMark, secrets.key);
    return respondPage(200, html, text, { "set-cookie": secrets.setCookie });
  };
  const openPage: Handler = async ({ request, query }) => {
    const { code, ticket } = query;
    // To a browser "localhost" is ::1 first, where another user can listen at the same port (measured).
    if (request.headers.get("host")?.startsWith("localhost")) return respondClosedPage();
    if (typeof code === "string") return redeemCode(request, code);
    if (typeof ticket === "string") return redeemTicket(request, ticket);
    if (!hasCookie(request)) return respondClosedPage();
    return respondPage(200, html, (await loadPage()).html.replace(pageKeyMark, ""));
  };
  const renew: Handler = async ({ request }) => {
    const renewal = parseRenewal(parseBody(await readBody(request)));
    if (renewal === null) return respond(400, { error: "expires and pageNonce must be the page's" });
    const { question, challenge } = renewal;
    const port = connections.port();
    if (challenge === null) return respond(200, pageAccess.challenge(question, port));
    const secrets = pageAccess.renew(question, challenge, port);
    if (secrets === null) return respond(401, { error: "wrong proof: open the page again" });
    const headers = {
      ...Object.fromEntries(jsonHeaders),
      ...clearOnce(request),
      "set-cookie": secrets.setCookie,
    };
    return new Response(JSON.stringify({ key: secrets.key }), { headers });
  };
  return {
    page: openPage,
    pageScript: serve("text/javascript; charset=utf-8", "script"),
    sharedScript: serve("text/javascript; charset=utf-8", "sharedScript"),
    moreScript: serve("text/javascript; charset=utf-8", "moreScript"),
    settingsScript: serve("text/javascript; charset=utf-8", "settingsScript"),
    rulesScript: serve("text/javascript; charset=utf-8", "rulesScript"),
    teamScript: serve("text/javascript; charset=utf-8", "teamScript"),
    pageStyle: serve("text/css; charset=utf-8", "style"),
    pageIcon: serve("image/svg+xml", "icon"),
    pageFacts: ({ query: { focused } }) => {
      if (focused === "yes" || focused === "no") options.reportPageFocus(focused === "yes");
      return respond(200, options.pageFacts());
    },
    pageRenewal: () => respond(200, pageAccess.createRenewal(connections.port())),
    pageRenew: renew,
    pageCode: () => {
      return respond(200, { url: pageAccess.createUrl(connections.port()) });
    },
  } satisfies Partial<Record<RouteName, Handler>>;
}

function createPromptHandlers(options: ServerOptions) {
  const actOnPrompt =
    (action: "change" | "remove"): Handler =>
    async ({ request, params: { id } }) => {
      const body = parseBody(await readBody(request));
      const result = typeof body === "string" ? body : await options.prompts.act(id ?? "", action, body);
      return typeof result === "string" ? respond(400, { error: result }) : respond(200, result);
    };

  return {
    prompts: async ({ query: { session } }) =>
      respond(200, await options.prompts.list(typeof session === "string" ? session : null)),
    promptChange: actOnPrompt("change"),
    promptRemove: actOnPrompt("remove"),
  } satisfies Partial<Record<RouteName, Handler>>;
}

/** Other machines, those that are linked to this one, and fleets. */
const createMachineHandlers = (options: ServerOptions) =>
  ({
    machines: () => respond(200, { machines: options.machines() }),
    machineRetry: ({ params: { id } }) =>
      options.retryMachine(id ?? "")
        ? respond(200, { ok: true })
        : respond(404, { error: `no machine ${id}` }),
    teams: () => respond(200, { teams: options.teams() }),
    fleets: () => respond(200, { fleets: options.fleets.report() }),
    fleetsChanged: async () => {
      await options.fleets.update();
      return respond(200, { ok: true });
    },
    link: ({ request, params: { id } }) => options.link.connect(id ?? "", request.signal),
    linkMessage: async ({ request, params: { id } }) => {
      const body = await readBody(request);
      if (body === null) return respondTooLarge();
      const problem = await options.link.take(id ?? "", body);
      return problem === null ? respond(200, { ok: true }) : respond(400, { error: problem });
    },
  }) satisfies Partial<Record<RouteName, Handler>>;

/** What agents' programs send besides events. */
function createAgentHandlers(options: ServerOptions) {
  const { pending } = options;
  return {
    hold: async ({ request }) => {
      const body = await readBody(request);
      return body === null ? respondTooLarge() : respondWhenAnswered(body, request.signal, pending);
    },
    holdEnd: async ({ request }) => {
      const body = parseBody(await readBody(request));
      if (typeof body === "string") return respond(400, { error: body });
      const { id, how } = body;
      if (typeof id !== "string") return respond(400, { error: "id must be the event's" });
      if (how !== "printed" && how !== "stopped")
        return respond(400, { error: 'how must be "printed" or "stopped"' });
      pending.end(id, how);
      return respond(200, { ok: true });
    },
    guard: async ({ request, query }) => {
      const body = parseBody(await readBody(request));
      const output = typeof body === "string" ? body : await options.checkGuard(body, "check" in query);
      if (typeof output === "string") return respond(400, { error: output });
      if (!("signed" in query)) return respond(200, output);
      const { _meta: meta } = body as JsonRecord;
      const id = isRecord(meta) && typeof meta.id === "string" ? meta.id : "";
      return new Response(`${options.sign(id, JSON.stringify(output))}\n`, { headers: jsonHeaders });
    },
    statusLine: async ({ request }) => {
      const body = parseBody(await readBody(request));
      const problem = typeof body === "string" ? body : options.readStatusLine(body);
      return problem === null ? respond(200, { ok: true }) : respond(400, { error: problem });
    },
  } satisfies Partial<Record<RouteName, Handler>>;
}

/** The list, and what the user does with one session. */
function createSessionHandlers({ sessions, listReady, act }: ServerOptions) {
  /** Lists the candidates if the name is ambiguous. */
  function respondNoSession(name: string | null | undefined): Response {
    const matches = name == null ? [] : sessions.findMatches(name);
    if (matches.length < 2) return respond(404, { error: `no session ${name}` });
    const candidates = matches
      .slice(0, maxCandidates)
      .map(({ machine, provider, sessionId, project, gitBranch, title, lastPrompt, state, group }) => {
        return { machine, provider, sessionId, project, gitBranch, title, lastPrompt, state, group };
      });
    return respond(404, { error: `${matches.length} sessions match ${name}`, candidates });
  }

  const actOnSession =
    (action: string): Handler =>
    async ({ request, params: { id } }) => {
      const body = parseBody(await readBody(request));
      if (typeof body === "string") return respond(400, { error: body });
      const result = id == null ? null : await act(id, action, body);
      if (typeof result === "string") return respond(400, { error: result });
      if (result && isRefused(result)) return respond(result.refused, { error: result.error });
      return result ? respond(200, result) : respondNoSession(id);
    };

  return {
    sessions: async () => {
      await listReady;
      return respond(200, { sessions: sessions.all(), ...sessions.more() });
    },
    session: ({ params: { id } }) => {
      const session = id == null ? null : sessions.find(id);
      if (session) return respond(200, session);
      const child = id == null ? null : sessions.findChild(id);
      return child ? respond(200, child) : respondNoSession(id);
    },
    focus: actOnSession("focus"),
    answer: actOnSession("answer"),
    send: actOnSession("send"),
    trust: actOnSession("trust"),
    mute: actOnSession("mute"),
    snooze: actOnSession("snooze"),
    dismiss: actOnSession("dismiss"),
    transcript: actOnSession("transcript"),
  } satisfies Partial<Record<RouteName, Handler>>;
}

/** What happened. The queries are read by a module that is loaded with the first of them. */
function createHistoryHandlers({ history, readTranscript }: ServerOptions) {
  const queries = () => import("./history-query.ts");

  async function respondTo<Query>(
    query: Query | string,
    read: (query: Query) => Promise<object>,
  ): Promise<Response> {
    return typeof query === "string" ? respond(400, { error: query }) : respond(200, await read(query));
  }

  return {
    history: async ({ query }) => respondTo((await queries()).parseHistoryQuery(query), history.findItems),
    story: async ({ query }) => respondTo((await queries()).parseStoryQuery(query), history.findStory),
    transcriptPage: async ({ query }) =>
      respondTo((await queries()).parseTranscriptQuery(query), ({ session, at, lines }) =>
        readTranscript(session, at, lines),
      ),
    stats: async ({ query }) => respondTo((await queries()).parseStatsQuery(query), history.computeStats),
    lanes: async ({ query }) =>
      respondTo((await queries()).parseLanesQuery(query, Date.now()), ({ from, to }) =>
        history.computeLanes(from, to),
      ),
    moment: async ({ query }) => respondTo((await queries()).parseMomentQuery(query), history.findMoment),
  } satisfies Partial<Record<RouteName, Handler>>;
}

/** What the user has set: settings, rules, quiet modes and channels. */
const createSettingsHandlers = (options: ServerOptions) =>
  ({
    settings: async () => respond(200, await options.settings.read()),
    settingsSave: async ({ request }) => {
      const body = parseBody(await readBody(request));
      if (typeof body === "string") return respond(400, { error: body });
      const result = await options.settings.save(body);
      return respond(result.status, result.body);
    },
    settingsOpen: async () => {
      const problem = await options.settings.open();
      return problem === null ? respond(200, { ok: true }) : respond(400, { error: problem });
    },
    rules: async () => respond(200, await options.rules.report()),
    ruleAct: async ({ request, params: { id } }) => {
      const body = parseBody(await readBody(request));
      if (typeof body === "string") return respond(400, { error: body });
      const result = await options.rules.act(id ?? "", body);
      if (typeof result === "string") return respond(400, { error: result });
      return result ? respond(200, result) : respond(404, { error: "not found" });
    },
    quiet: async ({ request }) => {
      const body = parseBody(await readBody(request));
      const result = typeof body === "string" ? body : options.setQuiet(body);
      return typeof result === "string" ? respond(400, { error: result }) : respond(200, result);
    },
    channels: () => respond(200, { channels: options.channels() }),
    channelTest: async ({ params: { id } }) => {
      const result = id == null ? null : await options.testChannel(id);
      return result ? respond(200, result) : respond(404, { error: `no channel ${id}` });
    },
  }) satisfies Partial<Record<RouteName, Handler>>;

const createHandlers = (
  options: ServerOptions,
  connections: Connections,
): Readonly<Record<Exclude<RouteName, "hook" | "ingest">, Handler>> => ({
  ...createPageHandlers(options, connections),
  ...createAgentHandlers(options),
  ...createSessionHandlers(options),
  ...createPromptHandlers(options),
  ...createHistoryHandlers(options),
  ...createSettingsHandlers(options),
  ...createMachineHandlers(options),
  health: () => new Response("ok"),
  events: ({ request, query }) => {
    const { after } = query;
    const lastEventId = request.headers.get("last-event-id") ?? (typeof after === "string" ? after : null);
    return options.events.connect(lastEventId, request.signal);
  },
  ports: () => respond(200, { ports: options.listWorkPorts() }),
  doctor: async ({ query }) => respond(200, await options.doctor(new Set(Object.keys(query)))),
  stop: () => {
    // The response goes out first.
    setTimeout(options.stop, 0);
    return respond(200, { ok: true });
  },
});

/** Listens on the port, or throws EADDRINUSE. */
export function listen(port: number, options: ServerOptions): ApiServer {
  const checkRequest = createRequestCheck({
    port,
    token: options.token,
    page: options.pageAccess.createCheck(port),
  });
  /** Requests that were allowed for the page's secrets. */
  const pageRequests = new WeakSet<Request>();
  // Bun's own router would match the path as it was sent; the check judges the decoded one.
  const app = new Elysia({ systemRouter: false })
    .onRequest(({ request }) => {
      const verdict = checkRequest(readFacts(request.method, readPath(request.url), request.headers));
      if (!verdict.ok) {
        const refusal = respond(verdict.status, { error: verdict.error });
        // A browser looks for a new version of a service worker, which beckon does not have: another program left it there.
        if (request.headers.has("service-worker"))
          refusal.headers.set("clear-site-data", clearSite["clear-site-data"]);
        return refusal;
      }
      if (verdict.isPage) pageRequests.add(request);
    })
    .onError(({ code, error }) => {
      if (code === "NOT_FOUND") return respond(404, { error: "not found" });
      options.onError(`a request failed: ${readErrorMessage(error)}`);
      return respond(500, { error: "internal error: see beckon's log" });
    })
    .use(createHookRoute(options.accept, options.pending));
  const connections: Connections = {
    port: () => app.server?.port ?? port,
    async isOwn(request) {
      const client = app.server?.requestIP(request);
      return client != null && options.isOwnUser(client, connections.port());
    },
  };
  /** What the page's secrets open: another user who has got hold of them opens nothing. */
  const forOwnUser =
    (handler: Handler): Handler =>
    async (context) =>
      !pageRequests.has(context.request) || (await connections.isOwn(context.request))
        ? handler(context)
        : respond(403, { error: "this connection belongs to another user" });
  for (const [name, handler] of Object.entries(createHandlers(options, connections))) {
    const { method, path, access } = routes[name as RouteName];
    const isForPage = access === "page" || access === "asset" || access === "renewal";
    app.route(method, path, isForPage ? forOwnUser(handler) : handler, { parse: "none" });
  }
  app.listen({
    hostname: "127.0.0.1",
    port,
    // Elysia's default would let a second instance share the port silently.
    reusePort: false,
    development: false,
    // checkRequest and readBody refuse what is too large, with a message. Bun's own response would be empty.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  });
  const { server } = app;
  if (server?.port === undefined) throw new Error("the API did not start");
  return {
    port: server.port,
    stop: () => stopServer(server),
  };
}

/** Listens on the port, or on the next free one. */
export async function listenFrom(port: number, options: ServerOptions): Promise<ApiServer> {
  const last = Math.min(port + limits.maxTcpPortsTried, 65_535);
  for (let next = port; next <= last; next++) {
    try {
      return listen(next, options);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === "EADDRINUSE") continue;
      throw new Error(
        `beckon cannot listen on port ${next} (${code ?? message}). Set BECKON_PORT to another.`,
      );
    }
  }
  throw new Error(`no free port from ${port} to ${last}. Set BECKON_PORT to a free one.`);
}

function isRefused(result: object): result is ActionRefused {
  return "refused" in result;
}

/** The path without the query, as it was sent. */
function readPath(url: string): string {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  const query = url.indexOf("?", start);
  return start < 0 ? "/" : url.slice(start, query < 0 ? undefined : query);
}

const respondTooLarge = () => respond(413, { error: `body is larger than ${limits.maxBodyBytes} bytes` });

/** null if the body is too large. If it has a content length, checkRequest has checked it. */
function readBody(request: Request): Promise<string | null> {
  return request.headers.has("content-length") ? request.text() : readChunks(request);
}

/** Counts while reading, so that a body without a length cannot fill the memory. */
async function readChunks(request: Request): Promise<string | null> {
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

/** Returns a text if the body is not a JSON object. An empty body is an empty object. */
function parseBody(body: string | null): JsonRecord | string {
  if (body === null || body.trim() === "") return {};
  try {
    const parsed: unknown = JSON.parse(body);
    if (isRecord(parsed)) return { ...parsed };
  } catch {}
  return "invalid JSON";
}
