/** What `beckon --install` was called with. */
import { type Scope, scopes } from "../agents/claude/setup/scope.ts";
import { quote, usageError } from "./args.ts";

export interface InstallArgs {
  readonly isDryRun: boolean;
  readonly scope: Scope;
  /** null: as it makes sense here. */
  readonly login: boolean | null;
}

/** The agents whose hooks beckon can register. */
const agents: readonly string[] = ["claude"];
const flags = "--dry-run, --agent NAME, --scope user|project|local, --login and --no-login";

export function readInstallArgs(args: readonly string[]): InstallArgs {
  const given = { isDryRun: false, scope: "user" as Scope, login: null as boolean | null };
  const rest = args.flatMap((arg) => {
    const [, flag, value] = /^(--agent|--scope)=(.*)$/s.exec(arg) ?? [];
    return flag === undefined ? [arg] : [flag, value ?? ""];
  });
  while (rest.length > 0) {
    const arg = rest.shift() ?? "";
    if (arg === "--dry-run") given.isDryRun = true;
    else if (arg === "--scope") given.scope = scopeOf(rest.shift());
    else if (arg === "--agent") checkAgents(rest);
    else if (arg === "--login" || arg === "--no-login") given.login = loginOf(arg, given.login);
    else throw usageError(`--install takes ${flags}, but not ${quote(arg)}`);
  }
  return given;
}

function scopeOf(name: string | undefined): Scope {
  const scope = scopes.find((one) => one === name);
  if (!scope) throw usageError(`--scope takes ${scopes.join(", ")}${name ? `, but not ${quote(name)}` : ""}`);
  return scope;
}

/** All names up to the next flag. */
function checkAgents(rest: string[]): void {
  let count = 0;
  while (rest[0] !== undefined && !rest[0].startsWith("-")) {
    const name = rest.shift() ?? "";
    if (!agents.includes(name)) {
      throw usageError(`beckon does not know the agent ${quote(name)}: so far only ${agents.join(", ")}`);
    }
    count++;
  }
  if (count === 0) throw usageError(`--agent takes a name: ${agents.join(", ")}`);
}

function loginOf(arg: string, before: boolean | null): boolean {
  const login = arg === "--login";
  if (before !== null && before !== login) throw usageError("--login and --no-login exclude each other");
  return login;
}
