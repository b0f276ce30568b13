/** What the page shows: one signal for each thing that changes by itself. */
import { computed, signal } from "@preact/signals";
import type { Quiet } from "../../core/config/quiet.ts";
import { viewKeyOf } from "../../core/session/session-ref.ts";
import { type Group, groups } from "../../core/view/group-names.ts";
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

const byGroup = computed<ReadonlyMap<Group, readonly SessionView[]>>(() => {
  const lists = new Map<Group, SessionView[]>(groups.map((group) => [group, []]));
  for (const session of sortViews([...sessions.value.values()])) lists.get(session.group)?.push(session);
  return lists;
});

export const inGroup = (group: Group): readonly SessionView[] => byGroup.value.get(group) ?? [];

/** Sessions that have not ended. */
export const liveCount = computed(() => sessions.value.size - inGroup("ended").length);

/** One ask that waits for the user. */
export interface OpenAsk {
  /** Stays the same as long as the ask is open. */
  readonly id: string;
  readonly key: string;
  readonly session: SessionView;
  readonly ask: AskView;
}

function listOpenAsks(session: SessionView): readonly OpenAsk[] {
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
