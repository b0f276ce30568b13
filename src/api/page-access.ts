/**
 * How a browser proves that its user opened beckon's page. `beckon open` gets a code that counts once and lives 30 s. The page
 * that is opened with it gets two secrets, and the API wants both:
 *
 * - a cookie, HttpOnly, which scripts cannot read. Browsers share cookies between all ports of 127.0.0.1, so any other server
 *   on this machine that the user visits sees it.
 * - a key, which the page keeps in its storage. Storage belongs to one port, so no other server sees it.
 *
 * Both are derived from the token: they are valid after a restart of beckon, and a new token ends them.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { dayMs } from "../core/timing.ts";

const codeMs = 30_000;
const cookieMs = 30 * dayMs;
const maxCodes = 20;

export interface PageAccessOptions {
  readonly token: string;
  /** Wall time. */
  readonly now: () => number;
  /** A new random secret. */
  readonly createSecret: () => string;
}

export interface PageSecrets {
  /** The value of the Set-Cookie header. */
  readonly setCookie: string;
  readonly key: string;
}

export interface PageAccess {
  /** Returns the page's address with a code that `redeemCode` accepts once, for 30 s. */
  createUrl(port: number): string;
  /** null if the code is unknown, used or too old. */
  redeemCode(code: string, port: number): PageSecrets | null;
  /** Whether `redeemCode` would accept it. */
  hasCode(code: string): boolean;
}

/** Cookies are shared between ports, so each beckon has its own name. */
const cookieName = (port: number): string => `beckon-${port}`;

const sign = (token: string, text: string): string =>
  createHmac("sha256", token).update(text).digest("base64url");

const signCookie = (token: string, port: number, expires: string): string =>
  sign(token, `page cookie ${port} ${expires}`);

const createKey = (token: string, port: number): string => sign(token, `page key ${port}`);

/** So that the time of a lookup says nothing about the codes that exist. */
const hashCode = (code: string): string => createHash("sha256").update(code).digest("hex");

export function createPageAccess({ token, now, createSecret }: PageAccessOptions): PageAccess {
  /** Hash of the code → when it ends. */
  const codes = new Map<string, number>();
  return {
    createUrl(port) {
      for (const [hash, ends] of codes) if (ends <= now()) codes.delete(hash);
      const [oldest] = codes.keys();
      if (codes.size >= maxCodes && oldest !== undefined) codes.delete(oldest);
      const code = createSecret();
      codes.set(hashCode(code), now() + codeMs);
      return `http://127.0.0.1:${port}/?code=${code}`;
    },
    hasCode: (code) => (codes.get(hashCode(code)) ?? Number.NEGATIVE_INFINITY) > now(),
    redeemCode(code, port) {
      const hash = hashCode(code);
      const ends = codes.get(hash);
      codes.delete(hash);
      if (ends === undefined || ends <= now()) return null;
      const expires = String(now() + cookieMs);
      const value = `${expires}.${signCookie(token, port, expires)}`;
      const attributes = `Path=/; Max-Age=${cookieMs / 1_000}; HttpOnly; SameSite=Strict`;
      return { setCookie: `${cookieName(port)}=${value}; ${attributes}`, key: createKey(token, port) };
    },
  };
}

/** Takes the same time wherever the texts differ. Their lengths are not secret. */
function isSame(received: string, expected: string): boolean {
  const [a, b] = [Buffer.from(received), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

export interface PageCredentials {
  /** The Cookie header. */
  readonly cookie: string | null;
  /** The header X-Beckon-Page. */
  readonly pageKey: string | null;
}

export interface PageCheck {
  hasCookie(credentials: PageCredentials): boolean;
  hasKey(credentials: PageCredentials): boolean;
}

/** Wall time in digits, and 32 bytes in base64url. */
const cookieValue = /^(\d{1,15})\.([\w-]{43})$/;

export function createPageCheck(options: {
  readonly port: number;
  readonly token: string;
  readonly now: () => number;
}): PageCheck {
  const { port, token, now } = options;
  const name = `${cookieName(port)}=`;
  const key = createKey(token, port);
  return {
    hasCookie({ cookie }) {
      if (cookie === null) return false;
      // With the same name twice, one of them is not ours: neither counts.
      const values = cookie.split(/; ?/).filter((pair) => pair.startsWith(name));
      const match = values.length === 1 ? cookieValue.exec(values[0]?.slice(name.length) ?? "") : null;
      const [, expires = "", mac = ""] = match ?? [];
      return match !== null && isSame(mac, signCookie(token, port, expires)) && Number(expires) > now();
    },
    hasKey: ({ pageKey }) => pageKey !== null && isSame(pageKey, key),
  };
}
