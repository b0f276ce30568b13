/** `beckon focus`: to a session's own terminal. */
import { resolvePaths } from "../storage/paths.ts";
import { quoted, wrongCall } from "./args.ts";
import { callApi, whichSession } from "./client.ts";
import { forTerminal } from "./for-terminal.ts";
import { print } from "./print.ts";

/** A terminal may take its time; a person will not wait longer. */
const waitMs = 8_000;

export async function focus(args: string[]): Promise<number> {
  const [name, ...more] = args;
  const flag = args.find((arg) => arg.startsWith("-") && arg !== "--next");
  if (flag !== undefined) throw wrongCall(`unknown flag ${quoted(flag)}: focus takes --next`);
  if (name === undefined || more.length > 0) {
    throw wrongCall("focus takes one session (its id, or the first letters of it), or --next");
  }
  const path = `/api/sessions/${encodeURIComponent(name)}/focus`;
  const answered = await callApi(resolvePaths(), path, { given: {}, waitMs });
  if (typeof answered === "string") throw new Error(answered);
  if (answered.status === 404) {
    throw new Error(
      `${name === "--next" ? "nothing needs you now" : await whichSession(resolvePaths(), name)}. See: beckon status`,
    );
  }
  const { result, says } = answered.body as { readonly result?: unknown; readonly says?: unknown };
  const told = typeof says === "string" ? says : `The beckon that runs is an older one, and says: ${result}`;
  if (result === "impossible") throw new Error(told);
  print(`${forTerminal(told)}\n`);
  return 0;
}
