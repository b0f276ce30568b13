/** What is known about the other machines: their settings, and what the running app reports. */
import type { Agent } from "../agents/agent.ts";
import type { MachineSettings } from "../core/config/machines.ts";
import type { MachineReport } from "../machines/index.ts";
import { readConfigFile } from "../storage/config-file.ts";
import type { Paths } from "../storage/paths.ts";
import { callApi, fetchList } from "./client.ts";
import { createNoMachineError } from "./find-machine.ts";

export const listMachineNames = (paths: Paths): string[] =>
  Object.keys(readConfigFile(paths.config).config.machines);

/** Throws a usage error if there is no such machine. */
export function findMachine(paths: Paths, name: string): MachineSettings {
  const { machines } = readConfigFile(paths.config).config;
  const settings = Object.hasOwn(machines, name) ? machines[name] : undefined;
  if (settings) return settings;
  throw createNoMachineError(name, Object.keys(machines));
}

/** Resolves with null if beckon is not running. */
export const fetchMachineReports = (paths: Paths) =>
  fetchList<MachineReport>(paths, "/api/machines", "machines");

/** The other machine's beckon may know more agents than this one. */
export const nameAgents = (ids: readonly string[], table: readonly Agent[]): readonly string[] =>
  ids.map((id) => table.find((agent) => agent.id === id)?.name ?? id);

/** Has the running app link the machine now, also after a problem that only the user could solve. */
export async function retryMachine(paths: Paths, name: string): Promise<void> {
  await callApi(paths, `/api/machines/${encodeURIComponent(name)}/retry`, { body: {} });
}
