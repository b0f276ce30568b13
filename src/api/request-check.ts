/**
 * Who may call the API, decided from the request's head alone: a pure function, and closed unless a route allows it.
 * Without the token a client does not even learn which routes exist.
 */
import { timingSafeEqual } from "node:crypto";
import { limits } from "../core/limits.ts";
import type { PageCheck, PageCredentials } from "./page-access.ts";
import { findRoute, type Route } from "./routes.ts";

/** What the check looks at, all of it known before a byte of the body is read. */
export interface RequestFacts extends PageCredentials {
  readonly method: string;
  /** As it was sent, without the query. */
  readonly path: string;
  /** A header sent twice arrives joined by ", ", so it equals nothing that is allowed. */
  readonly host: string | null;
  readonly origin: string | null;
  readonly referer: string | null;
  /**
   * Sec-Fetch-Site; "unknown" if only Sec-Fetch-Dest or -User was sent. Sec-Fetch-Mode alone does not count: Node's fetch
   * sends it, and browsers never send it without Sec-Fetch-Site.
   */
  readonly secFetch: string | null;
  readonly authorization: string | null;
  readonly contentType: string | null;
  readonly contentLength: string | null;
}

/** `isPage`: it is allowed without the token, because it comes from beckon's page. */
interface Admission {
  readonly ok: true;
  readonly isPage: boolean;
}

interface Refusal {
  readonly ok: false;
  readonly status: number;
  readonly error: string;
}

export type RequestVerdict = Admission | Refusal;

const allowed: RequestVerdict = { ok: true, isPage: false };
const allowedPage: RequestVerdict = { ok: true, isPage: true };
const refuse = (status: number, error: string): Refusal => ({ ok: false, status, error });

const refusals = {
  options: refuse(405, "OPTIONS is refused: no web page may call beckon"),
  webPage: refuse(403, "requests from web pages are refused"),
  token: refuse(401, "missing or wrong token: send the line in the file auth-header (curl -H @auth-header)"),
  path: refuse(404, "not found"),
  GET: refuse(405, "method not allowed: use GET"),
  POST: refuse(405, "method not allowed: use POST"),
  contentType: refuse(415, "content type must be application/json"),
  length: refuse(400, "content-length is not a number"),
  tooLarge: refuse(413, `body is larger than ${limits.maxBodyBytes} bytes`),
};

const jsonTypes: ReadonlySet<string> = new Set([
  "application/json",
  "application/json;charset=utf-8",
  "application/json; charset=utf-8",
]);

const isJson = (contentType: string | null): boolean =>
  contentType !== null && (jsonTypes.has(contentType) || jsonTypes.has(contentType.toLowerCase()));

/** null if it is allowed. A body without a length is counted while it is read. */
function checkLength(contentLength: string | null): Refusal | null {
  if (contentLength === null) return null;
  if (contentLength === "") return refusals.length;
  for (let i = 0; i < contentLength.length; i++) {
    const code = contentLength.charCodeAt(i);
    if (code < 48 || code > 57) return refusals.length;
  }
  return Number(contentLength) <= limits.maxBodyBytes ? null : refusals.tooLarge;
}

/** Browsers name the site that sends a request since 2023; without it nothing says that it is our page. */
const isSentByOwnPage = (facts: RequestFacts): boolean =>
  facts.secFetch === "same-origin" && isOwnPage(facts);

const isFromBrowser = ({ origin, referer, secFetch }: RequestFacts): boolean =>
  origin !== null || referer !== null || secFetch !== null;

/** Sec-Fetch-Site "none": the user typed the address or opened a link from outside the browser. */
const isOwnPage = ({ host, origin, referer, secFetch }: RequestFacts): boolean =>
  (origin === null || origin === `http://${host}`) &&
  (referer === null || referer.startsWith(`http://${host}/`)) &&
  (secFetch === null || secFetch === "same-origin" || secFetch === "none");

/** Takes the same time wherever the token differs. */
function createTokenCheck(token: string): (authorization: string | null) => boolean {
  const expected = Buffer.from(`Bearer ${token}`, "latin1");
  const received = Buffer.alloc(expected.length);
  return (authorization) => {
    // The length is not secret: every token has the same.
    if (authorization === null || authorization.length !== expected.length) return false;
    // latin1 is one byte per character, so every byte of the previous token is overwritten.
    received.write(authorization, "latin1");
    return timingSafeEqual(received, expected);
  };
}

/** What a request without the token needs. */
function mayPassAsPage(route: Route | undefined, facts: RequestFacts, page: PageCheck): boolean {
  switch (route?.access) {
    case "public":
    case "entry":
      return true;
    case "asset":
      return isSentByOwnPage(facts) && page.hasCookie(facts);
    case "page":
      return isSentByOwnPage(facts) && page.hasCookie(facts) && page.hasKey(facts);
    case "renewal":
      return isSentByOwnPage(facts);
    default:
      return false;
  }
}

export function createRequestCheck(options: {
  readonly port: number;
  readonly token: string;
  readonly page: PageCheck;
}): (facts: RequestFacts) => RequestVerdict {
  const { port, token, page } = options;
  if (token.length < limits.minTokenLength) {
    throw new Error(`the token has ${token.length} characters, it needs ${limits.minTokenLength} or more`);
  }
  const address = `127.0.0.1:${port}`;
  const hosts: ReadonlySet<string | null> = new Set([
    address,
    `localhost:${port}`,
    // Clients leave out the default port.
    ...(port === 80 ? ["127.0.0.1", "localhost"] : []),
  ]);
  const wrongHost = refuse(403, `wrong Host header: use http://${address}`);
  const hasToken = createTokenCheck(token);

  return (facts) => {
    if (!hosts.has(facts.host)) return wrongHost;
    if (facts.method === "OPTIONS") return refusals.options;
    const route = findRoute(facts.path);
    const mayBePage = route !== undefined && route.access !== "local";
    // A page of another site may not even read with the token: it has no business with it.
    if (isFromBrowser(facts) && !(mayBePage && isOwnPage(facts))) return refusals.webPage;
    if (route?.method === "POST" && isFromBrowser(facts) && !isSentByOwnPage(facts)) return refusals.webPage;
    const isPage = !hasToken(facts.authorization);
    if (isPage && !mayPassAsPage(route, facts, page)) return refusals.token;
    if (route === undefined) return refusals.path;
    // HEAD is refused too: nothing needs it, and it would be one more way in to check.
    if (facts.method !== route.method) return refusals[route.method];
    if (route.method === "POST" && !isJson(facts.contentType)) return refusals.contentType;
    return checkLength(facts.contentLength) ?? (isPage ? allowedPage : allowed);
  };
}

/** The router passes the path in, so that check and router judge the same one. */
export function readFacts(method: string, path: string, headers: Headers): RequestFacts {
  return {
    method,
    path,
    host: headers.get("host"),
    origin: headers.get("origin"),
    referer: headers.get("referer"),
    secFetch: headers.get("sec-fetch-site") ?? (hasOtherSecFetch(headers) ? "unknown" : null),
    authorization: headers.get("authorization"),
    cookie: headers.get("cookie"),
    pageKey: headers.get("x-beckon-page"),
    contentType: headers.get("content-type"),
    contentLength: headers.get("content-length"),
  };
}

const hasOtherSecFetch = (headers: Headers): boolean =>
  headers.has("sec-fetch-dest") || headers.has("sec-fetch-user");
