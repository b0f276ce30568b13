/** What sessions are called on the page: the same as in every other list. Includes sessions that only the history knows. */
import { computed } from "@preact/signals";
import type { Lane } from "../../core/interfaces/wire.ts";
import { parseSessionKey, viewKeyOf } from "../../core/session/session-ref.ts";
import { type NameParts, namePartsOfView, nameSessions } from "../../core/view/session-names.ts";
import type { SessionView } from "../../core/view/session-view.ts";
import { branchOf, cleanText } from "./format.ts";
import { lanes } from "./reports.ts";
import { shownSessions } from "./state.ts";

export interface Label {
  readonly project: string;
  /** The branch, or what distinguishes the session from others of its project. */
  readonly detail: string;
  /** The machine that it runs on; null for this one. */
  readonly machine: string | null;
}

export const machineOf = (key: string): string | null => parseSessionKey(key)?.machine ?? null;

/** "shop on devbox": a project of another machine is another project. */
export function nameOnMachine(project: string, key: string): string {
  const machine = machineOf(key);
  return machine === null ? project : `${project} on ${machine}`;
}

const namePartsOfLane = ({ key, project, branch, title }: Lane): NameParts => ({
  key,
  ...(machineOf(key) === null ? {} : { machine: machineOf(key) ?? "" }),
  sessionId: parseSessionKey(key)?.sessionId ?? key,
  isEnded: true,
  project,
  folder: null,
  gitBranch: branch,
  title,
  lastPrompt: null,
  terminal: null,
});

const names = computed(() => {
  const listed = shownSessions.value;
  const past = (lanes.value?.lanes ?? []).filter(({ key }) => !listed.has(key));
  return nameSessions([...[...listed.values()].map(namePartsOfView), ...past.map(namePartsOfLane)]);
});

function createLabel(key: string, branch: string | null): Label {
  const { project = key, difference = "" } = names.value.get(key) ?? {};
  // A branch is set in a font of its own here, so it needs no parentheses.
  const detail = cleanText(difference).replace(/^\((.*)\)$/, "$1");
  return { project, detail: detail || branchOf(branch), machine: machineOf(key) };
}

export const labelSession = (session: SessionView): Label =>
  createLabel(viewKeyOf(session), session.gitBranch);

export const labelLane = ({ key, branch }: Lane): Label => createLabel(key, branch);
