/** A session on another machine, or in a container: its own terminal is not here, but the `ssh` that shows it may be. */
import type { TerminalTarget } from "../../core/ports.ts";
import { connectionOwner, type Env, environment, just, lineage, type Plan } from "./plan.ts";
import { named, type PaneLocation, type TerminalRow, unknown } from "./row.ts";
import { claimed } from "./shapes.ts";

interface LocalEnd {
  readonly spot: PaneLocation;
  readonly by: readonly string[];
  readonly limit: string;
}

const isSsh = named("ssh");

/** By the connection's two ports, as both ends know them. A text: it is not to be found, and why. */
export function* localEndOf({ place, cwd, title }: TerminalTarget): Plan<LocalEnd | string> {
  const connection = claimed(place.env, "SSH_CONNECTION");
  const distribution = claimed(place.env, "WSL_DISTRO_NAME");
  if (connection === null && distribution !== null) {
    return `it runs in WSL (${distribution}), and Windows does not say which window shows it`;
  }
  if (connection === null) {
    return "it runs in a container or on another machine: its terminal cannot be seen from here";
  }
  const [, localPort = "", , remotePort = ""] = connection.split(" ");
  const pid = yield* connectionOwner(Number(localPort), Number(remotePort));
  const line = pid === null ? [] : yield* lineage(pid);
  const [ssh, ...parents] = line;
  if (pid === null || ssh === undefined || !isSsh(ssh)) {
    return `it runs on another machine, in an SSH login${from(place.env)} that was not made from this one`;
  }
  return {
    spot: { lineage: parents, tty: ssh.tty, env: (yield* environment(pid)) ?? {}, title, cwd },
    by: ["ssh"],
    limit: "it runs on another machine: this is the terminal with the SSH login to it",
  };
}

export const isLogin = named("sshd", "sshd-session", "mosh-server");

/** A session of this machine, that somebody sits at from elsewhere. */
export const row: TerminalRow = {
  name: "ssh",
  proven: "by documentation",
  is: isLogin,
  says: () => false,
  focus: ({ env }) =>
    just({ kind: "impossible", why: `its terminal is an SSH login${from(env)}: go to that machine` }),
  look: () => just(unknown),
};

const from = (env: Env): string => {
  const address = claimed(env, "SSH_CONNECTION")?.split(" ")[0];
  return address === undefined ? "" : ` from ${address}`;
};
