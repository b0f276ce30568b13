/** Which settings of the work guard hold in a folder. */
import { findRelativePath, resolvePath } from "../text/paths.ts";
import type { Config } from "./config.ts";

type Settings = Config["workGuard"];

export interface GuardSettings extends Omit<Settings, "projects"> {
  /** The folder of `workGuard.projects` that the settings are from. null if they are those of all projects. */
  readonly folder: string | null;
}

/** The settings of the longest folder that contains this one. What they leave out is as for all projects. */
export function findGuardSettings({ projects, ...general }: Settings, folder: string | null): GuardSettings {
  const own = folder === null ? null : findLongest(Object.keys(projects), folder);
  return { ...general, ...(own === null ? {} : projects[own]), folder: own };
}

export function findLongest(folders: Iterable<string>, path: string): string | null {
  let longest: string | null = null;
  for (const folder of folders)
    if (findRelativePath(folder, path) !== null && folder.length > (longest?.length ?? -1)) longest = folder;
  return longest;
}

/** Whether the agent has to wait for an answer before each edit. A warning that is only recorded needs none. */
export const asksBeforeEdits = ({ mode, messages, collisions }: GuardSettings): boolean =>
  mode === "strict" || (mode === "warn" && messages) || collisions !== "show";

/** Whether the agent has to wait for an answer at the start of a session. */
export const answersAtStart = ({ mode, context, messages }: GuardSettings): boolean =>
  mode !== "off" && (context || messages);

/** Where the guard is on, for users: "strict in all projects", "warn in /home/me/project". Empty if it is off. */
export function describeGuard({ mode, projects }: Settings): string[] {
  const own = Object.entries(projects).flatMap(([folder, settings]) =>
    settings.mode === undefined || settings.mode === mode ? [] : [`${settings.mode} in ${folder}`],
  );
  if (mode === "off") return own;
  return [`${mode} in all ${own.length === 0 ? "" : "other "}projects`, ...own];
}

/** What hooks have to ask. */
interface AskedQuestions {
  readonly edits: boolean;
  readonly starts: boolean;
}

/** Where hooks have to ask the guard, as the running app writes it for them. Other projects do not wait. */
export interface GuardScope {
  readonly general: AskedQuestions;
  /** By folder: the longest that contains a file counts. */
  readonly projects: Readonly<Record<string, AskedQuestions>>;
}

/** null if hooks have to ask nowhere. */
export function createGuardScope(settings: Settings): GuardScope | null {
  const describe = (folder: string | null): AskedQuestions => {
    const own = findGuardSettings(settings, folder);
    return { edits: asksBeforeEdits(own), starts: answersAtStart(own) };
  };
  const general = describe(null);
  const projects = Object.fromEntries(
    Object.keys(settings.projects).map((folder) => [folder, describe(folder)]),
  );
  const isNeeded = [general, ...Object.values(projects)].some(({ edits, starts }) => edits || starts);
  return isNeeded ? { general, projects } : null;
}

/** Whether the guard may have something to say. `files` are those that a call edits, null if it is not an edit. */
export function isInGuardScope(
  { general, projects }: GuardScope,
  folder: string,
  files: readonly string[] | null,
): boolean {
  const find = (path: string): AskedQuestions | null => {
    const longest = findLongest(Object.keys(projects), path);
    return longest === null ? null : (projects[longest] ?? null);
  };
  const here = find(folder) ?? general;
  // A file that is damaged makes hooks ask.
  if (files === null) return here.starts !== false;
  // A file in a project with settings of its own belongs there, any other to the session's project.
  const located = files.map((file) => find(resolvePath(folder, file)) ?? here);
  return (located.length === 0 ? [here] : located).some(({ edits }) => edits !== false);
}
