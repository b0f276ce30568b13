/** zellij (0.44 and newer): focuses the pane by its id. Its terminal is shown only if there is just one candidate. */
import { readVariable } from "../../core/terminals.ts";
import {
  findProcesses,
  type Plan,
  type ProcessInfo,
  readEnvironment,
  readLineage,
  run,
  type TerminalEnv,
} from "./plan.ts";
import {
  impossible,
  notVisible,
  type PaneLocation,
  type TerminalRecipe,
  visibilityUnknown,
} from "./recipe.ts";

interface ZellijPane {
  readonly session: string;
  readonly id: string;
}

function readPane({ env }: PaneLocation): ZellijPane | null {
  const session = readVariable(env, "ZELLIJ_SESSION_NAME");
  const id = readVariable(env, "ZELLIJ_PANE_ID");
  return session === null || id === null ? null : { session, id };
}

const zellijAction = (session: string, ...action: readonly string[]): readonly string[] => [
  ...["zellij", "--session", session, "action"],
  ...action,
];

export const zellij: TerminalRecipe = {
  *focus(location) {
    const pane = readPane(location);
    if (pane === null) return impossible("it runs in zellij, but zellij does not say in which pane");
    const client = yield* findClient(location, pane);
    if (client === "none") {
      const name = `'${pane.session}'`;
      return impossible(
        `no terminal is attached to the zellij session ${name}: run \`zellij attach ${name}\` in one`,
      );
    }
    const focused = yield* run(zellijAction(pane.session, "focus-pane-id", `terminal_${pane.id}`));
    if (client === "several") {
      return impossible("several terminals run zellij, and zellij does not say which one shows this session");
    }
    const limit =
      focused.code === 0 ? null : "this zellij cannot show a pane on request: update it to 0.44 or newer";
    return { kind: "inside", location: client, limit };
  },
  *checkVisibility(location) {
    const pane = readPane(location);
    if (pane === null) return visibilityUnknown;
    const client = yield* findClient(location, pane);
    if (client === "none") return notVisible;
    if (client === "several") return visibilityUnknown;
    const { code, stdout } = yield* run(zellijAction(pane.session, "list-clients"));
    const focusedPanes = parseClients(stdout);
    const isCertain = code === 0 && focusedPanes.length > 0;
    if (isCertain && !focusedPanes.includes(`terminal_${pane.id}`)) return notVisible;
    return { kind: "inside", locations: [client], isCertain };
  },
};

/** `CLIENT_ID ZELLIJ_PANE_ID RUNNING_COMMAND`, one client in each line. */
const parseClients = (text: string): string[] =>
  text.split("\n").flatMap((line) => /^\s*\d+\s+((?:terminal|plugin)_\d+)\b/.exec(line)?.[1] ?? []);

/** A client has a terminal, a server has none. With two clients, zellij does not say which of them shows this session. */
function* findClient(
  location: PaneLocation,
  { session }: ZellijPane,
): Plan<PaneLocation | "none" | "several"> {
  const ownPids = new Set(location.lineage.map(({ pid }) => pid));
  const clients: [ProcessInfo, TerminalEnv][] = [];
  for (const process of yield* findProcesses("zellij")) {
    if (process.tty === null || process.tty === location.tty || ownPids.has(process.pid)) continue;
    clients.push([process, (yield* readEnvironment(process.pid)) ?? {}]);
  }
  // A zellij that was started in a pane of this session shows another session.
  const outside = clients.filter(([, env]) => env.ZELLIJ_SESSION_NAME !== session);
  const [client, ...others] = outside;
  if (client === undefined) return "none";
  if (others.length > 0) return "several";
  const [process, env] = client;
  const lineage = yield* readLineage(process.pid);
  return { lineage: lineage.slice(1), tty: process.tty, env, title: location.title, cwd: location.cwd };
}
