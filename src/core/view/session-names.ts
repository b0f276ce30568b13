/** The names of sessions in every list: the project, and what distinguishes two sessions of one project. */
import { projectOf, type Session } from "../session/session.ts";
import { sessionKeyOf, viewKeyOf } from "../session/session-ref.ts";
import { toSingleLine, truncateEnd, truncateMiddle } from "../text/text.ts";
import { measureWidth } from "../text/width.ts";
import type { SessionView } from "./session-view.ts";
import { nameTerminal } from "./terminal-name.ts";

const maxName = 24;
const maxDifference = 18;
const idLength = 8;

/** What a name is made of. */
export interface NameParts {
  /** `agent:sessionId` */
  readonly key: string;
  /** Absent for this machine. */
  readonly machine?: string;
  readonly sessionId: string;
  readonly isEnded: boolean;
  readonly project: string | null;
  /** A folder in the project, or the project's own. */
  readonly folder: string | null;
  readonly gitBranch: string | null;
  readonly title: string | null;
  readonly lastPrompt: string | null;
  /** As users call it. */
  readonly terminal: string | null;
}

export interface SessionName {
  readonly project: string;
  /** `(main)`, `“Fix the cart”`; empty if no other session has this project. */
  readonly difference: string;
  /** The machine that it runs on, if it is not this one. */
  readonly machine?: string;
  /** The agent's id, in an alert if there are sessions of several agents. Lists have a column for it. */
  readonly agent?: string;
}

export function namePartsOf(session: Session): NameParts {
  const { machine, sessionId, ended, firstCwd, gitBranch, title, lastPrompt, place } = session;
  return {
    key: sessionKeyOf(session),
    ...(machine === null ? {} : { machine }),
    sessionId,
    isEnded: ended !== null,
    project: projectOf(session),
    folder: firstCwd,
    gitBranch,
    title,
    lastPrompt,
    terminal: nameTerminal(place),
  };
}

export function namePartsOfView(view: SessionView): NameParts {
  const { machine, sessionId, state, project, cwd, gitBranch, title, lastPrompt, terminal } = view;
  return {
    key: viewKeyOf(view),
    ...(machine === null ? {} : { machine }),
    sessionId,
    isEnded: state === "completed",
    project,
    folder: cwd,
    gitBranch,
    title,
    lastPrompt,
    terminal,
  };
}

/** Returns the names by session key. */
export function nameViews(views: readonly SessionView[]): ReadonlyMap<string, SessionName> {
  return nameSessions(views.map(namePartsOfView));
}

/** Returns the names by session key. */
export function nameSessions(sessions: readonly NameParts[]): ReadonlyMap<string, SessionName> {
  // On two machines, one name means two projects.
  const sameName = Map.groupBy(sessions, (parts) => `${nameProject(parts)}\n${parts.machine ?? ""}`);
  return new Map(
    [...sameName.values()].flatMap((alike) => {
      const [first] = alike;
      return first ? distinguishSameNamed(nameProject(first), alike) : [];
    }),
  );
}

/** Of what happened on another machine, where only the project is known. */
export const nameWithMachine = (project: string, machine: string | null): string =>
  formatSessionName({ project, difference: "", ...(machine === null ? {} : { machine }) });

/** Whether a user who types this means a session of that project: "shop", "shop on devbox" or "devbox/shop". */
export const isProjectName = (name: string, project: string | null, machine: string | null): boolean =>
  project !== null &&
  (name === project ||
    (machine !== null && [nameWithMachine(project, machine), `${machine}/${project}`].includes(name)));

export const formatSessionName = ({ project, difference, machine }: SessionName): string =>
  [project, difference, machine === undefined ? "" : `on ${machine}`].filter(Boolean).join(" ");

const minDifference = 8;
const minProject = 6;

