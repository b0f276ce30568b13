import { timingSafeEqual } from "node:crypto";
import { limits } from "../core/limits.ts";

/** What the guard looks at: all of it known before a byte of the body is read. */
export interface RequestFacts {
  readonly method: string;
  /** As it came, without the query: what is not spelled exactly like a door is none. */
  readonly path: string;
  /** A header sent twice arrives joined by ", " and so equals nothing. */
  readonly host: string | null;
  readonly origin: string | null;
  readonly referer: string | null;
  /** Sec-Fetch-Site; "unknown" where only other Sec-Fetch-* headers came. */
  readonly secFetch: string | null;
  readonly authorization: string | null;
  readonly contentType: string | null;
  readonly contentLength: string | null;
}

export type GuardVerdict =
  | { readonly ok: true }
  | { readonly ok: false; readonly status: number; readonly error: string };

interface Door {
  readonly method: "GET" | "POST";
  readonly needsToken: boolean;
  /** May beckon's own page use it? Hooks are no web pages: any sign of a browser closes their door. */
  readonly ownPage: boolean;
}

const hookDoor: Door = { method: "POST", needsToken: true, ownPage: false };
const deedDoor: Door = { method: "POST", needsToken: true, ownPage: false };
const readDoor: Door = { method: "GET", needsToken: true, ownPage: true };
const doctorDoor: Door = { method: "GET", needsToken: true, ownPage: false };
const healthDoor: Door = { method: "GET", needsToken: false, ownPage: true };

/** Every door there is. HEAD is no door either: nobody needs it, and it would be one more way in to check. */
const doors: ReadonlyMap<string, Door> = new Map([
  ["/api/hook", hookDoor],
  ["/ingest", hookDoor],
  ["/api/hold", hookDoor],
  ["/api/hold/end", hookDoor],
  ["/api/stop", deedDoor],
  ["/health", healthDoor],
  ["/api/sessions", readDoor],
  ["/api/doctor", doctorDoor],
]);
const sessionPrefix = "/api/sessions/";
/** What can be done with a session. */
const deeds: ReadonlySet<string> = new Set(["focus", "answer", "mute", "snooze", "dismiss"]);

function doorAt(path: string): Door | undefined {
  const door = doors.get(path);
  if (door !== undefined) return door;
  if (!path.startsWith(sessionPrefix)) return undefined;
  const [id, deed, ...more] = path.slice(sessionPrefix.length).split("/");
  if (!id || more.length > 0) return undefined;
  if (deed === undefined) return readDoor;
  return deeds.has(deed) ? deedDoor : undefined;
}

const admitted: GuardVerdict = { ok: true };
const refuse = (status: number, error: string): GuardVerdict => ({ ok: false, status, error });

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

/** A body without a length is counted as it comes, by whoever reads it. */
function judgeLength(contentLength: string | null): GuardVerdict {
  if (contentLength === null) return admitted;
  if (contentLength === "") return refusals.length;
  for (let i = 0; i < contentLength.length; i++) {
    const code = contentLength.charCodeAt(i);
    if (code < 48 || code > 57) return refusals.length;
  }
  return Number(contentLength) <= limits.maxBodyBytes ? admitted : refusals.tooLarge;
}

const isNoPage = ({ origin, referer, secFetch }: RequestFacts): boolean =>
  origin === null && referer === null && secFetch === null;

/** "none" is an address the person typed, or a link opened from outside the browser. */
const isOwnPage = ({ host, origin, referer, secFetch }: RequestFacts): boolean =>
  (origin === null || origin === `http://${host}`) &&
  (referer === null || referer.startsWith(`http://${host}/`)) &&
  (secFetch === null || secFetch === "same-origin" || secFetch === "none");

/** Its answer takes the same time for a token wrong in the first place as for one wrong in the last. */
function createTokenCheck(token: string): (authorization: string | null) => boolean {
  const expected = Buffer.from(`Bearer ${token}`, "latin1");
  const given = Buffer.alloc(expected.length);
  return (authorization) => {
    // The length is no secret: every token has the same.
    if (authorization === null || authorization.length !== expected.length) return false;
    // latin1 is one byte a character, so every byte of the last caller's token is written over.
    given.write(authorization, "latin1");
    return timingSafeEqual(given, expected);
  };
}

/**
 * Who may come in: decided from the request's head alone, and closed unless a door says otherwise. Without the
 * token nobody learns which doors there are.
 */
export function createGuard(options: {
  readonly port: number;
  readonly token: string;
}): (facts: RequestFacts) => GuardVerdict {
  const { port, token } = options;
  if (token.length < limits.minTokenLength) {
    throw new Error(`the token has ${token.length} characters, it needs ${limits.minTokenLength} or more`);
  }
  const address = `127.0.0.1:${port}`;
  const name = `localhost:${port}`;
  // The usual port is not named.
  const hosts: ReadonlySet<string | null> = new Set([
    address,
    name,
    ...(port === 80 ? ["127.0.0.1", "localhost"] : []),
  ]);
  const wrongHost = refuse(403, `wrong Host header: use http://${address}`);
  const hasToken = createTokenCheck(token);

  return (facts) => {
    if (!hosts.has(facts.host)) return wrongHost;
    if (facts.method === "OPTIONS") return refusals.options;
    const door = doorAt(facts.path);
    const fromHere = isNoPage(facts) || (door?.ownPage === true && isOwnPage(facts));
    if (!fromHere) return refusals.webPage;
    if (door?.needsToken !== false && !hasToken(facts.authorization)) return refusals.token;
    if (door === undefined) return refusals.path;
    if (facts.method !== door.method) return refusals[door.method];
    if (door.method === "POST" && !isJson(facts.contentType)) return refusals.contentType;
    return judgeLength(facts.contentLength);
  };
}

/** The path is given by whoever routes, so that guard and router judge the same one. */
export function readFacts(method: string, path: string, headers: Headers): RequestFacts {
  return {
    method,
    path,
    host: headers.get("host"),
    origin: headers.get("origin"),
    referer: headers.get("referer"),
    secFetch: headers.get("sec-fetch-site") ?? (hasOtherSecFetch(headers) ? "unknown" : null),
    authorization: headers.get("authorization"),
    contentType: headers.get("content-type"),
    contentLength: headers.get("content-length"),
  };
}

const hasOtherSecFetch = (headers: Headers): boolean =>
  headers.has("sec-fetch-mode") || headers.has("sec-fetch-dest") || headers.has("sec-fetch-user");
