/** Balloons at the tray icon: one at a time, urgent ones first. */
import type { Alert } from "../../core/view/view.ts";
import { formatBody, formatTitle } from "../notify/alert-text.ts";
import type { Balloon } from "./thread-messages.ts";

/** Windows closes a balloon after some time, but does not report one that it never showed. */
const maxVisibleMs = 30_000;

export interface Balloons {
  show(alert: Alert): void;
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

  function showNext(): void {
    if (timer) clearTimeout(timer);
    const all = [...alerts.values()];
    const next = all.find((alert) => alert.urgency === "urgent") ?? all[0];
    current = next?.key ?? null;
    put(next ? createBalloon(next) : null);
    if (!next) return;
    timer = setTimeout(() => {
      close(next.key);
      onExpired(next.key);
    }, maxVisibleMs);
    timer.unref();
  }

  function close(key: string): void {
    alerts.delete(key);
    if (key === current) showNext();
  }

  return {
    show(alert) {
      alerts.set(alert.key, alert);
      const isMoreUrgent = alert.urgency === "urgent" && alerts.get(current ?? "")?.urgency !== "urgent";
      if (current === null || current === alert.key || isMoreUrgent) showNext();
    },
    close,
    has: (key) => alerts.has(key),
  };
}

function createBalloon(alert: Alert): Balloon {
  return { key: alert.key, title: formatTitle(alert), text: formatBody(alert), sound: alert.sound };
}
