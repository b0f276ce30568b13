/**
 * One-time references: what a button or a reply carries instead of a session's name and an answer. Each is random, belongs to one
 * ask on one channel, and is void once it was used or its ask is over. Only hashes are kept, in memory and on disk.
 */

import { createHash, randomBytes } from "node:crypto";
import { forgetOldest } from "../core/forget-oldest.ts";
import { asList, isRecord } from "../core/json.ts";
import type { ResponseMeaning } from "./message.ts";

export interface Reference {
  /** The key of the alert. */
  readonly key: string;
  /** Names the ask to answer, or the session that a prompt is for. */
  readonly answerId: string;
  readonly meaning: ResponseMeaning;
}

export interface References {
  create(reference: Reference): string;
  /** null if it is unknown, was used, or its ask is over. */
  find(token: string): Reference | null;
  /** Makes every reference of this alert void. */
  revoke(key: string): void;
  saved(): readonly (readonly [hash: string, reference: Reference])[];
}

const referenceBytes = 16;
const referenceForm = /^[\w-]{22}$/;
const maxReferences = 5_000;
const meanings = new Set(["allow", "always", "confirm", "deny", "option", "text", "send", "test"]);

export function createReferences(saved: unknown, onChange: () => void): References {
  const byHash = new Map(parseSaved(saved));
  return {
    create(reference) {
      const token = randomBytes(referenceBytes).toString("base64url");
      byHash.set(hash(token), reference);
      forgetOldest(byHash, maxReferences);
      onChange();
      return token;
    },
    find: (token) => (referenceForm.test(token) ? (byHash.get(hash(token)) ?? null) : null),
    revoke(key) {
      for (const [own, reference] of byHash) if (reference.key === key) byHash.delete(own);
      onChange();
    },
    saved: () => [...byHash],
  };
}

const hash = (token: string): string => createHash("sha256").update(token).digest("base64url");

/** Rows of a damaged file that make no sense are dropped. */
function parseSaved(value: unknown): [string, Reference][] {
  return asList(value)
    .slice(-maxReferences)
    .flatMap((row: unknown) => {
      const [own, reference] = asList(row);
      if (typeof own !== "string" || !isRecord(reference) || !isRecord(reference.meaning)) return [];
      const { key, answerId, meaning } = reference;
      const isKnown =
        meanings.has(String(meaning.do)) && (meaning.do !== "option" || Number.isInteger(meaning.index));
      if (typeof key !== "string" || typeof answerId !== "string" || !isKnown) return [];
      return [[own, { key, answerId, meaning: meaning as ResponseMeaning }]];
    });
}
