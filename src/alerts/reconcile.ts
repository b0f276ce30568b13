/** Keeps one notifier showing exactly the wanted alerts: shows what is missing, replaces what changed, closes the rest. */
import { type Static, Type } from "@sinclair/typebox";
import { computeRetryMs } from "../core/backoff.ts";
import type { Notifier, NotifierEvents, Schedule } from "../core/interfaces/index.ts";
import { asList } from "../core/json.ts";
import { readRows } from "../core/saved-rows.ts";
import type { Alert } from "../core/view/view.ts";
import { createCalls } from "../system/calls.ts";

const Key = Type.String({ maxLength: 4_096 });

const RememberedAlertSchema = Type.Object({
  key: Key,
  /** Names the alert to the notification service; null if it has no name there. */
  handle: Type.Union([Key, Type.Null()]),
  /** It was shown and is no longer on the screen. */
  gone: Type.Boolean(),
  /** For an alert that stands for several: the keys it was shown for. */
  covers: Type.Optional(Type.Array(Key)),
});

/** What the next start of beckon must know about an alert. */
export type RememberedAlert = Readonly<Static<typeof RememberedAlertSchema>>;

export type ShownAlert = Pick<RememberedAlert, "key" | "handle">;

export interface AlertReconcilerOptions {
  readonly remembered?: readonly RememberedAlert[];
  readonly onProblem: (text: string) => void;
  /** Called when an alert is shown for the first time, not when it is replaced. */
  readonly onShown?: (alert: Alert) => void;
  /** It is not known yet whether the alert is wanted: what is on the screen stays, and what was closed stays closed. */
  readonly isUndecided?: (key: string) => boolean;
  /** What `remembered` returns has changed. */
  readonly onChange?: () => void;
  /** Milliseconds on a monotonic clock. */
  readonly now: () => number;
  readonly schedule: Schedule;
}

export interface AlertReconciler {
  /**
   * Sets the alerts to show; the last call wins, so nothing queues behind a slow desktop. `suppressed`: keys of alerts that
   * exist but must not be shown now; if they were closed before, they stay closed.
   */
  want(alerts: readonly Alert[], suppressed?: readonly string[]): void;
  /** The alert disappeared, but beckon did not close it. It is not shown again while it stays wanted. */
  closed: NotifierEvents["onClosed"];
  /** The alert that a click was about; null if it is unknown. */
  get(key: string): Alert | null;
  /** For how long its current text and buttons have been on the screen. */
  shownMs(key: string): number;
  onScreen(): readonly ShownAlert[];
  remembered(): readonly RememberedAlert[];
  stop(): void;
}

/** A call that hangs blocks its own alert and one of these lanes, no more. */
const maxCalls = 8;
const backoff = { firstMs: 2_000, maxMs: 60_000 };
/** The text may change at once when an ask learns its name, then once a second at most: every change is visible. */
const betweenTextsMs = 1_000;

interface Slot {
  readonly key: string;
  wanted: Alert | null;
  shown: Alert | null;
  handle: string | null;
  /** An earlier run of beckon left an alert under this handle. */
  isLeftover: boolean;
  /** It was closed during a call, so it is unknown whether the call's alert is on the screen. */
  wasClosed: boolean;
  /** It may be on the screen although no call confirmed it: close it to be sure. */
  isUncertain: boolean;
  failures: number;
  /** When its current text came on the screen. */
  shownAt: number;
  /** Cancels the pause during which nothing is shown; null if there is none. */
  cancelPause: (() => void) | null;
}

