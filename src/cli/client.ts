/** How the command line talks to the running beckon. */
import type { Quiet } from "../core/config/quiet.ts";
import { limits } from "../core/limits.ts";
import type { SessionView } from "../core/view/session-view.ts";
import { readOwnFile } from "../storage/files.ts";
import type { Paths } from "../storage/paths.ts";
import { type Endpoint, readEndpoint } from "../system/endpoint.ts";
import { requestLoopback } from "../system/loopback.ts";
import { startListenerCheck } from "../system/sockets.ts";

const defaultTimeoutMs = 2_000;
/** The body of these has an error message for the user. */
const refusals: ReadonlySet<number> = new Set([400, 403, 404, 409]);
export const notRunning = "beckon is not running. Start it with: beckon start";

export interface ApiResponse {
  readonly status: number;
  /** Empty if it is not a JSON object. */
  readonly body: Readonly<Record<string, unknown>>;
}

export interface ApiOptions {
  /** Sent as a POST. Without it, the request is a GET. */
  readonly body?: object;
  readonly timeoutMs?: number;
}

/** Throws if the request fails. */
export async function fetchApi(
  { authHeader }: Pick<Paths, "authHeader">,
  { url }: Pick<Endpoint, "url">,
  path: string,
  { body, timeoutMs = defaultTimeoutMs }: ApiOptions = {},
): Promise<ApiResponse> {
  await checkListener(url);
  const authorization = readToken(authHeader);
  const { status, text } = await requestLoopback(url + path, { headers: { authorization }, body, timeoutMs });
  return { status, body: text.startsWith("{") ? JSON.parse(text) : {} };
}

/** Throws before the token goes to another user's program, which can have the port of an app that hangs. */
export async function checkListener(url: string): Promise<void> {
  if (!(await startListenerCheck()(new URL(url))))
    throw new Error(`another user's program listens at ${url}`);
}

/** Empty if there is no file: the app's 401 then says more than a missing file. */
export function readToken(path: string): string {
  try {
    return readOwnFile(path, limits.maxSmallFileBytes)
      .trim()
      .replace(/^Authorization: /, "");
  } catch {
    return "";
  }
}

/** Whether nothing listens on the port. */
export function isRefusedConnection(error: unknown): boolean {
  const { code } = Object(error) as { code?: unknown };
  return code === "ECONNREFUSED" || code === "ConnectionRefused";
}

/** "waited 2 s", or the error's own message. */
export function describeFetchError(error: unknown, timeoutMs = defaultTimeoutMs): string {
  if (error instanceof Error && error.name === "TimeoutError") return `waited ${timeoutMs / 1_000} s`;
  return String(Object(error).message ?? error).replace(/\.$/, "");
}

/** Returns a string if beckon cannot be reached: why, and what to do. */
export async function callApi(
  paths: Paths,
  path: string,
  options: ApiOptions = {},
): Promise<ApiResponse | string> {
  const endpoint = readEndpoint(paths);
  if (!endpoint) return notRunning;
  const noAnswer = (why: string) =>
    `beckon (pid ${endpoint.pid}) does not answer: ${why}. Its log: ${paths.log}`;
  try {
    const response = await fetchApi(paths, endpoint, path, options);
    const isOk = response.status >= 200 && response.status < 300;
    const isAnswer = isOk || (refusals.has(response.status) && typeof response.body.error === "string");
    return isAnswer ? response : noAnswer(`${endpoint.url} returned ${response.status}`);
  } catch (error) {
    return isRefusedConnection(error) ? notRunning : noAnswer(describeFetchError(error, options.timeoutMs));
  }
}

/** A list that the running app reports. Resolves with null if beckon is not running, or does not answer. */
export async function fetchList<Item>(
  paths: Paths,
  path: string,
  name: string,
): Promise<readonly Item[] | null> {
  const response = await callApi(paths, path);
  const list = typeof response === "string" ? null : response.body[name];
  return Array.isArray(list) ? list : null;
}

export interface SessionsResponse {
  readonly sessions: readonly SessionView[];
  readonly quiet?: Quiet;
  readonly problems?: readonly string[];
  /** Where the work guard is on: "strict in /home/me/project". Absent if it is off. */
  readonly workGuard?: readonly string[];
}

/** Returns a string if there is no answer: why, and what to do. */
export async function fetchSessions(
  paths: Paths,
  options: ApiOptions = {},
): Promise<SessionsResponse | string> {
  const response = await callApi(paths, "/api/sessions", options);
  if (typeof response === "string") return response;
  return Array.isArray(response.body.sessions)
    ? (response.body as unknown as SessionsResponse)
    : "beckon answered without a list of sessions. Restart it with: beckon restart";
}
