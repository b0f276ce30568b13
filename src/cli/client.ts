/** How the command line talks to the running beckon. */
import { readFileSync } from "node:fs";
import type { Quiet } from "../core/config/quiet.ts";
import type { SessionSnapshot } from "../core/view/snapshot.ts";
import type { Paths } from "../storage/paths.ts";
import { readEndpoint } from "../system/endpoint.ts";
import { quote } from "./args.ts";
import { stripControls } from "./output.ts";

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

/** Why no session, or not just one, has that name. `response` is the API's 404. */
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
  const left = candidates.length - rows.length;
  return new Error(
    [
      `${candidates.length} sessions match ${quote(name)}. Use the id of one of them:`,
      ...rows,
      ...(left > 0 ? [`  and ${left} more: beckon status`] : []),
    ].join("\n"),
  );
}