export function createAlertReconciler(
  notifier: Pick<Notifier, "show" | "close" | "forget">,
  options: AlertReconcilerOptions,
): AlertReconciler {
  const { onProblem, onChange, now, schedule, isUndecided = () => false } = options;
  const slots = new Map<string, Slot>();
  /** Key → the keys it covered, for alerts that were shown and closed. */
  const gone = new Map<string, ReadonlySet<string>>();
  /** Keys that a quiet alert for several sessions covered: if it shrinks to one of them, that is not announced again. */
  const announced = new Set<string>();
  const calls = createCalls({
    items: () => slots.values(),
    maxCalls,
    plan: nextCall,
    onDone(slot) {
      if (slot.wasClosed) Object.assign(slot, { shown: null, wasClosed: false, isUncertain: true });
      onChange?.();
      reconcile();
    },
  });
  let isActive = false;

  for (const { key, handle, gone: isGone, covers } of options.remembered ?? []) {
    if (isGone) gone.set(key, new Set(covers));
    else if (handle !== null) slots.set(key, { ...createSlot(key), handle, isLeftover: true });
  }

  /** An alert for several asks is shown again as soon as it covers one that was never shown. */
  function findTarget({ wanted }: Slot): Alert | null {
    if (wanted === null) return null;
    const { key, covers = [] } = wanted;
    const closed = gone.get(key);
    const isGone =
      covers.length === 0
        ? closed !== undefined || announced.has(key)
        : covers.every((covered) => gone.has(covered) || closed?.has(covered));
    return isGone ? null : wanted;
  }

  function nextCall(slot: Slot): (() => Promise<void>) | null {
    const target = findTarget(slot);
    if (target === null) {
      if (isUndecided(slot.key)) return null;
      if (slot.shown || slot.isUncertain) return () => close(slot);
      return slot.isLeftover ? () => forget(slot) : null;
    }
    if (slot.cancelPause || (slot.shown && hasSameContent(slot.shown, target))) return null;
    return () => show(slot, target);
  }

  function reconcile(): void {
    if (isActive) calls.start();
  }

  async function show(slot: Slot, alert: Alert): Promise<void> {
    const before = slot.shown;
    const isReplaced = before !== null || slot.isLeftover;
    slot.shown = alert;
    slot.shownAt = Number.POSITIVE_INFINITY;
    try {
      // A replacement makes no sound: the first showing did.
      slot.handle = await notifier.show(isReplaced ? { ...alert, sound: false } : alert, slot.handle);
      Object.assign(slot, { isLeftover: false, isUncertain: false, failures: 0, shownAt: now() });
      if (alert.urgency === "low") for (const covered of alert.covers ?? []) announced.add(covered);
      if (isReplaced) pause(slot, betweenTextsMs);
      else options.onShown?.(alert);
    } catch (error) {
      slot.shown = before;
      slot.isUncertain = true;
      onProblem(`could not show the alert "${alert.title}", trying again soon: ${error}`);
      pause(slot, computeRetryMs(backoff, ++slot.failures));
    }
  }

  async function close(slot: Slot): Promise<void> {
    try {
      await notifier.close(slot.key);
    } catch (error) {
      onProblem(`could not close the alert "${slot.shown?.title ?? slot.key}": ${error}`);
    }
    clear(slot);
  }

  async function forget(slot: Slot): Promise<void> {
    try {
      await notifier.forget(slot.handle ?? "");
    } catch (error) {
      onProblem(`could not close an alert that the last run of beckon left: ${error}`);
    }
    clear(slot);
  }

  function pause(slot: Slot, ms: number): void {
    if (!isActive) return;
    slot.cancelPause = schedule(() => {
      slot.cancelPause = null;
      reconcile();
    }, ms);
  }

  return {
    want(alerts, suppressed = []) {
      const current = new Set([...alerts.flatMap(({ key, covers = [] }) => [key, ...covers]), ...suppressed]);
      for (const known of [gone, announced]) {
        for (const key of known.keys()) if (!current.has(key) && !isUndecided(key)) known.delete(key);
      }
      for (const slot of slots.values()) {
        slot.wanted = null;
        if (isEmpty(slot) && !calls.isCalling(slot)) slots.delete(slot.key);
      }
      for (const alert of alerts) {
        const slot = slots.get(alert.key) ?? createSlot(alert.key);
        slots.set(alert.key, slot);
        slot.wanted = alert;
        if (slot.shown && hasSameContent(slot.shown, alert)) slot.shown = alert;
      }
      isActive = true;
      reconcile();
    },
    closed(key, by) {
      const slot = slots.get(key);
      if (!slot) return;
      const covers = (slot.shown ?? slot.wanted)?.covers ?? [];
      // An alert that was lost with the notification service was not dismissed by the user: it is shown again.
      if (slot.wanted && by !== "unknown") gone.set(key, new Set(covers));
      if (slot.wanted && by === "user") for (const covered of covers) gone.set(covered, new Set());
      if (calls.isCalling(slot)) slot.wasClosed = true;
      else clear(slot);
      onChange?.();
      reconcile();
    },
    get: (key) => slots.get(key)?.shown ?? slots.get(key)?.wanted ?? null,
    shownMs: (key) => now() - (slots.get(key)?.shownAt ?? Number.POSITIVE_INFINITY),
    onScreen: () =>
      [...slots.values()]
        .filter((slot) => slot.shown && !calls.isCalling(slot))
        .map(({ key, handle }) => ({ key, handle })),
    remembered: () => describeRemembered(slots.values(), gone),
    stop() {
      isActive = false;
      for (const { cancelPause } of slots.values()) cancelPause?.();
    },
  };
}

function describeRemembered(
  slots: Iterable<Slot>,
  gone: ReadonlyMap<string, ReadonlySet<string>>,
): readonly RememberedAlert[] {
  const onScreen = [...slots].flatMap(({ key, handle, shown }): RememberedAlert[] =>
    handle === null ? [] : [{ key, handle, gone: false, ...coversField(shown?.covers ?? []) }],
  );
  const closed = [...gone].map(([key, covers]): RememberedAlert => {
    return { key, handle: null, gone: true, ...coversField([...covers]) };
  });
  return [...onScreen, ...closed];
}

function coversField(covers: readonly string[]): Pick<RememberedAlert, "covers"> {
  return covers.length === 0 ? {} : { covers: [...covers] };
}

function createSlot(key: string): Slot {
  return {
    key,
    wanted: null,
    shown: null,
    handle: null,
    isLeftover: false,
    wasClosed: false,
    isUncertain: false,
    failures: 0,
    shownAt: Number.POSITIVE_INFINITY,
    cancelPause: null,
  };
}

function clear(slot: Slot): void {
  Object.assign(slot, { shown: null, handle: null, isLeftover: false, isUncertain: false, failures: 0 });
}

function isEmpty({ wanted, shown, isLeftover, isUncertain, cancelPause }: Slot): boolean {
  return !(wanted || shown || isLeftover || isUncertain || cancelPause);
}

function hasSameContent(a: Alert, b: Alert): boolean {
  return (
    a.title === b.title &&
    a.body === b.body &&
    a.urgency === b.urgency &&
    a.isExact === b.isExact &&
    serializeButtons(a) === serializeButtons(b)
  );
}

const serializeButtons = ({ buttons = [] }: Alert): string =>
  JSON.stringify(buttons.map(({ id, label, needsAll }) => [id, label, needsAll]));

const maxRemembered = 1_000;

export const parseRemembered = (value: unknown): readonly RememberedAlert[] =>
  readRows(RememberedAlertSchema, asList(value).slice(0, maxRemembered));
