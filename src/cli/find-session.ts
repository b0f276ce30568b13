/** Finds the session that a user names, and lists the ones that an ambiguous name could mean. */
import { parseSessionKey, viewKeyOf } from "../core/session/session-ref.ts";
import { findClosest } from "../core/text/closest.ts";
import { groupLabels } from "../core/view/group-names.ts";
import { branchOf, isProjectName, nameWithMachine } from "../core/view/session-names.ts";
import type { SessionView } from "../core/view/session-view.ts";
import type { Paths } from "../storage/paths.ts";
import { quote, usageError } from "./args.ts";
import { type ApiResponse, callApi, fetchSessions } from "./client.ts";
import { findWidest, padText, stripControls, truncateToColumns } from "./output.ts";

/** Throws an error for the user if there is no such session, or if several match. */
export async function fetchSession(paths: Paths, name: string): Promise<SessionView> {
  const response = await callApi(paths, `/api/sessions/${encodeURIComponent(name)}`);
  if (typeof response === "string") throw new Error(response);
  const session = response.body as unknown as SessionView;
  // The id of a subagent is answered with an object of another kind.
  if (response.status !== 200 || typeof session.sessionId !== "string")
    throw await createNoSessionError(paths, name, response);
  checkPrefix(session, name);
  return session;
}

/** So that a typo does not name another session. */
const minPrefix = 4;

function checkPrefix(session: SessionView, name: string): void {
  const ids = [session.sessionId, viewKeyOf(session)].map((id) => id.toLowerCase());
  const isWholeName =
    isProjectName(name, session.project, session.machine ?? null) || ids.includes(name.toLowerCase());
  const prefix = parseSessionKey(name)?.sessionId ?? name;
  if (!isWholeName && prefix.length < minPrefix)
    throw usageError(
      `${quote(name)} is too short: give at least ${minPrefix} characters of the session's id, or its project`,
    );
}

const shortIdLength = 8;

export const shortId = ({ sessionId }: Pick<SessionView, "sessionId">): string =>
  stripControls(sessionId.slice(0, shortIdLength));

/** A session in the API's list of candidates. An older beckon leaves out some fields. */
export type Candidate = Pick<SessionView, "sessionId"> &
  Partial<Pick<SessionView, "machine" | "project" | "gitBranch" | "title" | "lastPrompt" | "group">>;

/** "shop", or "shop on devbox" */
export function nameOf(session: Pick<Candidate, "machine" | "project" | "sessionId">): string {
  const { machine, project } = session;
  return stripControls(nameWithMachine(project ?? shortId(session), machine ?? null));
}

const maxListed = 9;
const maxNameColumns = 32;
const maxTitleColumns = 40;

/** For the API's 404: no session has that name, or several do. */
async function createNoSessionError(
  paths: Paths,
  name: string,
  { body }: Pick<ApiResponse, "body">,
): Promise<Error> {
  const candidates = Array.isArray(body.candidates) ? (body.candidates as readonly Candidate[]) : [];
  if (candidates.length > 1) return ambiguousError(name, candidates, "All sessions: beckon status");
  const live = await fetchSessions(paths);
  const projects = typeof live === "string" ? [] : live.sessions.flatMap(({ project }) => project ?? []);
  const similar = findClosest(name, projects);
  const suggestion = similar === null ? "." : `: did you mean ${stripControls(similar)}?`;
  return new Error(
    `no session has the id or project ${quote(name)}${suggestion} See your sessions: beckon status`,
  );
}

/** `hint` is added if not all of them are listed. */
export function ambiguousError(name: string, candidates: readonly Candidate[], hint: string | null): Error {
  const hidden = candidates.length - maxListed;
  const more = hint === null ? "" : `. ${hint}`;
  return new Error(
    [
      `${candidates.length} sessions match ${quote(name)}. Use the id of one of them:`,
      ...formatCandidates(candidates).slice(0, maxListed),
      ...(hidden > 0 ? [`  and ${hidden} more${more}`] : []),
    ].join("\n"),
  );
}

/** The id to type, and what tells the sessions apart. */
function formatCandidates(candidates: readonly Candidate[]): string[] {
  const idLength = findUniqueLength(candidates.map(({ sessionId }) => sessionId));
  const rows = candidates.map((candidate) => {
    const { sessionId, gitBranch, group, title, lastPrompt } = candidate;
    const branch = branchOf(gitBranch);
    const topic = title ?? lastPrompt ?? "";
    return {
      id: stripControls(sessionId.slice(0, idLength)),
      name: truncateToColumns(nameOf(candidate) + (branch === "" ? "" : ` (${branch})`), maxNameColumns),
      group: group === undefined ? "" : groupLabels[group],
      topic: topic === "" ? "" : `“${truncateToColumns(topic, maxTitleColumns)}”`,
    };
  });
  const widthOf = (column: "id" | "name" | "group") => findWidest(rows.map((row) => row[column]));
  const widths = { id: widthOf("id"), name: widthOf("name"), group: widthOf("group") };
  return rows.map(({ id, name, group, topic }) =>
    `  ${padText(id, widths.id)}  ${padText(name, widths.name)}  ${padText(group, widths.group)}  ${topic}`.trimEnd(),
  );
}

/** How many characters of the ids tell them apart. */
export function findUniqueLength(ids: readonly string[]): number {
  const longest = Math.max(...ids.map((id) => id.length));
  let length = shortIdLength;
  while (length < longest && new Set(ids.map((id) => id.slice(0, length))).size < ids.length) length++;
  return length;
}
