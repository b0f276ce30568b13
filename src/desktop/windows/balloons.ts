/** Balloons at the tray's icon: one at a time, what is urgent first. */
import type { Alert } from "../../core/view/view.ts";
import { bodyOf, titleOf } from "../notify/message.ts";
import type { Balloon } from "./messages.ts";

/** Windows closes a balloon after its own time; one that it never showed says nothing. */
const longestMs = 30_000;

export interface Balloons {
  show(alert: Alert): void;
  /** Gone by the desktop's word: the next one comes. */
  ended(key: string): void;
  close(key: string): void;
  has(key: string): boolean;
}

export function createBalloons(
  put: (balloon: Balloon | null) => void,
  onExpired: (key: string) => void,
): Balloons {
  const alerts = new Map<string, Alert>();
  let current: string | null = null;
  let timer: ReturnType<typeof setTimeout> | null = null;

  function next(): void {
    if (timer) clearTimeout(timer);
    const all = [...alerts.values()];
    const first = all.find((alert) => alert.urgency === "critical") ?? all[0];
    current = first?.key ?? null;
    put(first ? balloonOf(first) : null);
    if (!first) return;
    timer = setTimeout(() => {
      drop(first.key);
      onExpired(first.key);
    }, longestMs);
    timer.unref();
  }

  function drop(key: string): void {
    alerts.delete(key);
    if (key === current) next();
  }

  return {
    show(alert) {
      alerts.set(alert.key, alert);
      const isUrgent = alert.urgency === "critical" && alerts.get(current ?? "")?.urgency !== "critical";
      if (current === null || current === alert.key || isUrgent) next();
    },
    ended: drop,
    close: drop,
    has: (key) => alerts.has(key),
  };
}

function balloonOf(alert: Alert): Balloon {
  return { key: alert.key, title: titleOf(alert), text: bodyOf(alert), sound: alert.sound };
}
