/** What the running app reports about the fleets of this machine. */
import type { FleetReport } from "../machines/fleet/report.ts";
import type { Paths } from "../storage/paths.ts";
import { callApi, fetchList } from "./client.ts";

/** Resolves with null if beckon is not running. */
export const fetchFleetReports = (paths: Paths) => fetchList<FleetReport>(paths, "/api/fleets", "fleets");

/** Has the running app read which fleets there are now. */
export async function announceFleets(paths: Paths): Promise<void> {
  await callApi(paths, "/api/fleets/update", { body: {} });
}
