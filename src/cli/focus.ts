/** `beckon focus`: to a session's own terminal. */
import { resolvePaths } from "../storage/paths.ts";
import { parseArguments, usageError } from "./args.ts";
import { callApi, noSessionError } from "./client.ts";
import { formatLine, print } from "./output.ts";

/** A terminal may take its time; a person will not wait longer. */
const waitMs = 8_000;

export async function focus(args: string[]): Promise<number> {
  const { flags, rest } = parseArguments(args, { command: "focus", flags: ["--next"], takesArguments: true });
  const [name, ...others] = flags.has("--next") ? ["--next", ...rest] : rest;
  if (name === undefined || others.length > 0)
    throw usageError("focus takes one session (its id, the start of it, or its project) or --next");
  const path = `/api/sessions/${encodeURIComponent(name)}/focus`;
  const answered = await callApi(resolvePaths(), path, { given: {}, waitMs });
  if (typeof answered === "string") throw new Error(answered);
  if (answered.status === 404)
    throw flags.has("--next")
      ? new Error("no session needs you now. See your sessions: beckon status")
      : noSessionError(name, answered);
  const { result, says } = answered.body as { readonly result?: unknown; readonly says?: unknown };
  const told = typeof says === "string" ? says : `The beckon that runs is an older one, and says: ${result}`;
  if (result === "impossible") throw new Error(told);
  print(`${formatLine(told)}\n`);
  return 0;
}
