/**
 * zellij (0.44 and newer): focuses the pane by its id (https://zellij.dev/documentation/cli-recipes.html). Its terminal is shown only if
 * there is just one candidate.
 */
import { locateClient } from "./lineage.ts";
import { ask, findProcesses, type Plan, run } from "./plan.ts";
import { impossible, notVisible, type PaneLocation, type Terminal, visibilityUnknown } from "./terminal.ts";
import { digits, readVariable } from "./variables.ts";

const variables = {
  ZELLIJ: digits(9),
  ZELLIJ_SESSION_NAME: /^[\p{L}\p{N}_.][\p{L}\p{N}_. -]{0,99}$/u,
  ZELLIJ_PANE_ID: digits(9),
};

interface ZellijPane {
  readonly session: string;
  readonly id: string;
}

function readPane({ env }: PaneLocation): ZellijPane | null {
  const session = readVariable(env, variables, "ZELLIJ_SESSION_NAME");
  const id = readVariable(env, variables, "ZELLIJ_PANE_ID");
  return session === null || id === null ? null : { session, id };
}

const zellijAction = (session: string, ...action: readonly string[]): readonly string[] => [
  ...["zellij", "--session", session, "action"],
  ...action,
];

export const zellij: Terminal = {
  name: "zellij",
  kind: "multiplexer",
  processes: ["zellij"],
  variables,
  ownVariables: ["ZELLIJ_PANE_ID", "ZELLIJ_SESSION_NAME", "ZELLIJ"],
  sessionVariable: "ZELLIJ_PANE_ID",
  paneLabel: "zellij pane ",
  commands: ["zellij"],
  reach: "pane",
  needs: "zellij 0.44 or newer",
  isTested: false,
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
    const { code, stdout } = yield* ask(zellijAction(pane.session, "list-clients"));
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
  const clients: PaneLocation[] = [];
  for (const client of yield* findProcesses("zellij")) {
    if (client.tty === null || client.tty === location.tty || ownPids.has(client.pid)) continue;
    clients.push(yield* locateClient(client, location));
  }
  // A zellij that was started in a pane of this session shows another session.
  const [client, ...others] = clients.filter(({ env }) => env.ZELLIJ_SESSION_NAME !== session);
  if (client === undefined) return "none";
  return others.length > 0 ? "several" : client;
}
