/**
 * Whether the dashboard has the keyboard's focus, so that the user looks at every session already. The page repeats it, and it
 * holds only for so long: a browser that was killed or stopped must not silence alerts.
 */
import type { ClockReading } from "../core/session/event.ts";

export interface PageFocus {
  /** The page reports whether it has the focus. */
  report(hasFocus: boolean): void;
  isFocused(): boolean;
}

/** The page reports every 5 s. One report may be lost or late. */
const validMs = 12_000;

export function createPageFocus(options: {
  readonly clock: () => ClockReading;
  /** Called when it gets or loses the focus, not when the last report has expired: alerts that are hidden check again by themselves. */
  readonly onChange: () => void;
}): PageFocus {
  const { clock, onChange } = options;
  let validUntilT = Number.NEGATIVE_INFINITY;
  const isFocused = () => clock().t < validUntilT;
  return {
    report(hasFocus) {
      const wasFocused = isFocused();
      validUntilT = hasFocus ? clock().t + validMs : Number.NEGATIVE_INFINITY;
      if (hasFocus !== wasFocused) onChange();
    },
    isFocused,
  };
}
