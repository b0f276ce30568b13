/** GNU screen: selects the window, and finds the terminal that shows it by the ttys that the server has open. */
import { locateClient, matchProcess } from "./lineage.ts";
import { findProcesses, type Plan, type ProcessInfo, readTtys, run } from "./plan.ts";
import { impossible, notVisible, type PaneLocation, type Terminal } from "./terminal.ts";
import { digits, readVariable } from "./variables.ts";

// STY is pid.tty.host or pid.name.
const variables = { STY: /^\d{1,10}\.[\w.@+-]{1,100}$/, WINDOW: digits(5) };
const processes = ["screen"];
const isScreen = matchProcess(processes);

export const screen: Terminal = {
  name: "screen",
  kind: "multiplexer",
  processes,
  variables,
  ownVariables: ["STY"],
  commands: ["screen"],
  reach: "pane",
  isTested: true,
  *focus(location) {
    const session = readVariable(location.env, variables, "STY");
    const window = readVariable(location.env, variables, "WINDOW");
    const server = location.lineage.find(isScreen);
    const isOwnSession = server === undefined || session?.startsWith(`${server.pid}.`);
    if (session === null || window === null || !isOwnSession) {
      return impossible("it runs in screen, but screen does not say in which window");
    }
    const [client, ...others] = yield* findClients(location);
    if (client === undefined) {
      return impossible(
        `no terminal is attached to the screen session ${session}: run \`screen -r ${session}\` in one`,
      );
    }
    const selected = yield* run(["screen", "-S", session, "-X", "select", window]);
    if (selected.code !== 0) return impossible("screen could not select its window");
    const limit =
      others.length === 0 ? null : "several terminals show this screen session: this is one of them";
    return { kind: "inside", location: yield* locateClient(client, location), limit };
  },
  // Asking screen which window it shows takes a second, and prints the answer in the user's terminal.
  *checkVisibility(location) {
    const locations: PaneLocation[] = [];
    for (const client of yield* findClients(location)) locations.push(yield* locateClient(client, location));
    return locations.length === 0 ? notVisible : { kind: "inside", locations, isCertain: false };
  },
};

/** The server has the terminals open that show it, and a `screen` process runs on each. */
function* findClients(location: PaneLocation): Plan<readonly ProcessInfo[]> {
  const server = location.lineage.find(isScreen);
  if (server === undefined) return [];
  const ttys = yield* readTtys(server.pid);
  return (yield* findProcesses("screen")).filter(
    ({ pid, tty }) => pid !== server.pid && tty !== null && tty !== location.tty && ttys.includes(tty),
  );
}
