/** Small parts that several sections use. */

import type { ComponentChildren } from "preact";
import { formatAge, formatExactDuration } from "../../core/view/figures.ts";
import { type Group, nameGroup } from "../../core/view/group-names.ts";
import { isPastShown, moment, shownAt, slowNow } from "./state.ts";

const glyphs: Readonly<Record<Group | "past", ComponentChildren>> = {
  needs_you: <circle cx="7" cy="7" r="5.5" fill="currentColor" />,
  failed: (
    <path d="M2.5 2.5l9 9M11.5 2.5l-9 9" stroke="currentColor" stroke-width="2.2" stroke-linecap="round" />
  ),
  working: (
    <>
      <circle cx="7" cy="7" r="4.9" fill="none" stroke="currentColor" stroke-width="1.5" />
      <path d="M7 2.1a4.9 4.9 0 0 0 0 9.8z" fill="currentColor" />
    </>
  ),
  ready: <circle cx="7" cy="7" r="4.9" fill="none" stroke="currentColor" stroke-width="1.5" />,
  set_aside: (
    <circle
      cx="7"
      cy="7"
      r="4.9"
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
      stroke-dasharray="1.6 2.25"
    />
  ),
  ended: <circle cx="7" cy="7" r="1.8" fill="currentColor" />,
  past: <circle cx="7" cy="7" r="4" fill="currentColor" />,
};

/** The shape of a group, as in `beckon status`. Shapes come before colours. */
export function Glyph({
  of,
  isSpoken = false,
  isLost = false,
}: {
  readonly of: Group | "past";
  readonly isSpoken?: boolean;
  /** As it was when its machine was last reached. */
  readonly isLost?: boolean;
}) {
  const label = of === "past" ? "" : `${isLost ? "was: " : ""}${nameGroup(of, isPastShown.value)}`;
  return isSpoken ? (
    <svg class={`g g-${of}`} viewBox="0 0 14 14" role="img" aria-label={label}>
      {glyphs[of]}
    </svg>
  ) : (
    <svg class={`g g-${of}`} viewBox="0 0 14 14" aria-hidden="true">
      {glyphs[of]}
    </svg>
  );
}

