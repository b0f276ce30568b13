/** Sessions over SSH: one on another machine, shown by an `ssh` here, and one here that a user logged in to. */
import { matchProcess } from "./lineage.ts";
import {
  findConnectionOwner,
  immediate,
  type Plan,
  readEnvironment,
  readLineage,
  type TerminalEnv,
} from "./plan.ts";
import {
  impossible,
  type LocateResult,
  type Terminal,
  type TerminalTarget,
  visibilityUnknown,
} from "./terminal.ts";
import { commonVariables, readVariable } from "./variables.ts";

/** Addresses and ports of both ends: `client port server port`. */
export const connectionShape = /^[0-9A-Fa-f.:%\w]{2,60} \d{1,5} [0-9A-Fa-f.:%\w]{2,60} \d{1,5}$/;

const variables = { SSH_CONNECTION: connectionShape };

export const ssh: Terminal = {
  name: "ssh",
  kind: "login",
  processes: ["sshd", "sshd-session", "mosh-server"],
  variables,
  reach: "window",
  remark: "the window on this machine that runs `ssh`, if it can be found",
  isTested: false,
  focus({ env }) {
    const login = readConnection(env);
    const result = impossible(`its terminal is an SSH login${from(env)}: go to that machine`);
    return immediate(login === null ? result : { ...result, login });
  },
  checkVisibility: () => immediate(visibilityUnknown),
};

/** Addresses and ports of both ends, as the login sets them: `client port server port`. */
export const readConnection = (env: TerminalEnv): string | null =>
  readVariable(env, variables, "SSH_CONNECTION");

const isSshClient = matchProcess(["ssh"]);

/** The terminal here that runs `ssh` to the session's machine, found by the two ports that both ends know. */
export function* findSshTerminal({
  place,
  cwd,
  title,
  isSelectedThere = false,
}: TerminalTarget): Plan<LocateResult> {
  const connection = readConnection(place.env);
  const distribution = readVariable(place.env, commonVariables, "WSL_DISTRO_NAME");
  if (connection === null) {
    const reason =
      distribution === null
        ? "it runs in a container or on another machine: its terminal cannot be seen from here"
        : `it runs in WSL (${distribution}), and Windows does not say which window shows it`;
    return { kind: "unknown", reason };
  }
  const [, localPort = "", , remotePort = ""] = connection.split(" ");
  const pid = yield* findConnectionOwner(Number(localPort), Number(remotePort));
  const lineage = pid === null ? [] : yield* readLineage(pid);
  const [client, ...parents] = lineage;
  if (pid === null || client === undefined || !isSshClient(client)) {
    const reason = `it runs on another machine, and the SSH login${from(place.env)} was not made from this one`;
    return { kind: "unknown", reason };
  }
  return {
    kind: "known",
    location: { lineage: parents, tty: client.tty, env: (yield* readEnvironment(pid)) ?? {}, title, cwd },
    by: ["ssh"],
    limit: isSelectedThere
      ? null
      : "it runs on another machine: this is the terminal with the SSH login to it",
  };
}

function from(env: TerminalEnv): string {
  const address = readConnection(env)?.split(" ")[0];
  return address === undefined ? "" : ` from ${address}`;
}
