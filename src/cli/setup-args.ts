/** The arguments that `--install` and `--uninstall` share: which agents, which scope. */
import { type Agent, type Scope, scopes } from "../agents/agent.ts";
import { type ParsedArguments, quote, usageError } from "./args.ts";
import type { whose } from "./commands/setup.ts";

export interface Selection {
  /** null if none was named. */
  readonly scope: Scope | null;
  readonly selected: readonly string[] | null;
}

export function readSelection(
  { "--scope": scope, "--agent": selected }: ParsedArguments<typeof whose>["values"],
  table: readonly Agent[],
): Selection {
  if (selected) checkAgents(selected, table);
  return { scope: scope === undefined ? null : parseScope(scope), selected: selected ?? null };
}

function parseScope(name: string): Scope {
  const scope = scopes.find((known) => known === name);
  if (!scope) throw usageError(`--scope takes ${scopes.join(", ")}, but not ${quote(name)}`);
  return scope;
}

function checkAgents(names: readonly string[], table: readonly Agent[]): void {
  const known = table.map(({ id }) => id);
  if (names.length === 0) throw usageError(`--agent needs a name: ${known.join(", ")}`);
  const wrong = names.find((name) => !known.includes(name));
  if (wrong !== undefined)
    throw usageError(`beckon does not know the agent ${quote(wrong)}: it knows ${known.join(", ")}`);
}
