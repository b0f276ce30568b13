/** From causes to alerts: one each while they are few, the rest in one, so that a bad minute is not a wall of alerts. */

import { keyOfSession } from "../session/keys.ts";
import { isProbe } from "../session/probe.ts";
import type { Session } from "../session/session.ts";
import type { AlertCause } from "./alert-causes.ts";
import { listWords } from "./alert-words.ts";
import type { Alert, AlertKind } from "./view.ts";

/**
 * More blocked sessions than this cannot be taken in one by one. The oldest keep their own alert, which can be clicked;
 * the rest share the last. As soon as one is answered, the next comes out of the crowd with an alert of its own.
 */
const maxBlocked = 5;
/** When the network or the agent's service is down, all sessions fail at once, and all say the same. */
const maxFailed = 3;
const maxQuiet = 1;
const maxListed = 5;

const urgencies = { blocked: "critical", failed: "normal", idle: "low", finished: "low" } as const;

const predicates: Readonly<Record<AlertKind, string>> = {
  blocked: "need you",
  failed: "stopped with an error",
  idle: "are waiting for you",
  finished: "are done",
};

/** What one alert is about. */
export interface AlertGroup {
  readonly key: string;
  readonly first: AlertCause;
  readonly causes: readonly AlertCause[];
  /** "3 sessions", where there are no others of their kind; "3 more". */
  readonly isAll: boolean;
}

/** Of causes in the order of their age. */
export function groupCauses(causes: readonly AlertCause[]): readonly AlertGroup[] {
  // A test has its own, however many others there are.
  const tests = causes.filter(({ session }) => isProbe(session));
  const real = tests.length === 0 ? causes : causes.filter(({ session }) => !isProbe(session));
  const of = (...kinds: AlertKind[]) => real.filter(({ kind }) => kinds.includes(kind));
  return [
    ...capped(tests, tests.length, ""),
    ...capped(of("blocked"), maxBlocked, "more:blocked"),
    ...capped(of("failed"), maxFailed, "more:failed"),
    // Of what is done the last is news; who has waited longest comes first in all else.
    ...capped(of("idle", "finished").toReversed(), maxQuiet, "more:done"),
  ];
}

/** Never more than `max`, and never a crowd of one. */
function capped(causes: readonly AlertCause[], max: number, key: string): readonly AlertGroup[] {
  const isMany = causes.length > max;
  const alone = isMany ? causes.slice(0, max - 1) : causes;
  const groups = alone.map((cause): AlertGroup => {
    return { key: cause.key, first: cause, causes: [cause], isAll: false };
  });
  const rest = causes.slice(alone.length);
  const [first] = rest;
  return first ? [...groups, { key, first, causes: rest, isAll: alone.length === 0 }] : groups;
}

/** The sessions that its alert names. */
export function namedIn({ causes }: AlertGroup): readonly Session[] {
  return causes.slice(0, maxListed).map(({ session }) => session);
}

export function createAlert(
  group: AlertGroup,
  names: ReadonlyMap<string, string>,
  { sound, clock }: { readonly sound: boolean; readonly clock: (at: number) => string },
): Alert {
  const { key, first, causes, isAll } = group;
  const nameOf = ({ session }: AlertCause): string => names.get(keyOfSession(session)) ?? "A session";
  const kind = causes.some((cause) => cause.kind === "idle") ? "idle" : first.kind;
  const isOne = causes.length === 1;
  const listed = isOne ? [] : causes.slice(0, maxListed).map((cause) => cause.listed(nameOf(cause)));
  const when = clock(first.since.at);
  const longest = kind === "blocked" ? `, the longest since ${when}` : "";
  const title = `${causes.length} ${isAll ? "sessions" : "more"} ${predicates[kind]}${longest}`;
  return {
    key,
    session: keyOfSession(first.session),
    kind,
    urgency: urgencies[kind],
    sound: sound && (kind === "blocked" || kind === "failed") && !isProbe(first.session),
    ...(isOne ? first.words(nameOf(first), when) : listWords(title, listed, causes.length)),
    since: first.since.at,
    ...(isOne ? {} : { covers: causes.map((cause) => cause.key) }),
  };
}
