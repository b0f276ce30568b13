/**
 * How a browser proves that its user opened beckon's page. `beckon open` gets a code that counts once and lives 30 s. The browser
 * exchanges it for a ticket (a redirect that no script can read), and the ticket for the page with two secrets. The API wants both:
 *
 * - a cookie, HttpOnly, which scripts cannot read. Browsers share cookies between all ports of 127.0.0.1, so any other server
 *   on this machine that the user visits sees it.
 * - a key, which the tab keeps for itself. No other server sees it, nor another page at the same address.
 *
 * Both are new at every start: while beckon is stopped, another user's program can take its port and gets what open tabs send.
 * A tab that stays open over a restart renews them. It has a secret that is derived from the token and is never sent to anyone it
 * could be stolen from: first beckon proves that it knows it, then the tab. It is bound to the port, so a program there cannot
 * pass the proofs on to a beckon that had to take the next port.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { forgetOldest } from "../core/forget-oldest.ts";
import { dayMs } from "../core/timing.ts";

const codeMs = 30_000;
/** A redirect is followed at once, and a challenge answered at once. */
const ticketMs = 10_000;
const cookieMs = 30 * dayMs;
const maxOpenSecrets = 20;

export interface PageAccessOptions {
  readonly token: string;
  /** Random, new at every start. Cookie and key are derived from it. */
  readonly startSecret: string;
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

/** With this a tab can renew its key after a restart. */
export interface PageRenewal {
  /** Wall time. */
  readonly expires: number;
  readonly secret: string;
}

/** What a tab sends first, to find out whether this is the beckon that it was opened by. */
export interface RenewalQuestion {
  readonly expires: number;
  /** The tab's random number. */
  readonly pageNonce: string;
}

/** beckon's random number, and the proof that it knows the tab's secret. */
export interface RenewalChallenge {
  readonly nonce: string;
  readonly proof: string;
}

export interface PageAccess {
  /** Returns the page's address with a code that `redeemCode` accepts once, for 30 s. */
  createUrl(port: number): string;
  /** Whether `redeemCode` would accept it. */
  hasCode(code: string): boolean;
  /** Returns a ticket that `redeemTicket` accepts once, within seconds. null if the code is unknown, used or too old. */
  redeemCode(code: string): string | null;
  /** Whether `redeemTicket` would accept it. */
  hasTicket(ticket: string): boolean;
  redeemTicket(ticket: string, port: number): PageSecrets | null;
  createRenewal(port: number): PageRenewal;
  challenge(question: RenewalQuestion, port: number): RenewalChallenge;
  /** null if the tab's proof is wrong, or the challenge is unknown, used or too old. */
  renew(question: RenewalQuestion, challenge: RenewalChallenge, port: number): PageSecrets | null;
  createCheck(port: number): PageCheck;
}

export interface PageCredentials {
  /** The Cookie header. */
  readonly cookie: string | null;
  /** The header X-Beckon-Page. */
  readonly pageKey: string | null;
}

export interface PageCheck {
  hasCookie(credentials: Pick<PageCredentials, "cookie">): boolean;
  hasKey(credentials: Pick<PageCredentials, "pageKey">): boolean;
}

/** Cookies are shared between ports, so each beckon has its own name. */
const cookieName = (port: number): string => `beckon-${port}`;

const sign = (secret: string, text: string): string =>
  createHmac("sha256", secret).update(text).digest("base64url");

/** Takes the same time wherever the texts differ. Their lengths are not secret. */
function isSame(received: string, expected: string): boolean {
  const [a, b] = [Buffer.from(received), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Wall time in digits, and 32 bytes in base64url. */
const cookieValue = /^(\d{1,15})\.([\w-]{43})$/;

export function createPageAccess({ token, startSecret, now, createSecret }: PageAccessOptions): PageAccess {
  const codes = createOneTimeSecrets({ now, createSecret, lifeMs: codeMs });
  const tickets = createOneTimeSecrets({ now, createSecret, lifeMs: ticketMs });
  const nonces = createOneTimeSecrets({ now, createSecret, lifeMs: ticketMs });

  const signCookie = (port: number, expires: string) => sign(startSecret, `page cookie ${port} ${expires}`);
  const createKey = (port: number) => sign(startSecret, `page key ${port}`);
  const createRenewalSecret = (port: number, expires: number) =>
    sign(token, `page renewal ${port} ${expires}`);

  function createSecrets(port: number): PageSecrets {
    const expires = String(now() + cookieMs);
    const value = `${expires}.${signCookie(port, expires)}`;
    const attributes = `Path=/; Max-Age=${cookieMs / 1_000}; HttpOnly; SameSite=Strict`;
    return { setCookie: `${cookieName(port)}=${value}; ${attributes}`, key: createKey(port) };
  }

  function prove(
    who: "beckon" | "page",
    { expires, pageNonce }: RenewalQuestion,
    nonce: string,
    port: number,
  ): string {
    return sign(createRenewalSecret(port, expires), `${who} ${pageNonce} ${nonce}`);
  }

  return {
    createUrl: (port) => `http://127.0.0.1:${port}/?code=${codes.create()}`,
    hasCode: codes.has,
    redeemCode: (code) => (codes.take(code) ? tickets.create() : null),
    hasTicket: tickets.has,
    redeemTicket: (ticket, port) => (tickets.take(ticket) ? createSecrets(port) : null),
    createRenewal(port) {
      const expires = now() + cookieMs;
      return { expires, secret: createRenewalSecret(port, expires) };
    },
    challenge(question, port) {
      const nonce = nonces.create();
      return { nonce, proof: prove("beckon", question, nonce, port) };
    },
    renew(question, { nonce, proof }, port) {
      const isProven = isSame(proof, prove("page", question, nonce, port));
      return nonces.take(nonce) && isProven && question.expires > now() ? createSecrets(port) : null;
    },
    createCheck(port) {
      const name = `${cookieName(port)}=`;
      const key = createKey(port);
      return {
        hasCookie({ cookie }) {
          if (cookie === null) return false;
          // With the same name twice, one of them is not ours: neither counts.
          const values = cookie.split(/; ?/).filter((pair) => pair.startsWith(name));
          const match = values.length === 1 ? cookieValue.exec(values[0]?.slice(name.length) ?? "") : null;
          const [, expires = "", mac = ""] = match ?? [];
          return match !== null && isSame(mac, signCookie(port, expires)) && Number(expires) > now();
        },
        hasKey: ({ pageKey }) => pageKey !== null && isSame(pageKey, key),
      };
    },
  };
}

/** Random secrets that count once and for a while. */
function createOneTimeSecrets({
  now,
  createSecret,
  lifeMs,
}: Pick<PageAccessOptions, "now" | "createSecret"> & { readonly lifeMs: number }) {
  /** When each ends, by its hash: so the time of a lookup says nothing about the secrets that exist. */
  const ends = new Map<string, number>();
  const hash = (secret: string): string => createHash("sha256").update(secret).digest("hex");
  const has = (secret: string): boolean => (ends.get(hash(secret)) ?? Number.NEGATIVE_INFINITY) > now();
  return {
    create(): string {
      for (const [key, end] of ends) if (end <= now()) ends.delete(key);
      const secret = createSecret();
      ends.set(hash(secret), now() + lifeMs);
      forgetOldest(ends, maxOpenSecrets);
      return secret;
    },
    has,
    take(secret: string): boolean {
      const isKnown = has(secret);
      ends.delete(hash(secret));
      return isKnown;
    },
  };
}
