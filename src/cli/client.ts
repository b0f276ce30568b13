/** How the command line talks to the running beckon. */
import { readFileSync } from "node:fs";
import type { SessionSnapshot } from "../core/snapshot.ts";
import type { Paths } from "../storage/paths.ts";

export interface Endpoint {
  readonly url: string;
  readonly pid: number;
}

export function readEndpoint(paths: Pick<Paths, "endpoint">): Endpoint | null {
  try {
    const found = JSON.parse(readFileSync(paths.endpoint, "utf8")) as Partial<Endpoint> | null;
    return typeof found?.url === "string" && typeof found.pid === "number" ? (found as Endpoint) : null;
  } catch {
    return null;
  }
}

/** null: nobody answers. */
export async function fetchSessions(paths: Paths): Promise<SessionSnapshot[] | null> {
  const endpoint = readEndpoint(paths);
  if (!endpoint) return null;
  try {
    const authorization = readFileSync(paths.authHeader, "utf8")
      .trim()
      .replace(/^Authorization: /, "");
    const response = await fetch(`${endpoint.url}/api/sessions`, {
      headers: { authorization },
      signal: AbortSignal.timeout(2_000),
      proxy: "",
    } as RequestInit);
    if (!response.ok) return null;
    return ((await response.json()) as { sessions: SessionSnapshot[] }).sessions;
  } catch {
    return null;
  }
}
