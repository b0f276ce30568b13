/** Asks the running beckon for its history, or reads the database of a stopped one. */
import { existsSync } from "node:fs";
import type { QueryCall } from "../history/queries/index.ts";
import type { Paths } from "../storage/paths.ts";
import { callApi, notRunning } from "./client.ts";

export interface HistoryAnswer<Result> {
  readonly result: Result;
  readonly isRunning: boolean;
}

/** A search in a large history takes longer than other requests. */
const timeoutMs = 30_000;

/** Throws an error for the user. null if nothing was ever recorded. */
export async function askHistory<Result>(
  paths: Paths,
  path: string,
  call: QueryCall,
): Promise<HistoryAnswer<Result> | null> {
  const response = await callApi(paths, path, { timeoutMs });
  if (typeof response !== "string") {
    const { error } = response.body;
    if (typeof error === "string") throw new Error(error);
    return { result: response.body as Result, isRunning: true };
  }
  if (response !== notRunning) throw new Error(response);
  if (!existsSync(paths.history)) return null;
  const { readHistory } = await import("../history/read-only.ts");
  return { result: readHistory(paths.history, call, Date.now()) as Result, isRunning: false };
}

/** `?a=1&b=2`, without what is undefined. */
export function formatQuery(values: Readonly<Record<string, string | number | undefined>>): string {
  const known = Object.entries(values).filter(([, value]) => value !== undefined);
  return `?${new URLSearchParams(known.map(([name, value]): [string, string] => [name, String(value)]))}`;
}
