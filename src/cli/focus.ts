/** `beckon focus`: to a session's own terminal. */
import type { FocusOutcome } from "../ports.ts";
import { paths } from "../storage/paths.ts";
import { quoted, wrongCall } from "./args.ts";
import { ask, whichSession } from "./client.ts";
import { print } from "./print.ts";
import { clean } from "./text.ts";

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
  const answered = await ask(paths(), path, { given: {}, waitMs });
  if (typeof answered === "string") throw new Error(answered);
  if (answered.status === 404) {
    throw new Error(
      `${name === "--next" ? "nothing needs you now" : await whichSession(paths(), name)}. See: beckon status`,
    );
  }
  const { result, by, why } = answered.body as unknown as FocusOutcome;
  if (result === "impossible") throw new Error(clean(`not possible: ${why}`));
  print(clean(result === "exact" ? `exact (${by})` : `window only (${by}): ${why}`).concat("\n"));
  return 0;
}
