/** How the command line talks to the running beckon. */
import { readFileSync } from "node:fs";
import type { Quiet } from "../core/config/quiet.ts";
import type { SessionSnapshot } from "../core/view/snapshot.ts";
import type { Paths } from "../storage/paths.ts";
import { readEndpoint } from "../system/endpoint.ts";

const answerMs = 2_000;
/** Those whose words are for the person who asked. */
const told: ReadonlySet<number> = new Set([400, 403, 404, 409]);
export const notRunning = "beckon is not running. Start it with: beckon start";

const isTimeout = (error: unknown): boolean => error instanceof Error && error.name === "TimeoutError";

export interface ApiResponse {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What the running beckon answers, or why it does not. */
export async function callApi(
  paths: Paths,
  path: string,
  { given, waitMs = answerMs }: { given?: object; waitMs?: number } = {},
): Promise<ApiResponse | string> {
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

export interface SessionsResponse {
  readonly sessions: readonly SessionSnapshot[];
  readonly quiet?: Quiet;
  readonly problems?: readonly string[];
}

/** The sessions, or why there is no answer. */
export async function fetchSessions(paths: Paths): Promise<SessionsResponse | string> {
  const answered = await callApi(paths, "/api/sessions");
  if (typeof answered === "string") return answered;
  return Array.isArray(answered.body.sessions)
    ? (answered.body as unknown as SessionsResponse)
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
