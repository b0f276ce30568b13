/** Quiet lines about a session's work: it may be stuck, or another session changes the same files. Pure: the page uses it too. */
import type { SharedFile } from "../session/event.ts";
import type { Stuck } from "../session/stuck.ts";
import { findRelativePath } from "../text/paths.ts";
import { toSingleLine, truncateMiddle } from "../text/text.ts";
import { formatList } from "../text/words.ts";
import { nameWithMachine } from "./session-names.ts";

/** How long ago that wall time was, as `formatRoughAge` says it. */
type FormatAge = (at: number) => string;

/** "may be stuck: Bash: npm test failed 3 times", "may be stuck: nothing for 16 min after Bash: npm run build" */
export function formatStuck(stuck: Stuck, formatAge: FormatAge): string {
  const last = toSingleLine(stuck.last);
  if (stuck.kind === "repeats") return `may be stuck: ${last} failed ${stuck.count} times`;
  return `may be stuck: nothing for ${formatAge(stuck.since)}${last === "" ? "" : ` after ${last}`}`;
}

type SharedFileView = Omit<SharedFile, "t">;

/** How many files a line names. */
const maxNamed = 2;
const maxPathColumns = 48;

/** A line for each other session: "src/cart.ts also changed by codex in shop-api 2 min ago". `folder` is where the session works. */
export function formatSharedFiles(
  files: readonly SharedFileView[],
  folder: string | null,
  formatAge: FormatAge,
): string[] {
  const bySession = Map.groupBy(files, ({ machine, agent, sessionId }) => `${machine} ${agent} ${sessionId}`);
  return [...bySession.values()].map((shared) => {
    const newest = shared.reduce((a, b) => (b.at > a.at ? b : a));
    const names = shared.slice(0, maxNamed).map(({ path }) => nameFile(path, folder));
    const more = shared.length - names.length;
    const named = more === 0 ? formatList(names) : `${names.join(", ")} and ${more} more`;
    const age = formatAge(newest.at);
    return `${named} also changed by ${nameSession(newest)} ${age === "now" ? "just now" : `${age} ago`}`;
  });
}

/** "codex in shop-api", "codex in shop-api on devbox". An agent chooses its folder: its name must not end a label of beckon's. */
function nameSession({ agent, project, machine }: SharedFileView): string {
  if (project === null) return agent;
  const name = truncateMiddle(toSingleLine(project).replaceAll(/[⟨⟩]/g, ""), maxPathColumns);
  return `${agent} in ${nameWithMachine(name, machine)}`;
}

/** Who has changed a file that is not committed: "not committed, changed by codex in shop-api". */
export const formatChangedBy = (files: readonly SharedFileView[]): string =>
  `not committed, changed by ${formatList([...new Set(files.map(nameSession))])}`;

/** In the session's folder, the path from there. */
function nameFile(path: string, folder: string | null): string {
  const relative = folder === null ? null : findRelativePath(folder, path);
  return truncateMiddle(toSingleLine(relative ?? path), maxPathColumns);
}
