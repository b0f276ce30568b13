/** What the page shows: one signal for each thing that changes by itself. */
import { computed, signal } from "@preact/signals";
import type { Quiet } from "../../core/config/quiet.ts";
import type { PastMoment } from "../../core/interfaces/wire.ts";
import { viewKeyOf } from "../../core/session/session-ref.ts";
import type { Group } from "../../core/view/group-names.ts";
import { sortViews } from "../../core/view/order.ts";
import type { AskView, SessionView } from "../../core/view/session-view.ts";
import type { PageFacts } from "./types.ts";

/**
 * - "connecting": nothing is known yet
 * - "live": every change arrives
 * - "stopped": beckon does not answer; what is shown is old
 * - "closed": beckon refuses this page; it has to be opened again
 */
export type ConnectionState = "connecting" | "live" | "stopped" | "closed";

export const connection = signal<ConnectionState>("connecting");
/** beckon's wall time. It stands still while beckon is stopped. */
export const now = signal(Date.now());
/** The same in steps of 5 s, for what costs more to draw. It is never behind. */
export const slowNow = computed(() => Math.ceil(now.value / 5_000) * 5_000);
/** When the last news came. */
export const heardAt = signal(Date.now());
/** When the next attempt to reach beckon starts. */
export const retryAt = signal(0);
export const facts = signal<PageFacts | null>(null);
export const quiet = signal<Quiet | null>(null);
export const sessions = signal<ReadonlyMap<string, SessionView>>(new Map());
/** Sessions with everything that their asks ask, by key. */
export const detailed = signal<ReadonlyMap<string, SessionView>>(new Map());

/** What users call an agent. */
export function agentName(id: string): string {
  const { agents = {} } = facts.value ?? {};
  return (Object.hasOwn(agents, id) && agents[id]) || id;
}

export const isLive = computed(() => connection.value === "live");

/** The moment that the user wants to see in place of now; null for now. It is loaded a little later. */
export const wantedAt = signal<number | null>(null);
/** The moment of the past that is shown; null for now. */
export const moment = signal<PastMoment | null>(null);

export const isPastShown = computed(() => moment.value !== null);

/** The sessions that are shown: those of now, or of the moment that the user has gone back to. */
export const shownSessions = computed<ReadonlyMap<string, SessionView>>(() =>
  moment.value === null
    ? sessions.value
    : new Map(moment.value.sessions.map((session) => [viewKeyOf(session), session])),
);
/** The time from which ages are counted. */
export const shownAt = computed(() => moment.value?.at ?? now.value);

const listByGroup = (all: ReadonlyMap<string, SessionView>) =>
  Map.groupBy(sortViews([...all.values()]), ({ group }) => group);

const byGroup = computed(() => listByGroup(sessions.value));
const shownByGroup = computed(() => (moment.value ? listByGroup(shownSessions.value) : byGroup.value));

export const inGroup = (group: Group): readonly SessionView[] => byGroup.value.get(group) ?? [];
export const shownInGroup = (group: Group): readonly SessionView[] => shownByGroup.value.get(group) ?? [];

/** Sessions that had not ended. */
export const shownCount = computed(() => shownSessions.value.size - shownInGroup("ended").length);

/** One ask that waits for the user. */
export interface OpenAsk {
  /** Stays the same as long as the ask is open. */
  readonly id: string;
  readonly key: string;
  readonly session: SessionView;
  readonly ask: AskView;
}

export function listOpenAsks(session: SessionView): readonly OpenAsk[] {
  const key = viewKeyOf(session);
  return session.asks
    .filter(({ kind }) => kind !== "idle")
    .map((ask) => ({ id: `${key} ${ask.id}`, key, session, ask }));
}

export const openAsks = computed<readonly OpenAsk[]>(() => inGroup("needs_you").flatMap(listOpenAsks));

/** Asks of machines that cannot be reached: whether they still wait is not known. */
export const lostAsks = computed<readonly OpenAsk[]>(() =>
  inGroup("set_aside")
    .filter(({ reachable }) => !reachable)
    .flatMap(listOpenAsks),
);

/** The session whose details are shown. */
export const openedKey = signal<string | null>(null);
export const isHelpOpen = signal(false);
/** The id of the card or row that keys act on: an ask's id or a session's key. */
export const selectedId = signal<string | null>(null);
/** A short message at the bottom, for what is not said elsewhere. */
export const message = signal<string | null>(null);

let messageTimer = 0;
const messageMs = 6_000;

export function showMessage(text: string): void {
  message.value = text;
  clearTimeout(messageTimer);
  messageTimer = window.setTimeout(() => {
    message.value = null;
  }, messageMs);
}
