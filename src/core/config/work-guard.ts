/** Which settings of the work guard hold in a folder. */
import { findRelativePath } from "../text/paths.ts";
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
export const asksBeforeEdits = ({ mode, messages }: GuardSettings): boolean =>
  mode === "strict" || (mode === "warn" && messages);

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
