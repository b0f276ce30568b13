/** How the command line talks to the running beckon. */
import { readFileSync } from "node:fs";
import type { Quiet } from "../core/config/quiet.ts";
import type { SessionSnapshot } from "../core/view/snapshot.ts";
import type { Paths } from "../storage/paths.ts";
import { readEndpoint } from "../system/endpoint.ts";
import { quote } from "./args.ts";
import { stripControls } from "./output.ts";

const defaultTimeoutMs = 2_000;
/** The body of these has an error message for the user. */
const refusals: ReadonlySet<number> = new Set([400, 403, 404, 409]);
export const notRunning = "beckon is not running. Start it with: beckon start";

const isTimeout = (error: unknown): boolean => error instanceof Error && error.name === "TimeoutError";

export interface ApiResponse {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Sends a POST if there is a body, otherwise a GET. Returns a string if beckon cannot be reached: why, and what to do. */
export async function callApi(
  paths: Paths,
  path: string,
  { body, timeoutMs = defaultTimeoutMs }: { body?: object; timeoutMs?: number } = {},
): Promise<ApiResponse | string> {
  const endpoint = readEndpoint(paths);
  if (!endpoint) return notRunning;
  const noAnswer = (why: string) =>
    `beckon (pid ${endpoint.pid}) does not answer: ${why}. Its log: ${paths.log}`;
  try {
    const authorization = readFileSync(paths.authHeader, "utf8")
      .trim()
      .replace(/^Authorization: /, "");
    const post = body && { method: "POST", body: JSON.stringify(body) };
    const response = await fetch(endpoint.url + path, {
      headers: { authorization, ...(post ? { "content-type": "application/json" } : {}) },
      signal: AbortSignal.timeout(timeoutMs),
      proxy: "",
      ...post,
    } as RequestInit);
    const text = await response.text();
    const json = text.startsWith("{") ? JSON.parse(text) : {};
    const isAnswer = response.ok || (refusals.has(response.status) && typeof json.error === "string");
    return isAnswer
      ? { status: response.status, body: json }
      : noAnswer(`${endpoint.url} returned ${response.status}`);
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string };
    if (code === "ECONNREFUSED" || code === "ConnectionRefused") return notRunning;
    return noAnswer(isTimeout(error) ? `waited ${timeoutMs / 1_000} s` : message.replace(/\.$/, ""));
  }
}

export interface SessionsResponse {
  readonly sessions: readonly SessionSnapshot[];
  readonly quiet?: Quiet;
  readonly problems?: readonly string[];
}

/** Returns a string if there is no answer: why, and what to do. */
export async function fetchSessions(paths: Paths): Promise<SessionsResponse | string> {
  const response = await callApi(paths, "/api/sessions");
  if (typeof response === "string") return response;
  return Array.isArray(response.body.sessions)
    ? (response.body as unknown as SessionsResponse)
    : "beckon answered without a list of sessions. Restart it with: beckon stop && beckon start";
}

const maxListed = 5;

/** For the API's 404: no session has that name, or several do. */
export function noSessionError(name: string, { body }: ApiResponse): Error {
  const candidates = Array.isArray(body.candidates)
    ? (body.candidates as readonly Partial<SessionSnapshot>[])
    : [];
  if (candidates.length < 2)
    return new Error(`no session has the id or project ${quote(name)}. See your sessions: beckon status`);
  const rows = candidates.slice(0, maxListed).map(({ sessionId = "", project, title, state }) => {
    const about = [project, title, state === "completed" ? "ended" : null].filter(Boolean).join(" · ");
    return stripControls(`  ${sessionId}  ${about}`).trimEnd();
  });
  const hidden = candidates.length - rows.length;
  return new Error(
    [
      `${candidates.length} sessions match ${quote(name)}. Use the id of one of them:`,
      ...rows,
      ...(hidden > 0 ? [`  and ${hidden} more: beckon status`] : []),
    ].join("\n"),
  );
}
