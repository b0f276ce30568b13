/** Finds the session that a user names, and lists the ones that an ambiguous name could mean. */
import { groupLabels } from "../core/view/group-names.ts";
import { branchOf } from "../core/view/session-names.ts";
import type { SessionSnapshot } from "../core/view/snapshot.ts";
import type { Paths } from "../storage/paths.ts";
import { quote } from "./args.ts";
import { type ApiResponse, callApi } from "./client.ts";
import { padText, stripControls, truncate } from "./output.ts";

/** Throws an error for the user if there is no such session, or if several match. */
export async function fetchSession(paths: Paths, name: string): Promise<SessionSnapshot> {
  const response = await callApi(paths, `/api/sessions/${encodeURIComponent(name)}`);
  if (typeof response === "string") throw new Error(response);
  if (response.status !== 200) throw noSessionError(name, response);
  return response.body as unknown as SessionSnapshot;
}

/** `agent:id`, for a path of the API. */
export const encodeKey = ({ provider, sessionId }: SessionSnapshot): string =>
  encodeURIComponent(`${provider}:${sessionId}`);

const shortIdLength = 8;

export const shortId = ({ sessionId }: Pick<SessionSnapshot, "sessionId">): string =>
  stripControls(sessionId.slice(0, shortIdLength));

/** A session in the API's list of candidates. An older beckon leaves out some fields. */
type Candidate = Pick<SessionSnapshot, "sessionId"> &
  Partial<Pick<SessionSnapshot, "project" | "gitBranch" | "title" | "lastPrompt" | "group">>;

export const nameOf = (session: Pick<Candidate, "project" | "sessionId">): string =>
  stripControls(session.project ?? shortId(session));

const maxListed = 9;
const maxNameColumns = 32;
const maxTitleColumns = 40;

/** For the API's 404: no session has that name, or several do. */
export function noSessionError(name: string, { body }: Pick<ApiResponse, "body">): Error {
  const candidates = Array.isArray(body.candidates) ? (body.candidates as readonly Candidate[]) : [];
  if (candidates.length < 2)
    return new Error(`no session has the id or project ${quote(name)}. See your sessions: beckon status`);
  const hidden = candidates.length - maxListed;
  return new Error(
    [
      `${candidates.length} sessions match ${quote(name)}. Use the id of one of them:`,
      ...formatCandidates(candidates).slice(0, maxListed),
      ...(hidden > 0 ? [`  and ${hidden} more: beckon status`] : []),
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
      name: truncate(nameOf(candidate) + (branch === "" ? "" : ` (${branch})`), maxNameColumns),
      group: group === undefined ? "" : groupLabels[group],
      topic: topic === "" ? "" : `“${truncate(topic, maxTitleColumns)}”`,
    };
  });
  const widthOf = (column: "id" | "name" | "group") =>
    Math.max(...rows.map((row) => Bun.stringWidth(row[column])));
  const widths = { id: widthOf("id"), name: widthOf("name"), group: widthOf("group") };
  return rows.map(({ id, name, group, topic }) =>
    `  ${padText(id, widths.id)}  ${padText(name, widths.name)}  ${padText(group, widths.group)}  ${topic}`.trimEnd(),
  );
}

/** How many characters of the ids tell them apart. */
function findUniqueLength(ids: readonly string[]): number {
  const longest = Math.max(...ids.map((id) => id.length));
  let length = shortIdLength;
  while (length < longest && new Set(ids.map((id) => id.slice(0, length))).size < ids.length) length++;
  return length;
}
