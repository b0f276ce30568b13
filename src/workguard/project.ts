/** Finds the project that a folder belongs to. */
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
export function addRealPaths(workGuard: Config["workGuard"]): Config["workGuard"] {
  const real = Object.entries(workGuard.projects).map(([folder, own]) => [findRealPath(folder), own]);
  return { ...workGuard, projects: { ...Object.fromEntries(real), ...workGuard.projects } };
}

const findRealPath = (folder: string): string => readOr(() => realpathSync(folder), folder);
