/** Keeps the screen as it should be: shows what is wanted and not there, takes back what is there and not wanted. */

import type { Notifier, NotifierOptions } from "../core/ports.ts";
import type { Alert } from "../core/view/view.ts";

/** What the next start of beckon must know of an alert. */
export interface RememberedAlert {
  readonly key: string;
  /** What names it to the desktop; null: nothing does. */
  readonly handle: string | null;
  /** Told, and no longer on the screen. */
  readonly gone: boolean;
  /** Of several in one: those that were told by it. */
  readonly covers?: readonly string[];
}

export type ShownAlert = Pick<RememberedAlert, "key" | "handle">;

export interface AlertReconcilerOptions {
  readonly remembered?: readonly RememberedAlert[];
  readonly onProblem: (text: string) => void;
  /** For the first time. */
  readonly onShown?: (alert: Alert) => void;
  /** What `remembered` gives has changed. */
  readonly onChange?: () => void;
  /** Times to wait, for tests. */
  readonly retryMs?: number;
  readonly calmMs?: number;
}

export interface AlertReconciler {
  /** From now on these, and no others. The last word wins: nothing is queued behind a slow desktop. */
  /** `held`: keys that are as true, but not to be shown now. What was told of them stays told. */
  want(alerts: readonly Alert[], held?: readonly string[]): void;
  /** Gone from the screen without our doing: it does not come back for as long as it is wanted without a break. */
  closed(...told: Parameters<NotifierOptions["onClosed"]>): void;
  /** What a click on it is about. */
  get(key: string): Alert | null;
  /** For how long its words and buttons have been on the screen. */
  shownMs(key: string): number;
  /** What is there now, and under which name. */
  onScreen(): readonly ShownAlert[];
  remembered(): readonly RememberedAlert[];
  stop(): void;
}

/** A call that hangs holds up its own key and one of these lanes. */
const maxUnderWay = 8;
const firstRetryMs = 2_000;
const lastRetryMs = 60_000;
/** A text changes at once when its ask learns its name, and then once a second at most: people see each change happen. */
const betweenTextsMs = 1_000;

interface Slot {
  readonly key: string;
  wanted: Alert | null;
  shown: Alert | null;
  handle: string | null;
  /** An earlier run has left something there under this handle. */
  isLeft: boolean;
  isUnderWay: boolean;
  /** Closed by somebody while a call was under way: whether it is there now, nobody knows. */
  wasClosed: boolean;
  /** It may be there, though nothing is known to be: taken back to be sure. */
  isDoubtful: boolean;
  failures: number;
  /** When its last words came on the screen. */
  shownAt: number;
  /** Nothing is shown before this ends. */
  pause: ReturnType<typeof setTimeout> | null;
}

