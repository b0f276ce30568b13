/** `beckon focus`: goes to the terminal of a session. */
import { viewKeyOf } from "../core/session/session-ref.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import { parseArguments, usageError } from "./args.ts";
import { callApi } from "./client.ts";
import { focusCommand } from "./commands/focus.ts";
import { fetchSession } from "./find-session.ts";
import { printLines } from "./output.ts";

/** Some terminals are slow to answer. */
const timeoutMs = 8_000;

export async function focus(args: string[]): Promise<number> {
  const { flags, rest } = parseArguments(args, focusCommand);
  const isNext = flags.has("--next");
  const [name, ...others] = isNext ? [nextSession, ...rest] : rest;
  if (name === undefined || others.length > 0)
    throw usageError(
      "focus takes one session (its id, its first 4 characters or more, or its project) or --next",
    );
  const paths = resolvePaths();
  const key = isNext ? nextSession : viewKeyOf(await fetchSession(paths, name));
  printLines([await goToSession(paths, key)]);
  return 0;
}

/** In place of a session: the one that has waited longest. */
const nextSession = "--next";

/** Returns how far it got, for the user. Throws if beckon cannot take the user there. */
export async function goToSession(paths: Paths, key: string): Promise<string> {
  const path = `/api/sessions/${encodeURIComponent(key)}/focus`;
  const response = await callApi(paths, path, { body: {}, timeoutMs });
  if (typeof response === "string") throw new Error(response);
  if (response.status === 404)
    throw new Error(
      `${key === nextSession ? "no session needs you now" : "this session is gone"}. See your sessions: beckon status`,
    );
  const { result, says } = response.body as { readonly result?: unknown; readonly says?: unknown };
  const text = typeof says === "string" ? says : `An older beckon is running. It answered: ${String(result)}`;
  if (result === "impossible") throw new Error(text);
  return text;
}
