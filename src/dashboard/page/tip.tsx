/** Details of what the pointer is over, beside it. What it says is also in labels that a screen reader reads. */
import { signal } from "@preact/signals";

export interface Tip {
  readonly title: string;
  readonly lines: readonly string[];
}

const shown = signal<(Tip & { readonly x: number; readonly y: number }) | null>(null);

/** Properties of an element that has a tip. */
export const withTip = (tip: Tip) => ({
  onPointerMove: (event: PointerEvent) => {
    shown.value = { ...tip, x: event.clientX, y: event.clientY };
  },
  onPointerLeave: () => {
    shown.value = null;
  },
});

const halfWidth = 170;
const above = 60;

export function TipBox() {
  const tip = shown.value;
  if (tip === null) return null;
  const x = Math.max(halfWidth + 8, Math.min(innerWidth - halfWidth - 8, tip.x));
  const isAbove = tip.y > above + 80;
  return (
    <div
      class={isAbove ? "tip above" : "tip"}
      aria-hidden="true"
      style={{ left: `${x}px`, top: `${isAbove ? tip.y - 14 : tip.y + 18}px` }}
    >
      <b>{tip.title}</b>
      {tip.lines.map((line) => (
        <span key={line}>{line}</span>
      ))}
    </div>
  );
}