export function createAlertReconciler(notifier: Notifier, options: AlertReconcilerOptions): AlertReconciler {
  const { onProblem, onChange, retryMs = firstRetryMs, calmMs = betweenTextsMs } = options;
  const slots = new Map<string, Slot>();
  /** Told and gone, by key; of several in one, those that it told. */
  const gone = new Map<string, ReadonlySet<string>>();
  let underWay = 0;
  let isAtWork = false;

  for (const { key, handle, gone: isGone, covers } of options.remembered ?? []) {
    if (isGone) gone.set(key, new Set(covers));
    else if (handle !== null) slots.set(key, { ...emptySlot(key), handle, isLeft: true });
  }

  /** Several in one are news again as soon as there is one among them that was not told. */
  function targetOf({ wanted }: Slot): Alert | null {
    if (wanted === null) return null;
    const { key, covers = [] } = wanted;
    const told = gone.get(key);
    const isGone =
      covers.length === 0 ? told !== undefined : covers.every((one) => gone.has(one) || told?.has(one));
    return isGone ? null : wanted;
  }

  function taskOf(slot: Slot): (() => Promise<void>) | null {
    if (slot.isUnderWay) return null;
    const target = targetOf(slot);
    if (target === null) {
      if (slot.shown || slot.isDoubtful) return () => close(slot);
      return slot.isLeft ? () => forget(slot) : null;
    }
    if (slot.pause || (slot.shown && isSameText(slot.shown, target))) return null;
    return () => show(slot, target);
  }

  function reconcile(): void {
    if (!isAtWork) return;
    for (const slot of slots.values()) {
      if (underWay >= maxUnderWay) return;
      const task = taskOf(slot);
      if (task) run(slot, task);
    }
  }

  function run(slot: Slot, task: () => Promise<void>): void {
    slot.isUnderWay = true;
    underWay++;
    task().finally(() => {
      if (slot.wasClosed) change(slot, { shown: null, wasClosed: false, isDoubtful: true });
      slot.isUnderWay = false;
      underWay--;
      onChange?.();
      reconcile();
    });
  }

  async function show(slot: Slot, alert: Alert): Promise<void> {
    const before = slot.shown;
    const isAnew = before !== null || slot.isLeft;
    slot.shown = alert;
    slot.shownAt = Number.POSITIVE_INFINITY;
    try {
      // What has been heard once is not heard again.
      slot.handle = await notifier.show(isAnew ? { ...alert, sound: false } : alert, slot.handle);
      change(slot, { isLeft: false, isDoubtful: false, failures: 0, shownAt: performance.now() });
      if (isAnew) pause(slot, calmMs);
      else options.onShown?.(alert);
    } catch (error) {
      slot.shown = before;
      slot.isDoubtful = true;
      onProblem(`could not show the alert "${alert.title}", trying again soon: ${error}`);
      pause(slot, Math.min(lastRetryMs, retryMs * 2 ** slot.failures++));
    }
  }

  async function close(slot: Slot): Promise<void> {
    try {
      await notifier.close(slot.key);
    } catch (error) {
      onProblem(`could not take back the alert "${slot.shown?.title ?? slot.key}": ${error}`);
    }
    clear(slot);
  }

  async function forget(slot: Slot): Promise<void> {
    try {
      await notifier.forget(slot.handle ?? "");
    } catch (error) {
      onProblem(`could not take back an alert that the last run left: ${error}`);
    }
    clear(slot);
  }

  function pause(slot: Slot, ms: number): void {
    if (ms <= 0 || !isAtWork) return;
    slot.pause = setTimeout(() => {
      slot.pause = null;
      reconcile();
    }, ms);
    slot.pause.unref();
  }

  return {
    want(alerts, held = []) {
      const news = new Set([...alerts.flatMap(({ key, covers = [] }) => [key, ...covers]), ...held]);
      for (const key of gone.keys()) if (!news.has(key)) gone.delete(key);
      for (const slot of slots.values()) {
        slot.wanted = null;
        if (isEmpty(slot)) slots.delete(slot.key);
      }
      for (const alert of alerts) {
        const slot = slots.get(alert.key) ?? emptySlot(alert.key);
        slots.set(alert.key, slot);
        slot.wanted = alert;
        if (slot.shown && isSameText(slot.shown, alert)) slot.shown = alert;
      }
      isAtWork = true;
      reconcile();
    },
    closed(key, by) {
      const slot = slots.get(key);
      if (!slot) return;
      const covers = (slot.shown ?? slot.wanted)?.covers ?? [];
      // Lost with the desktop's notification service, it was sent away by nobody: it is shown again.
      if (slot.wanted && by !== "unknown") gone.set(key, new Set(covers));
      if (slot.wanted && by === "person") for (const one of covers) gone.set(one, new Set());
      if (slot.isUnderWay) slot.wasClosed = true;
      else clear(slot);
      onChange?.();
      reconcile();
    },
    get: (key) => slots.get(key)?.shown ?? slots.get(key)?.wanted ?? null,
    shownMs: (key) => performance.now() - (slots.get(key)?.shownAt ?? Number.POSITIVE_INFINITY),
    onScreen: () =>
      [...slots.values()].flatMap(({ key, shown, handle, isUnderWay }) =>
        shown && !isUnderWay ? [{ key, handle }] : [],
      ),
    remembered() {
      const there = [...slots.values()].flatMap(({ key, handle, shown }): RememberedAlert[] =>
        handle === null ? [] : [{ key, handle, gone: false, ...told(shown?.covers ?? []) }],
      );
      const over = [...gone].map(([key, covers]): RememberedAlert => {
        return { key, handle: null, gone: true, ...told([...covers]) };
      });
      return [...there, ...over];
    },
    stop() {
      isAtWork = false;
      for (const { pause: timer } of slots.values()) if (timer) clearTimeout(timer);
    },
  };
}

function told(covers: readonly string[]): Pick<RememberedAlert, "covers"> {
  return covers.length === 0 ? {} : { covers };
}

function emptySlot(key: string): Slot {
  const nothing = { wanted: null, shown: null, handle: null, pause: null };
  const never = { isLeft: false, isUnderWay: false, wasClosed: false, isDoubtful: false };
  return { key, ...nothing, ...never, failures: 0, shownAt: Number.POSITIVE_INFINITY };
}

function change(slot: Slot, to: Partial<Slot>): void {
  Object.assign(slot, to);
}

function clear(slot: Slot): void {
  change(slot, { shown: null, handle: null, isLeft: false, isDoubtful: false, failures: 0 });
}

function isEmpty({ wanted, shown, isLeft, isUnderWay, isDoubtful, pause }: Slot): boolean {
  return !(wanted || shown || isLeft || isUnderWay || isDoubtful || pause);
}

function isSameText(a: Alert, b: Alert): boolean {
  return (
    a.title === b.title &&
    a.body === b.body &&
    a.urgency === b.urgency &&
    a.isExact === b.isExact &&
    buttonsIn(a) === buttonsIn(b)
  );
}

const buttonsIn = ({ buttons = [] }: Alert): string =>
  JSON.stringify(buttons.map(({ id, label, needsAll }) => [id, label, needsAll]));

const maxRemembered = 1_000;
const maxLength = 4_096;

/** From a file that may be of another version, or damaged: what can be understood of it. */
export function parseRemembered(value: unknown): readonly RememberedAlert[] {
  const isText = (text: unknown): text is string => typeof text === "string" && text.length <= maxLength;
  return (Array.isArray(value) ? value : [])
    .slice(0, maxRemembered)
    .flatMap((row: unknown): RememberedAlert[] => {
      const { key, handle, gone, covers } = Object(row) as Record<string, unknown>;
      if (!isText(key) || typeof gone !== "boolean" || !(handle === null || isText(handle))) return [];
      return [{ key, handle, gone, ...told(Array.isArray(covers) ? covers.filter(isText) : []) }];
    });
}
