import { createPageAccess } from "../../src/api/page-access.ts";
import type { RequestFacts } from "../../src/api/request-check.ts";
import { limits } from "../../src/core/limits.ts";

/** Which requests each route accepts. Written from the threats, independently of the code of the check. */

export const port = 4488;
export const token = "k3-Zq8mV0sYh2JxT7wNfRb5LcAe9UdGi1oPtXyMvBsQ";

/** The time of every request here. */
const now = Date.UTC(2026, 10, 17);

const thirtyDays = 30 * 24 * 60 * 60 * 1_000;

const createAccess = (at: number) =>
  createPageAccess({ token, startSecret: "of this start", now: () => at, createSecret: () => "once" });

/** What the request check asks about the page's secrets. */
export const createPageCheck = (atPort = port) => createAccess(now).createCheck(atPort);

/** The secrets of a browser that has opened the page and whose secrets end then. */
function openPageUntil(expires: number) {
  const access = createAccess(expires - thirtyDays);
  access.createUrl(port);
  const secrets = access.redeemTicket(access.redeemCode("once") ?? "", port);
  if (!secrets) throw new Error("the code is refused");
  return { cookie: secrets.setCookie.split(";")[0] ?? "", key: secrets.key };
}
const pageCookieOf = (expires: number) => openPageUntil(expires).cookie;
const { cookie: pageCookie, key: pageKey } = openPageUntil(now + thirtyDays);

export type Part = Exclude<keyof RequestFacts, "path">;

/** The values of each part of a request. A comment above a value names the attack. */
export const values: Record<Part, Record<string, string | null>> = {
  host: {
    good: "127.0.0.1:4488",
    localhost: "localhost:4488",
    // DNS rebinding: a page's own name now resolves to 127.0.0.1, so the browser counts beckon as its own server
    evil: "evil.example:4488",
    // the same, with a name that looks right to a prefix or suffix check
    "localhost.evil": "localhost.evil.example:4488",
    "evil with our address inside": "127.0.0.1:4488.evil.example",
    // a proxy, or a hand-made client, that names no host
    missing: null,
    empty: "",
    ":port": ":4488",
    // two Host headers: a check of the first, a router that takes the second
    duplicate: "127.0.0.1:4488, evil.example",
    "duplicate, the good one twice": "127.0.0.1:4488, 127.0.0.1:4488",
    // another program's page on this machine, sent to our port
    "wrong port": "127.0.0.1:4489",
    "no port": "127.0.0.1",
    // other spellings of this machine that a page can reach where 127.0.0.1 is blocked
    "0.0.0.0": "0.0.0.0:4488",
    "[::1]": "[::1]:4488",
    "127.1": "127.1:4488",
    "decimal address": "2130706433:4488",
    "trailing dot": "localhost.:4488",
    uppercase: "LOCALHOST:4488",
    "user before it": "evil@127.0.0.1:4488",
    "space after it": "127.0.0.1:4488 ",
  },
  origin: {
    none: null,
    own: "http://127.0.0.1:4488",
    "own by name": "http://localhost:4488",
    // any page in the user's browser that knows our port
    evil: "https://evil.example",
    // a sandboxed frame, a file:// page, a redirect across sites
    null: "null",
    // a development server on this machine: another port is another origin
    "another port": "http://127.0.0.1:3000",
    "own with https": "https://127.0.0.1:4488",
    empty: "",
  },
  referer: {
    none: null,
    own: "http://127.0.0.1:4488/",
    // an image or form on a page, in a browser that sends neither Origin nor Sec-Fetch-*
    evil: "https://evil.example/page",
    "evil that starts like us": "http://127.0.0.1:4488.evil.example/",
  },
  secFetch: {
    none: null,
    typed: "none",
    "own page": "same-origin",
    // <img src="http://127.0.0.1:4488/…"> and no-cors fetch: no Origin, but the browser says where from
    "cross-site": "cross-site",
    "same-site": "same-site",
    "only other Sec-Fetch headers": "unknown",
  },
  authorization: {
    good: `Bearer ${token}`,
    // another user of this machine, who can reach the port but not the file
    missing: null,
    wrong: `Bearer ${"x".repeat(token.length)}`,
    // a guess that gets longer one character at a time
    prefix: `Bearer ${token.slice(0, -1)}`,
    "one character too many": `Bearer ${token}A`,
    "last character wrong": `Bearer ${token.slice(0, -1)}R`,
    "lower-case scheme": `bearer ${token}`,
    "no scheme": token,
    basic: `Basic ${token}`,
    // two headers joined: a check of the first or the last would do
    "two tokens": `Bearer wrong, Bearer ${token}`,
    "the good one twice": `Bearer ${token}, Bearer ${token}`,
    "in other letters": `Bearer ${token.toLowerCase()}`,
    "nothing after the scheme": "Bearer ",
    empty: "",
  },
  cookie: {
    none: null,
    good: pageCookie,
    // cookies of other programs on this host: all ports share them
    "good among others": `theme=dark; ${pageCookie}; csrf=x`,
    // what another server on this machine saw a month ago
    expired: pageCookieOf(now - 1),
    "made with another token": pageCookie.replace(/\..*/, `.${"A".repeat(43)}`),
    "with a later end": pageCookie.replace(/=\d+/, `=${now + 9_000_000_000}`),
    "of a beckon on another port": pageCookie.replace("beckon-4488", "beckon-4489"),
    // a server on another port set one of the same name
    twice: `beckon-4488=1.x; ${pageCookie}`,
    "only its name": "beckon-4488=",
    "name in other letters": pageCookie.replace("beckon", "BECKON"),
    empty: "",
  },
  pageKey: {
    none: null,
    good: pageKey,
    wrong: "A".repeat(pageKey.length),
    prefix: pageKey.slice(0, -1),
    "the token": token,
    "the cookie": pageCookie,
    "the good one twice": `${pageKey}, ${pageKey}`,
    empty: "",
  },
  contentType: {
    json: "application/json",
    "json, utf-8": "application/json; charset=utf-8",
    "json, UTF-8, no space": "application/json;charset=UTF-8",
    missing: null,
    // the three types a page's form can send without asking first
    "plain text": "text/plain",
    form: "application/x-www-form-urlencoded",
    multipart: "multipart/form-data; boundary=x",
    // the same, dressed up for a check by substring
    "plain text that mentions json": "text/plain; application/json",
    "json, another charset": "application/json; charset=utf-7",
    "something that starts like json": "application/jsonp",
    twice: "application/json, text/plain",
    empty: "",
  },
  method: {
    GET: "GET",
    POST: "POST",
    // a preflight: any answer but a refusal would invite the real request
    OPTIONS: "OPTIONS",
    HEAD: "HEAD",
    PUT: "PUT",
    DELETE: "DELETE",
    TRACE: "TRACE",
    "lower case": "post",
  },
  contentLength: {
    // counted as it comes, elsewhere
    missing: null,
    zero: "0",
    some: "512",
    "the limit": String(limits.maxBodyBytes),
    // fills the memory with a body that is never read
    "over the limit": String(limits.maxBodyBytes + 1),
    huge: "9".repeat(400),
    // smuggling: two parsers that read two lengths
    negative: "-1",
    exponent: "1e3",
    hex: "0x10",
    twice: "5, 5",
    empty: "",
  },
};

