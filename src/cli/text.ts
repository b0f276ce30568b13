/** Text for a terminal: what it may hold, how wide it is. */

/** What comes from an agent may hold anything: nothing of it may steer the terminal. */
export function clean(text: string): string {
  return Bun.stripANSI(text.toWellFormed()).replace(
    /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]+/gu,
    " ",
  );
}

/** As much as fits into a width on the screen, where some characters take two columns. */
function fitting(line: string, width: number): string {
  let kept = "";
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(line)) {
    used += Bun.stringWidth(segment);
    if (used > width) break;
    kept += segment;
  }
  return kept;
}

export function cut(text: string, width: number): string {
  const line = clean(text);
  return Bun.stringWidth(line) <= width ? line : `${fitting(line, width - 1).trimEnd()}…`;
}

/** Broken between words where that is possible; the last line is cut. */
export function wrap(text: string, width: number, maxLines: number): string[] {
  const lines: string[] = [];
  let rest = clean(text).trim();
  while (lines.length < maxLines - 1 && Bun.stringWidth(rest) > width) {
    const part = fitting(rest, width);
    const space = `${part}${rest.charAt(part.length)}`.lastIndexOf(" ");
    const end = space > part.length / 2 ? space : Math.max(1, part.length);
    lines.push(rest.slice(0, end).trimEnd());
    rest = rest.slice(end).trimStart();
  }
  return [...lines, cut(rest, width)];
}

export function pad(text: string, width: number): string {
  const kept = cut(text, width);
  return kept + " ".repeat(Math.max(0, width - Bun.stringWidth(kept)));
}

/** How long, in one or two units: 8s, 12m, 3h 05m, 2d. */
export function ago(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${hours}h ${String(minutes % 60).padStart(2, "0")}m` : `${Math.floor(hours / 24)}d`;
}
