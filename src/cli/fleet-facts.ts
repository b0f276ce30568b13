/** What the running app reports about the fleets of this machine. */
import type { FleetReport } from "../machines/fleet/report.ts";
import type { Paths } from "../storage/paths.ts";
import { readEndpoint } from "../system/endpoint.ts";
import { callApi } from "./client.ts";

/** Resolves with null if beckon is not running. */
export async function fetchFleetReports(paths: Paths): Promise<readonly FleetReport[] | null> {
  if (!readEndpoint(paths)) return null;
  const response = await callApi(paths, "/api/fleets");
  if (typeof response === "string") return null;
  const { fleets } = response.body;
  return Array.isArray(fleets) ? fleets : null;
}

/** Has the running app read which fleets there are now. */
export async function announceFleets(paths: Paths): Promise<void> {
  if (readEndpoint(paths)) await callApi(paths, "/api/fleets/update", { body: {} });
}
