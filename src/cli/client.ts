/** How the command line talks to the running beckon. */
import { readFileSync } from "node:fs";
import type { Quiet } from "../core/quiet.ts";
import type { SessionSnapshot } from "../core/snapshot.ts";
import { limits } from "../limits.ts";
import type { Paths } from "../storage/paths.ts";
import { readSmallFile } from "../storage/small-file.ts";
import { isAlive } from "../watch/machine.ts";

export interface Endpoint {
  readonly url: string;
  readonly pid: number;
}

/** null: none is running. One that was killed leaves its address behind, and its port may be somebody else's by now. */
export function readEndpoint(paths: Pick<Paths, "endpoint">): Endpoint | null {
  try {
    const text = readSmallFile(paths.endpoint, limits.maxSmallFileBytes);
    const found = JSON.parse(text) as Record<string, unknown> | null;
    const { url, pid, start, boot } = found ?? {};
    if (typeof url !== "string" || typeof pid !== "number" || !Number.isInteger(pid) || pid < 1) return null;
    if (typeof boot === "string" && boot !== readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim())
      return null;
    return isAlive(pid, typeof start === "string" ? start : null) ? { url, pid } : null;
  } catch {
    return null;
  }
}

const answerMs = 2_000;
/** Those whose words are for the person who asked. */
const told: ReadonlySet<number> = new Set([400, 403, 404, 409]);
export const notRunning = "beckon is not running. Start it with: beckon start";

const isTimeout = (error: unknown): boolean => error instanceof Error && error.name === "TimeoutError";

export interface Answered {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What the running beckon answers, or why it does not. */
export async function ask(
  paths: Paths,
  path: string,
  { given, waitMs = answerMs }: { given?: object; waitMs?: number } = {},
): Promise<Answered | string> {
  const endpoint = readEndpoint(paths);
  if (!endpoint) return notRunning;
  const silent = (why: string) => `beckon (pid ${endpoint.pid}) does not answer: ${why}. See ${paths.log}`;
  try {
    const authorization = readFileSync(paths.authHeader, "utf8")
      .trim()
      .replace(/^Authorization: /, "");
    const post = given && { method: "POST", body: JSON.stringify(given) };
    const response = await fetch(endpoint.url + path, {
      headers: { authorization, ...(post ? { "content-type": "application/json" } : {}) },
      signal: AbortSignal.timeout(waitMs),
      proxy: "",
      ...post,
    } as RequestInit);
    const text = await response.text();
    const body = text.startsWith("{") ? JSON.parse(text) : {};
    const isAnswer = response.ok || (told.has(response.status) && typeof body.error === "string");
    return isAnswer ? { status: response.status, body } : silent(`${endpoint.url} says ${response.status}`);
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string };
    return code === "ECONNREFUSED" || code === "ConnectionRefused"
      ? notRunning
      : silent(isTimeout(error) ? `waited ${waitMs / 1_000} s` : message.replace(/\.$/, ""));
  }
}

export interface Listed {
  readonly sessions: readonly SessionSnapshot[];
  readonly quiet?: Quiet;
  readonly problems?: readonly string[];
}

/** The sessions, or why there is no answer. */
export async function fetchSessions(paths: Paths): Promise<Listed | string> {
  const answered = await ask(paths, "/api/sessions");
  if (typeof answered === "string") return answered;
  return Array.isArray(answered.body.sessions)
    ? (answered.body as unknown as Listed)
    : "beckon answers with no list of sessions";
}

const maxListed = 5;

/** Why there is no one session of that name. */
export async function whichSession(paths: Paths, name: string): Promise<string> {
  const listed = await fetchSessions(paths);
  const ids = typeof listed === "string" ? [] : listed.sessions.map(({ sessionId }) => sessionId);
  const alike = ids.filter((id) => id.startsWith(name)).slice(0, maxListed);
  return alike.length > 1
    ? `several sessions begin with ${name}: ${alike.join(", ")}`
    : `no session begins with ${name}`;
}
