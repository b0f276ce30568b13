/** What sessions are called in the tray: by project, and by what tells two of one project apart. */

import type { Session } from "../session/session.ts";
import { projectOf } from "../session/session.ts";
import { toSingleLine, truncateEnd, truncateMiddle } from "../text/text.ts";

const maxName = 24;
const maxMore = 18;
const idLength = 8;

interface Named {
  /** `agent:sessionId` */
  readonly key: string;
  readonly session: Session;
}

/** By key. */
export function nameSessions(rows: readonly Named[]): ReadonlyMap<string, string> {
  const groups = Map.groupBy(rows, ({ session }) => nameOf(session));
  return new Map(
    [...groups].flatMap(([name, alike]) => (alike.length === 1 ? alone(name, alike) : told(name, alike))),
  );
}

function alone(name: string, rows: readonly Named[]): [string, string][] {
  return rows.map(({ key }) => [key, name]);
}

/** Each with the first difference that is its own alone, as a person would see it. */
function told(name: string, alike: readonly Named[]): [string, string][] {
  const names = new Map<string, string>();
  for (const tell of differences) {
    const groups = Map.groupBy(alike, ({ session }) => tell(session));
    for (const [difference, rows] of groups) {
      const [row] = rows;
      if (row && rows.length === 1 && difference !== "" && !names.has(row.key))
        names.set(row.key, difference);
    }
    if (names.size === alike.length) break;
  }
  return alike.map(({ key, session }) => [key, `${name} ${names.get(key) ?? shortId(session)}`]);
}

function nameOf(session: Session): string {
  const name = toSingleLine(projectOf(session) ?? "");
  return name === "" ? shortId(session) : truncateMiddle(name, maxName);
}

function shortId({ sessionId }: Session): string {
  return `#${[...toSingleLine(sessionId)].slice(0, idLength).join("")}`;
}

const differences: readonly ((session: Session) => string)[] = [
  ({ gitBranch }) => quoted("(", truncateMiddle(gitBranch ?? "", maxMore), ")"),
  ({ firstCwd }) =>
    quoted("in ", truncateMiddle(firstCwd?.split(/[\\/]/).filter(Boolean).at(-2) ?? "", maxMore), ""),
  ({ title }) => quoted("“", truncateEnd(title ?? "", maxMore), "”"),
];

function quoted(before: string, text: string, after: string): string {
  return text === "" ? "" : `${before}${text}${after}`;
}
