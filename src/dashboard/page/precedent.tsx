/** What the user has answered to requests like this one: a fact in the card, one mark for each answer. */
import { type AskPrecedent, countPrecedent, describePrecedentRest } from "../../core/session/precedent.ts";
import { cleanText, formatDay, formatTime, startOfDay } from "./format.ts";

const pipWidth = 5;
const pipGap = 2;
const pipHeight = 10;

interface PrecedentProps {
  readonly precedent: AskPrecedent;
  /** The request's own. */
  readonly project: string | null;
}

/** "14:31" today, "yesterday", "on Mon 9 Nov". */
function formatMoment(at: number): string {
  const now = Date.now();
  if (at >= startOfDay(now)) return `at ${formatTime(at)}`;
  const day = formatDay(at, now);
  return day === "Yesterday" ? "yesterday" : `on ${day}`;
}

export function PrecedentBox({ precedent, project }: PrecedentProps) {
  const pips = [...precedent.recent];
  const rest = describePrecedentRest(precedent, project, formatMoment);
  return (
    <div class="prec">
      <svg aria-hidden="true" width={pips.length * (pipWidth + pipGap)} height={pipHeight}>
        {pips.map((pip, index) => (
          <rect
            key={index}
            class={pip}
            x={index * (pipWidth + pipGap)}
            width={pipWidth}
            height={pipHeight}
            rx="1"
          />
        ))}
      </svg>
      <p>
        <b>{cleanText(countPrecedent(precedent))}</b>
        <span>{cleanText(rest)}</span>
      </p>
    </div>
  );
}