const icons = {
  search: <path d="M6 2a4 4 0 1 0 0 8a4 4 0 1 0 0-8M9 9l3.2 3.2" />,
  warn: <path d="M7 1.8l5.6 10H1.4zM7 5.6v3M7 10.2v.1" />,
  info: <path d="M7 1.7a5.3 5.3 0 1 0 0 10.6a5.3 5.3 0 1 0 0-10.6M7 6.5v3.2M7 4.4v.1" />,
  snooze: (
    <path d="M7 2.4a5 5 0 1 0 0 10a5 5 0 1 0 0-10M7 4.6v2.9l1.9 1.2M1.5 2.6L3.2 1.2M12.5 2.6l-1.7-1.4" />
  ),
  bell: <path d="M3 9.8V6a4 4 0 0 1 8 0v3.8l1 1.2H2zM5.8 12.6h2.4" />,
  bellOff: (
    <path d="M3 9.8V6c0-.6.1-1.1.4-1.6M5.2 2.4A4 4 0 0 1 11 6v3.8l1 1.2H5M5.8 12.6h2.4M1.5 1.5l11 11" />
  ),
  theme: (
    <>
      <circle cx="7" cy="7" r="5.2" />
      <path d="M7 1.8a5.2 5.2 0 0 1 0 10.4z" fill="currentColor" />
    </>
  ),
  close: <path d="M3 3l8 8M11 3l-8 8" />,
  back: <path d="M8.5 3L4.5 7l4 4" />,
  forth: <path d="M5.5 3l4 4-4 4" />,
  up: <path d="M3.5 8.5L7 5l3.5 3.5" />,
  clock: (
    <>
      <circle cx="7" cy="7" r="5.2" />
      <path d="M7 4v3.2l2 1.2" />
    </>
  ),
  rule: <path d="M2 4h10M2 7h6M2 10h4M9.4 10l1.3 1.3L13 8.6" />,
  down: <path d="M3.5 5.5L7 9l3.5-3.5" />,
  check: <path d="M2.5 7.5l3 3 6-7" />,
  box: <rect x="2" y="2" width="10" height="10" rx="2.5" />,
  list: <path d="M2 3.5h10M2 7h10M2 10.5h6" />,
  day: <path d="M2 4h5M5 7h7M3 10h4" />,
  gear: (
    <path d="M2 4h5.3M10.7 4H12M9 2.3a1.7 1.7 0 1 0 0 3.4a1.7 1.7 0 1 0 0-3.4M2 10h1.3M6.7 10H12M5 8.3a1.7 1.7 0 1 0 0 3.4a1.7 1.7 0 1 0 0-3.4" />
  ),
  file: <path d="M3.2 1.8h4.6l3 3v7.4H3.2zM7.6 1.8v3.2h3.2" />,
  lock: <path d="M2.8 6.2h8.4V12H2.8zM4.6 6.2V4.4a2.4 2.4 0 0 1 4.8 0v1.8" />,
  people: (
    <path d="M5 6.6a2 2 0 1 0 0-4a2 2 0 1 0 0 4M1.6 11.6a3.4 3.4 0 0 1 6.8 0M9.4 6.2a1.7 1.7 0 1 0 0-3.4M10 8.3a3 3 0 0 1 2.4 3" />
  ),
  plus: <path d="M7 2.6v8.8M2.6 7h8.8" />,
  laptop: (
    <path d="M3.8 2.6h6.4a1.2 1.2 0 0 1 1.2 1.2v3.8a1.2 1.2 0 0 1-1.2 1.2H3.8a1.2 1.2 0 0 1-1.2-1.2V3.8a1.2 1.2 0 0 1 1.2-1.2zM1.4 11.4h11.2" />
  ),
  server: (
    <path d="M3.2 2.2h7.6A1.2 1.2 0 0 1 12 3.4v1.8a1.2 1.2 0 0 1-1.2 1.2H3.2A1.2 1.2 0 0 1 2 5.2V3.4a1.2 1.2 0 0 1 1.2-1.2zM3.2 7.6h7.6A1.2 1.2 0 0 1 12 8.8v1.8a1.2 1.2 0 0 1-1.2 1.2H3.2A1.2 1.2 0 0 1 2 10.6V8.8a1.2 1.2 0 0 1 1.2-1.2zM4.4 4.3v.1M4.4 9.7v.1" />
  ),
  cube: <path d="M7 1.6l4.8 2.7v5.4L7 12.4 2.2 9.7V4.3zM2.4 4.4L7 7l4.6-2.6M7 7v5.2" />,
  lost: (
    <path d="M1.8 1.8l10.4 10.4M4.2 6.9a4 4 0 0 1 1.4-.8M2 4.9a7.4 7.4 0 0 1 1.8-1.1M9.8 6.9a4 4 0 0 0-2.3-1.1M12 4.9a7.4 7.4 0 0 0-5-1.7M7 10.4v.1" />
  ),
  inbox: <path d="M2 8.2V11a1 1 0 0 0 1 1h8a1 1 0 0 0 1-1V8.2L10.2 3H3.8zM2 8.2h3l.8 1.4h2.4L9 8.2h3" />,
} satisfies Record<string, ComponentChildren>;

export function Icon({
  of,
  class: className = "",
}: {
  readonly of: keyof typeof icons;
  readonly class?: string;
}) {
  return (
    <svg class={`icon ${className}`} viewBox="0 0 14 14" aria-hidden="true">
      {icons[of]}
    </svg>
  );
}

/** Time since a moment, to the second. Only this text is drawn again as time passes. */
export function Duration({ since }: { readonly since: number }) {
  return <>{formatExactDuration(shownAt.value - since)}</>;
}

export function Age({ since }: { readonly since: number }) {
  return <>{formatAge((moment.value?.at ?? slowNow.value) - since)}</>;
}

/** Parts with a dot between them. Empty parts are left out. */
export function Dots({
  parts,
  class: className = "",
  title,
  before,
  children,
}: {
  readonly parts: readonly (string | null)[];
  readonly class?: string;
  readonly title?: string;
  /** One more part, at the start. */
  readonly before?: ComponentChildren;
  /** One more part, at the end. */
  readonly children?: ComponentChildren;
}) {
  const shown = parts.filter((part): part is string => part !== null && part !== "");
  return (
    <div class={`dots ${className}`} title={title ?? shown.join(" · ")}>
      {before}
      {shown.map((part) => (
        <span key={part}>{part}</span>
      ))}
      {children}
    </div>
  );
}

interface PickProps {
  readonly label: string;
  readonly value: string;
  /** Absent if one must be chosen. */
  readonly any?: string;
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly onChange: (value: string) => void;
}

/** A choice of one, or of any. */
export function Pick({ label, value, any, options, onChange }: PickProps) {
  return (
    <div class="pick">
      <select aria-label={label} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {any !== undefined && <option value="">{any}</option>}
        {options.map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
      <Icon of="down" />
    </div>
  );
}