/** Formats the name in this many columns: shortens the difference first, then the project, each down to a minimum. */
export function fitSessionName(name: SessionName, columns: number): string {
  const full = formatSessionName(name);
  if (measureWidth(full) <= columns) return full;
  if (name.machine !== undefined) {
    const machine = `on ${name.machine}`;
    const { machine: _, ...rest } = name;
    return `${fitSessionName(rest, columns - measureWidth(machine) - 1)} ${machine}`;
  }
  if (name.difference === "") return full;
  const room = columns - measureWidth(name.project) - 1;
  const difference = shortenDifference(name.difference, Math.max(minDifference, room));
  const projectRoom = columns - measureWidth(difference) - 1;
  return `${truncateMiddle(name.project, Math.max(minProject, projectRoom))} ${difference}`;
}

/** Keeps the brackets, the quotation marks, or the "in" or "on". */
function shortenDifference(difference: string, columns: number): string {
  const [, before = "", text = "", after = ""] = /^(\(|“|in |on )(.*?)([)”]?)$/s.exec(difference) ?? [];
  if (text === "") return difference;
  const truncate = before === "“" ? truncateEnd : truncateMiddle;
  return enclose(before, truncate(text, columns - measureWidth(before + after)), after);
}

/** Live sessions are distinguished from each other only: an ended one with the same name does not change theirs. */
function distinguishSameNamed(project: string, alike: readonly NameParts[]): [string, SessionName][] {
  const live = alike.filter(({ isEnded }) => !isEnded);
  const liveKeys = new Set(live.map(({ key }) => key));
  const ended = distinguish(project, alike).filter(([key]) => !liveKeys.has(key));
  return [...distinguish(project, live), ...ended];
}

/** Adds to each name the first difference that no other session has. */
function distinguish(project: string, alike: readonly NameParts[]): [string, SessionName][] {
  if (alike.length === 1)
    return alike.map((parts) => [parts.key, { project, difference: "", ...machineOf(parts) }]);
  const differences = new Map<string, string>();
  for (const describe of describers) {
    for (const [difference, [first, ...others]] of Map.groupBy(alike, describe)) {
      const isUnique = first !== undefined && others.length === 0 && difference !== "";
      if (isUnique && !differences.has(first.key)) differences.set(first.key, difference);
    }
    if (differences.size === alike.length) break;
  }
  return alike.map((parts) => [
    parts.key,
    { project, difference: differences.get(parts.key) ?? formatShortId(parts), ...machineOf(parts) },
  ]);
}

const machineOf = ({ machine }: NameParts): Pick<SessionName, "machine"> =>
  machine === undefined ? {} : { machine };

function nameProject(parts: NameParts): string {
  const name = toSingleLine(parts.project ?? "");
  return name === "" ? formatShortId(parts) : truncateMiddle(name, maxName);
}

function formatShortId({ sessionId }: NameParts): string {
  return `#${[...toSingleLine(sessionId)].slice(0, idLength).join("")}`;
}

/** "" if unknown, or if no branch is checked out. */
export const branchOf = (gitBranch: string | null | undefined): string =>
  gitBranch && gitBranch !== "HEAD" ? gitBranch : "";

/** Branch, parent folder, title, last prompt, terminal: each "" if unknown. The id is the last resort. */
const describers: readonly ((parts: NameParts) => string)[] = [
  ({ gitBranch }) => enclose("(", truncateMiddle(branchOf(gitBranch), maxDifference), ")"),
  (parts) => enclose("in ", truncateMiddle(findParentFolder(parts), maxDifference), ""),
  ({ title }) => enclose("“", truncateEnd(title ?? "", maxDifference), "”"),
  ({ lastPrompt }) => enclose("“", truncateEnd(toSingleLine(lastPrompt ?? ""), maxDifference), "”"),
  ({ terminal }) => enclose("on ", truncateMiddle(terminal ?? "", maxDifference), ""),
];

/** The folder that contains the project's folder; "" if unknown. */
function findParentFolder({ folder, project }: NameParts): string {
  const folders = folder?.split(/[\\/]/).filter(Boolean) ?? [];
  const own = project === null ? -1 : folders.lastIndexOf(project);
  return folders.at(own > 0 ? own - 1 : -2) ?? "";
}

function enclose(before: string, text: string, after: string): string {
  return text === "" ? "" : `${before}${text}${after}`;
}
