/** Finds the project that a folder belongs to, and reads the settings of projects. */
import { existsSync, realpathSync } from "node:fs";
import type { Config } from "../core/config/config.ts";
import { findGuardSettings, findLongest, type GuardSettings } from "../core/config/work-guard.ts";
import { readOr } from "../storage/files.ts";
import { findRepository } from "../system/repository.ts";
import { type PortBook, PortError } from "./ports.ts";
import { readPorts, type StorePaths } from "./store.ts";

export interface Project {
  readonly folder: string;
  readonly settings: GuardSettings;
  /** Its ports are in its own file. */
  readonly isShared: boolean;
  readonly book: PortBook;
}

/** The project of a folder: the nearest folder with settings or ports, else that of the repository. Throws a PortError. */
export function openProject(paths: StorePaths, workGuard: Config["workGuard"], from: string): Project {
  const guardSettings = addRealPaths(workGuard);
  const own = readPorts(paths);
  const folder = findRealPath(from);
  const named = findLongest([...Object.keys(guardSettings.projects), ...Object.keys(own.projects)], folder);
  if (named === null && !existsSync(folder)) throw new PortError(`there is no folder ${folder}`);
  const project = named ?? findRepository(folder) ?? folder;
  const settings = findGuardSettings(guardSettings, project);
  const isShared = settings.store === "project";
  return { folder: project, settings, isShared, book: isShared ? readPorts(paths, [project]) : own };
}

/** The settings also under the folders' real paths, as sessions name them: a user can write a path with a link in it. */
function addRealPaths(workGuard: Config["workGuard"]): Config["workGuard"] {
  const real = Object.entries(workGuard.projects).map(([folder, own]) => [findRealPath(folder), own]);
  return { ...workGuard, projects: { ...Object.fromEntries(real), ...workGuard.projects } };
}

/** The same of the settings as they are now. Real paths are looked up only when they have changed. */
export function createRealSettings(config: () => Pick<Config, "workGuard">): () => Config["workGuard"] {
  let known: { readonly of: unknown; readonly settings: Config["workGuard"] } | null = null;
  return () => {
    const { workGuard } = config();
    if (known?.of !== workGuard) known = { of: workGuard, settings: addRealPaths(workGuard) };
    return known.settings;
  };
}

/** Projects that keep their ports in a file of their own. Only folders that the user named: in the settings, or with `beckon port`. */
export function listShared(settings: Config["workGuard"], { projects }: PortBook): string[] {
  return [...new Set([...Object.keys(settings.projects), ...Object.keys(projects)])].filter(
    (folder) => findGuardSettings(settings, folder).store === "project",
  );
}

const findRealPath = (folder: string): string => readOr(() => realpathSync(folder), folder);