/**
 * The labels that a route accepts, for each part. A part that is not listed may be anything. With `page`, the page's secrets
 * work in place of the token.
 */
type AllowedLabels = Partial<Record<Part, readonly string[]>> & {
  readonly page?: "asset" | "api" | "renewal";
};

const anyGoodLength = ["missing", "zero", "some", "the limit"];
const noBrowser = { host: ["good", "localhost"], origin: ["none"], referer: ["none"], secFetch: ["none"] };
const atMostOurPage = {
  host: ["good", "localhost"],
  origin: ["none", "own", "own by name"],
  referer: ["none", "own"],
  secFetch: ["none", "typed", "own page"],
};
const hook: AllowedLabels = {
  ...noBrowser,
  authorization: ["good"],
  contentType: ["json", "json, utf-8", "json, UTF-8, no space"],
  method: ["POST"],
  contentLength: anyGoodLength,
};
const health: AllowedLabels = { ...atMostOurPage, method: ["GET"], contentLength: anyGoodLength };
const read: AllowedLabels = { ...health, authorization: ["good"] };
const localRead: AllowedLabels = {
  ...noBrowser,
  authorization: ["good"],
  method: ["GET"],
  contentLength: anyGoodLength,
};
const pageRead: AllowedLabels = { ...read, page: "api" };
const pageAction: AllowedLabels = { ...hook, ...atMostOurPage, page: "api" };
const asset: AllowedLabels = { ...read, page: "asset" };
/** Checked like the strictest route, except for what concerns the body. */
const unknownRoute: AllowedLabels = { ...noBrowser, authorization: ["good"] };

export const routes: Record<string, AllowedLabels> = {
  "/api/hook": hook,
  "/ingest": hook,
  "/api/statusline": hook,
  "/api/guard": hook,
  "/api/hold": hook,
  "/api/hold/end": hook,
  "/health": health,
  // The handler of "/" asks for a code or the cookie.
  "/": health,
  "/page.js": asset,
  "/shared.js": asset,
  "/more.js": asset,
  "/settings.js": asset,
  "/team.js": asset,
  "/rules.js": asset,
  // The page that a browser without the cookie gets needs these two.
  "/page.css": health,
  "/icon.svg": health,
  "/api/page": pageRead,
  "/api/page/code": hook,
  "/api/page/renewal": pageRead,
  // The handler asks for a proof.
  "/api/page/renew": { ...hook, ...atMostOurPage, page: "renewal" },
  "/api/sessions": pageRead,
  "/api/events": pageRead,
  "/api/history": pageRead,
  "/api/story": pageRead,
  "/api/transcript": pageRead,
  "/api/stats": pageRead,
  "/api/ports": pageRead,
  "/api/lanes": pageRead,
  "/api/moment": pageRead,
  "/api/sessions/claude:0d9c": pageRead,
  "/api/sessions/claude:0d9c/focus": pageAction,
  "/api/sessions/--next/focus": pageAction,
  "/api/sessions/0d9c/dismiss": pageAction,
  "/api/sessions/0d9c/answer": pageAction,
  "/api/sessions/0d9c/send": pageAction,
  "/api/prompts": pageRead,
  "/api/prompts/0d9c/change": pageAction,
  "/api/prompts/0d9c/remove": pageAction,
  "/api/rules": pageRead,
  "/api/rules/add": pageAction,
  "/api/sessions/0d9c/trust": pageAction,
  "/api/sessions/0d9c/mute": pageAction,
  "/api/sessions/0d9c/snooze": pageAction,
  "/api/sessions/0d9c/transcript": pageAction,
  "/api/quiet": pageAction,
  "/api/settings": pageRead,
  "/api/settings/save": pageAction,
  "/api/settings/open": pageAction,
  "/api/doctor": localRead,
  "/api/channels": localRead,
  "/api/channels/ntfy/test": pageAction,
  "/api/machines": pageRead,
  "/api/machines/box/retry": pageAction,
  "/api/teams": pageRead,
  "/api/fleets": localRead,
  "/api/fleets/update": hook,
  "/api/link/0d9c": localRead,
  "/api/link/0d9c/message": hook,
  "/api/stop": hook,
};

