/** The arguments that `--install` and `--uninstall` share: which agents, which scope. */
import { type Agent, type Scope, scopes } from "../agents/agent.ts";
import { parseArguments, quote, usageError } from "./args.ts";

export interface SetupArguments<Flag extends string> {
  readonly flags: ReadonlySet<Flag>;
  /** null if none was named. */
  readonly scope: Scope | null;
  readonly agents: readonly string[] | null;
}

export function parseSetupArguments<Flag extends string>(
  args: readonly string[],
  command: string,
  flags: readonly Flag[],
  table: readonly Agent[],
): SetupArguments<Flag> {
  const { agents, rest } = takeAgents(args, table);
  const parsed = parseArguments(rest, {
    command,
    flags,
    values: { "--scope": scopes.join("|"), "--agent": "NAME" },
  });
  const scope = parsed.values["--scope"];
  return { flags: parsed.flags, scope: scope === undefined ? null : parseScope(scope), agents };
}

function parseScope(name: string): Scope {
  const scope = scopes.find((known) => known === name);
  if (!scope) throw usageError(`--scope takes ${scopes.join(", ")}, but not ${quote(name)}`);
  return scope;
}

/** `--agent` takes all names up to the next option: `--agent claude codex`. */
function takeAgents(
  args: readonly string[],
  table: readonly Agent[],
): { readonly agents: readonly string[] | null; readonly rest: readonly string[] } {
  const known = table.map(({ id }) => id);
  const rest: string[] = [];
  let agents: string[] | null = null;
  let isTaking = false;
  for (const arg of args.flatMap((arg) => /^(--agent)=(.*)$/s.exec(arg)?.slice(1) ?? [arg])) {
    if (arg === "--agent") {
      agents ??= [];
      isTaking = true;
    } else if (isTaking && agents && !arg.startsWith("-")) {
      if (!known.includes(arg))
        throw usageError(`beckon does not know the agent ${quote(arg)}: it knows ${known.join(", ")}`);
      agents.push(arg);
    } else {
      isTaking = false;
      rest.push(arg);
    }
  }
  if (agents?.length === 0) throw usageError(`--agent needs a name: ${known.join(", ")}`);
  return { agents, rest };
}
