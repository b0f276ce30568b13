/** `beckon focus`: to a session's own terminal. */
import type { FocusOutcome } from "../ports.ts";
import { paths } from "../storage/paths.ts";
import { wrongCall } from "./args.ts";
import { ask, fetchSessions } from "./client.ts";
import { print } from "./print.ts";
import { clean } from "./text.ts";

/** A terminal may take its time; a person will not wait longer. */
const waitMs = 8_000;
const maxListed = 5;

export async function focus(args: string[]): Promise<number> {
  const [name, ...more] = args;
  const isFlag = name?.startsWith("-") && name !== "--next";
  if (name === undefined || isFlag || more.length > 0) {
    throw wrongCall("focus takes one session (its id, or the first letters of it), or --next");
  }
  const path = `/api/sessions/${encodeURIComponent(name)}/focus`;
  const answered = await ask(paths(), path, { given: {}, waitMs });
  if (typeof answered === "string") throw new Error(answered);
  if (answered.status === 404) {
    throw new Error(`${await whyNot(name)}. See: beckon status`);
  }
  const { result, by, why } = answered.body as unknown as FocusOutcome;
  if (result === "impossible") throw new Error(clean(`not possible: ${why}`));
  print(clean(result === "exact" ? `exact (${by})` : `window only (${by}): ${why}`).concat("\n"));
  return 0;
}

async function whyNot(name: string): Promise<string> {
  if (name === "--next") return "nothing needs you now";
  const listed = await fetchSessions(paths());
  const ids = typeof listed === "string" ? [] : listed.sessions.map(({ sessionId }) => sessionId);
  const alike = ids.filter((id) => id.startsWith(name)).slice(0, maxListed);
  return alike.length > 1
    ? `several sessions begin with ${name}: ${alike.join(", ")}`
    : `no session begins with ${name}`;
}