/** Without the token and the page's secrets. None of them contains anything about the user. */
export const publicPaths: ReadonlySet<string> = new Set([
  "/health",
  "/",
  "/page.css",
  "/icon.svg",
  "/api/page/renew",
]);

/** Refused whatever else is right: another spelling of a route is not a route. */
export const nonRoutes = [
  "",
  "/index.html",
  "/page.js/",
  "/page.css/",
  "/PAGE.CSS",
  "/icon.svg/",
  "/page.html",
  "/api/page/",
  "/api/page/code/",
  "/api/page/renew/",
  "/api/page/renewals",
  "/api/hook/",
  "//api/hook",
  "/API/HOOK",
  "/api%2fhook",
  "/api/hook;x",
  "/api/hold/",
  "/api/hold/end/",
  "/api/hold/ends",
  "/api/HOLD",
  "/api/sessions/0d9c/answer/",
  "/api/sessions/0d9c/answers",
  "/api/hook?provider=claude",
  "/health/",
  "/health/../api/sessions",
  "/api/sessions/",
  "/api/sessions/a/b",
  "/api/sessions//focus",
  "/api/sessions/a/focus/",
  "/api/sessions/a/focus/b",
  "/api/sessions/a/Focus",
  "/api/sessionsx",
  "/api/stop/",
  "/api/events/",
  "/api/events/1",
  "/api/History",
  "/api/history/claude:0d9c",
  "/api/lanes%2f",
  "/api/sessions/0d9c/stop",
  "/api/settings/",
  "/api/settings/saves",
  "/settings.json",
  "/endpoint.json",
  "api/sessions",
];

export const refusalStatuses: Record<Part | "path", readonly number[]> = {
  host: [403],
  origin: [403],
  referer: [403],
  secFetch: [403],
  authorization: [401],
  cookie: [401],
  pageKey: [401],
  path: [404],
  method: [405],
  contentType: [415],
  contentLength: [400, 413],
};

export const parts = Object.keys(values) as Part[];

/** What is wrong with a request. If the list is empty, the request must be accepted. */
export function findFaults(path: string, labels: Readonly<Record<Part, string>>): (Part | "path")[] {
  const allowed = routes[path] ?? unknownRoute;
  const faults: (Part | "path")[] = parts.filter((part) => allowed[part]?.includes(labels[part]) === false);
  if (faults.includes("authorization") && isFromPage(allowed, labels))
    faults.splice(faults.indexOf("authorization"), 1);
  // A browser's request that changes something must come from our page, by Sec-Fetch-Site.
  const isFromBrowser = [labels.origin, labels.referer, labels.secFetch].some((label) => label !== "none");
  if (allowed.page && allowed.contentType && isFromBrowser && labels.secFetch !== "own page")
    faults.push("secFetch", "origin", "referer");
  if (routes[path] === undefined) faults.push("path");
  // 127.0.0.1 and localhost are two origins to a browser, so each is foreign to the other.
  const foreign = labels.host === "localhost" ? "own" : "own by name";
  if (labels.origin === foreign) faults.push("origin");
  if (labels.referer === foreign) faults.push("referer");
  if (labels.method === "OPTIONS") faults.push("method");
  return faults;
}

/** The page's secrets replace the token if the browser says that the page itself sends them. */
function isFromPage({ page }: AllowedLabels, labels: Readonly<Record<Part, string>>): boolean {
  if (page === undefined || labels.secFetch !== "own page") return false;
  if (page === "renewal") return true;
  const hasCookie = labels.cookie === "good" || labels.cookie === "good among others";
  return hasCookie && (page === "asset" || labels.pageKey === "good");
}

export function factsOf(path: string, labels: Readonly<Record<Part, string>>): RequestFacts {
  const facts: Record<string, string | null> = { path };
  for (const part of parts) facts[part] = values[part][labels[part]] ?? null;
  return facts as unknown as RequestFacts;
}
