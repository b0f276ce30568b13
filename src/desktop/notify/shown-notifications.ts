/**
 * Which alerts are on the screen, and under which ids of the notification server. It follows the server's answers and signals: a
 * notification can be closed before the answer with its id was read.
 */

/** Where an alert is on the screen. */
export interface ShownNotification {
  /** The server's id, or 0 if it is not on the screen. */
  id: number;
  /** The run of the server that gave the id. */
  run: string;
  /** The user closed it while an update was being sent. */
  isDismissed: boolean;
}

export type NotificationId = Pick<ShownNotification, "id" | "run">;

export interface ShownNotificationsOptions {
  /** A call about this alert is being made. */
  readonly isBusy: (key: string) => boolean;
  /** `reason` is the number that the server gives. */
  readonly onClosed: (key: string, reason: number) => void;
}

export interface ShownNotifications {
  get(key: string): ShownNotification | undefined;
  keys(): readonly string[];
  /** The alert that this notification shows. */
  findKey(id: number): string | undefined;
  /** Names the notification of this alert, also after a restart. null if it is not on the screen. */
  handleOf(key: string): string | null;
  /** An earlier run of beckon showed the alert under this handle. */
  adopt(key: string, handle: string): void;
  /** Records what the call shows. Rejects as the call does: then nothing is on the screen. */
  record(key: string, call: (before: NotificationId) => Promise<NotificationId>): Promise<void>;
  remove(key: string): ShownNotification | undefined;
  /** The server has closed it. */
  close(id: number, reason: number): void;
  /** The server is gone. Returns the alerts that were on the screen. */
  clear(): readonly string[];
}

/** The signals of all programs arrive here, so they can be many while a server hangs. */
const maxEarlyCloses = 1_000;
const handlePattern = /^([0-9a-f]{1,64} :[\w.-]{1,250}) ([1-9]\d{0,9})$/;

export function parseHandle(handle: string): NotificationId | null {
  const [, run, id] = handlePattern.exec(handle) ?? [];
  return run === undefined ? null : { id: Number(id), run };
}

export function createShownNotifications({
  isBusy,
  onClosed,
}: ShownNotificationsOptions): ShownNotifications {
  const byKey = new Map<string, ShownNotification>();
  const keysById = new Map<number, string>();
  /** Notifications that were closed before the answer with their id was read: id → reason. */
  const earlyCloses = new Map<number, number>();
  let pendingCalls = 0;

  function close(id: number, reason: number): void {
    const key = keysById.get(id);
    if (key === undefined) {
      if (pendingCalls > 0 && earlyCloses.size < maxEarlyCloses) earlyCloses.set(id, reason);
      return;
    }
    keysById.delete(id);
    const notification = byKey.get(key);
    if (notification !== undefined && isBusy(key)) Object.assign(notification, { id: 0, isDismissed: true });
    else byKey.delete(key);
    onClosed(key, reason);
  }

  function remove(key: string): ShownNotification | undefined {
    const notification = byKey.get(key);
    byKey.delete(key);
    if (notification !== undefined) keysById.delete(notification.id);
    return notification;
  }

  return {
    get: (key) => byKey.get(key),
    keys: () => [...byKey.keys()],
    findKey: (id) => keysById.get(id),
    handleOf(key) {
      const { id, run } = byKey.get(key) ?? { id: 0, run: "" };
      return id === 0 ? null : `${run} ${id}`;
    },
    adopt(key, handle) {
      const parsed = parseHandle(handle);
      if (parsed !== null && !byKey.has(key)) byKey.set(key, { ...parsed, isDismissed: false });
    },
    async record(key, call) {
      // Changed by `close` if the user closes the notification meanwhile.
      const before = byKey.get(key) ?? { id: 0, run: "", isDismissed: false };
      pendingCalls += 1;
      try {
        const { id, run } = await call(before);
        keysById.delete(before.id);
        keysById.set(id, key);
        byKey.set(key, { id, run, isDismissed: before.isDismissed });
        const reason = earlyCloses.get(id);
        if (reason === undefined) return;
        close(id, reason);
        byKey.delete(key);
      } catch (error) {
        keysById.delete(before.id);
        byKey.delete(key);
        throw error;
      } finally {
        pendingCalls -= 1;
        if (pendingCalls === 0) earlyCloses.clear();
      }
    },
    remove,
    close,
    clear() {
      const keys = [...keysById.values()];
      byKey.clear();
      keysById.clear();
      earlyCloses.clear();
      return keys;
    },
  };
}
