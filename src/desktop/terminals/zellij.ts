/** zellij (0.44 and later): focuses the pane by its id. Its client is found by elimination, never by a guess. */
import { environment, lineage, type Plan, type Process, processesNamed, run } from "./plan.ts";
import { hidden, named, type PaneLocation, type Reached, type TerminalRow, unknown } from "./row.ts";
import { claimed } from "./shapes.ts";

const isZellij = named("zellij");
const impossible = (why: string): Reached => ({ kind: "impossible", why });

interface Claim {
  readonly session: string;
  readonly pane: string;
}

function claimOf({ env }: PaneLocation): Claim | null {
  const session = claimed(env, "ZELLIJ_SESSION_NAME");
  const pane = claimed(env, "ZELLIJ_PANE_ID");
  return session === null || pane === null ? null : { session, pane };
}

const zellij = (session: string, ...action: readonly string[]): readonly string[] => [
  ...["zellij", "--session", session, "action"],
  ...action,
];

export const row: TerminalRow = {
  name: "zellij",
  proven: "by documentation",
  is: isZellij,
  says: (env) => claimed(env, "ZELLIJ_SESSION_NAME") !== null,
  *focus(spot) {
    const claim = claimOf(spot);
    if (claim === null) return impossible("it runs in zellij, which does not say in which pane");
    const client = yield* clientOf(spot, claim);
    if (client === "none") {
      const name = `'${claim.session}'`;
      return impossible(
        `the zellij session ${name} has no terminal attached: run \`zellij attach ${name}\` in one`,
      );
    }
    const ran = yield* run(zellij(claim.session, "focus-pane-id", `terminal_${claim.pane}`));
    const why =
      ran.code === 0 ? null : "this zellij cannot switch to a pane from outside: update it to 0.44 or later";
    if (client === "several") {
      return impossible(
        "several zellij sessions are open, and zellij does not say which terminal shows this one",
      );
    }
    return why === null ? { kind: "inside", spot: client } : { kind: "inside", spot: client, why };
  },
  *look(spot) {
    const claim = claimOf(spot);
    if (claim === null) return unknown;
    const client = yield* clientOf(spot, claim);
    if (client === "none") return hidden;
    if (client === "several") return unknown;
    const ran = yield* run(zellij(claim.session, "list-clients"));
    const shown = readShown(ran.stdout);
    const sure = ran.code === 0 && shown.length > 0;
    if (sure && !shown.includes(`terminal_${claim.pane}`)) return hidden;
    return { kind: "inside", spots: [client], sure };
  },
};

/** `CLIENT_ID ZELLIJ_PANE_ID RUNNING_COMMAND`, one client a line. */
const readShown = (text: string): string[] =>
  text.split("\n").flatMap((line) => /^\s*\d+\s+((?:terminal|plugin)_\d+)\b/.exec(line)?.[1] ?? []);

/** A client is on a terminal, a server is not. Two clients: zellij does not tell which of them shows this session. */
function* clientOf(spot: PaneLocation, { session }: Claim): Plan<PaneLocation | "none" | "several"> {
  const inside = new Set(spot.lineage.map(({ pid }) => pid));
  const clients: [Process, Readonly<Record<string, string>>][] = [];
  for (const process of yield* processesNamed("zellij")) {
    if (process.tty === null || process.tty === spot.tty || inside.has(process.pid)) continue;
    clients.push([process, (yield* environment(process.pid)) ?? {}]);
  }
  // A zellij started inside another's pane shows that one's sessions.
  const outside = clients.filter(([, env]) => env.ZELLIJ_SESSION_NAME !== session);
  const [client, ...others] = outside;
  if (client === undefined) return "none";
  if (others.length > 0) return "several";
  const parents = yield* lineage(client[0].pid);
  return { lineage: parents.slice(1), tty: client[0].tty, env: client[1], title: spot.title, cwd: spot.cwd };
}
