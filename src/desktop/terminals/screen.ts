/** GNU screen: selects the window, and finds the terminal that shows it by what the server has open. */
import { environment, lineage, type Plan, type Process, processesNamed, run, ttysOf } from "./plan.ts";
import { hidden, named, type PaneLocation, type Reached, type TerminalRow } from "./row.ts";
import { claimed } from "./shapes.ts";

const isScreen = named("screen");
/** The server shows itself in capitals. */
const is = (process: Process): boolean => process.name === "SCREEN" || isScreen(process);

const impossible = (why: string): Reached => ({ kind: "impossible", why });

export const row: TerminalRow = {
  name: "screen",
  proven: "run here",
  is,
  says: (env) => claimed(env, "STY") !== null,
  *focus(spot) {
    const session = claimed(spot.env, "STY");
    const window = claimed(spot.env, "WINDOW");
    const server = spot.lineage.find(is);
    const isOurs = server === undefined || session?.startsWith(`${server.pid}.`);
    if (session === null || window === null || !isOurs) {
      return impossible("it runs in screen, which does not say in which window");
    }
    const [client, ...others] = yield* clientsOf(spot);
    if (client === undefined) {
      return impossible(
        `the screen session ${session} has no terminal attached: run \`screen -r ${session}\` in one`,
      );
    }
    const ran = yield* run(["screen", "-S", session, "-X", "select", window]);
    if (ran.code !== 0) return impossible("screen could not select its window");
    const outer = yield* spotOf(client, spot);
    if (others.length === 0) return { kind: "inside", spot: outer };
    return {
      kind: "inside",
      spot: outer,
      why: "several terminals show this screen session: this is one of them",
    };
  },
  // To ask screen which window it shows takes it a second, and shows its answer to the person.
  *look(spot) {
    const spots: PaneLocation[] = [];
    for (const client of yield* clientsOf(spot)) spots.push(yield* spotOf(client, spot));
    return spots.length === 0 ? hidden : { kind: "inside", spots, sure: false };
  },
};

/** The server has the terminals open that show it, and a `screen` runs on each. */
function* clientsOf(spot: PaneLocation): Plan<readonly Process[]> {
  const server = spot.lineage.find(is);
  if (server === undefined) return [];
  const shown = yield* ttysOf(server.pid);
  return (yield* processesNamed("screen")).filter(
    ({ pid, tty }) => pid !== server.pid && tty !== null && tty !== spot.tty && shown.includes(tty),
  );
}

function* spotOf(client: Process, { title, cwd }: PaneLocation): Plan<PaneLocation> {
  const parents = yield* lineage(client.pid);
  const env = (yield* environment(client.pid)) ?? {};
  return { lineage: parents.slice(1), tty: client.tty, env, title, cwd };
}
