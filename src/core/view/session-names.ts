/** The names of sessions in menu and alerts: the project, and what distinguishes two sessions of one project. */
import { projectOf, type Session } from "../session/session.ts";
import { toSingleLine, truncateEnd, truncateMiddle } from "../text/text.ts";
import { nameTerminal } from "./terminal-name.ts";

const maxName = 24;
const maxDifference = 18;
const idLength = 8;

interface KeyedSession {
  /** `agent:sessionId` */
  readonly key: string;
  readonly session: Session;
}

/** Returns the names by session key. */
export function nameSessions(sessions: readonly KeyedSession[]): ReadonlyMap<string, string> {
  const sameName = Map.groupBy(sessions, ({ session }) => nameProject(session));
  return new Map([...sameName].flatMap(([name, alike]) => distinguishSameNamed(name, alike)));
}

/** Live sessions are distinguished from each other only: an ended one with the same name does not change theirs. */
function distinguishSameNamed(name: string, alike: readonly KeyedSession[]): [string, string][] {
  const live = alike.filter(({ session }) => !session.ended);
  const liveKeys = new Set(live.map(({ key }) => key));
  const ended = distinguish(name, alike).filter(([key]) => !liveKeys.has(key));
  return [...distinguish(name, live), ...ended];
}

/** Adds to each name the first difference that no other session has. */
function distinguish(name: string, alike: readonly KeyedSession[]): [string, string][] {
  if (alike.length === 1) return alike.map(({ key }) => [key, name]);
  const differences = new Map<string, string>();
  for (const describe of describers) {
    for (const [difference, [first, ...others]] of Map.groupBy(alike, ({ session }) => describe(session))) {
      const isUnique = first !== undefined && others.length === 0 && difference !== "";
      if (isUnique && !differences.has(first.key)) differences.set(first.key, difference);
    }
    if (differences.size === alike.length) break;
  }
  return alike.map(({ key, session }) => [key, `${name} ${differences.get(key) ?? formatShortId(session)}`]);
}

function nameProject(session: Session): string {
  const name = toSingleLine(projectOf(session) ?? "");
  return name === "" ? formatShortId(session) : truncateMiddle(name, maxName);
}

function formatShortId({ sessionId }: Session): string {
  return `#${[...toSingleLine(sessionId)].slice(0, idLength).join("")}`;
}

/** Branch, parent folder, title, last prompt, terminal: each "" if unknown. The id is the last resort. */
const describers: readonly ((session: Session) => string)[] = [
  ({ gitBranch }) => enclose("(", truncateMiddle(gitBranch ?? "", maxDifference), ")"),
  ({ firstCwd }) => {
    const parent = firstCwd?.split(/[\\/]/).filter(Boolean).at(-2) ?? "";
    return enclose("in ", truncateMiddle(parent, maxDifference), "");
  },
  ({ title }) => enclose("“", truncateEnd(title ?? "", maxDifference), "”"),
  ({ lastPrompt }) => enclose("“", truncateEnd(toSingleLine(lastPrompt ?? ""), maxDifference), "”"),
  ({ place }) => enclose("on ", truncateMiddle(nameTerminal(place) ?? "", maxDifference), ""),
];

function enclose(before: string, text: string, after: string): string {
  return text === "" ? "" : `${before}${text}${after}`;
}
