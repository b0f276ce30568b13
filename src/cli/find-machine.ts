/** The error for a machine that a user names and that is not there. */
import { findClosest } from "../core/text/closest.ts";
import { formatList } from "../core/text/words.ts";
import { quote, usageError } from "./args.ts";

/** `known`: the names that there are. */
export function createNoMachineError(name: string, known: readonly string[]): Error {
  if (known.length === 0)
    return usageError(`no machine ${quote(name)}: there is none. Add one: beckon machine add HOST`);
  const closest = findClosest(name, known);
  const hint = closest === null ? `there is ${formatList(known)}` : `did you mean ${closest}?`;
  return usageError(`no machine ${quote(name)}: ${hint}`);
}
