/**
 * A network for each machine of a fleet, and one in the middle for its server: Linux namespaces on a bridge, which end with the test.
 * What runs in one of them sees this machine's files.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { waitUntil } from "../../wait-until.ts";

export const networkNeeds = ["linux", "root", "unshare", "nsenter", "ip"] as const;

export interface MachineNetwork {
  /** Put before a command, it runs there. */
  readonly enter: readonly string[];
  /** Everything that is on its way to it or from it is lost from now on, and nobody is told. */
  cut(): Promise<void>;
  mend(): Promise<void>;
  /** A socket of this file system behind which is the port that the file's JSON names as `port`. */
  open(socket: string, endpoint: string): Promise<void>;
}

const bridge = "hub";
const prefix = "10.213.251";
/** Where the server is. */
export const hubAddress = `${prefix}.1`;
const door = join(import.meta.dir, "../../fixtures/door.ts");

async function must(command: readonly string[]): Promise<void> {
  const child = Bun.spawn([...command], { stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")}: ${await child.stderr.text()}`);
}

export async function openNetworks() {
  const holders: Bun.Subprocess<"pipe", "pipe", "inherit">[] = [];
  const doors: Bun.Subprocess[] = [];

  /** Ends with the test, and all that is in it with it. */
  async function unshareNetwork(): Promise<{ readonly pid: string; readonly enter: readonly string[] }> {
    const child = Bun.spawn(
      ["unshare", "--net", "sh", "-c", "ip link set lo up && echo ready && exec cat >/dev/null"],
      {
        stdin: "pipe",
        stdout: "pipe",
        stderr: "inherit",
      },
    );
    holders.push(child);
    await child.stdout.getReader().read();
    return { pid: String(child.pid), enter: ["nsenter", `--net=/proc/${child.pid}/ns/net`, "--"] };
  }

  const hub = await unshareNetwork();
  const inHub = (...command: string[]) => must([...hub.enter, ...command]);
  await inHub("ip", "link", "add", bridge, "type", "bridge");
  await inHub("ip", "address", "add", `${hubAddress}/24`, "dev", bridge);
  await inHub("ip", "link", "set", bridge, "up");

  return {
    enterHub: hub.enter,
    async add(): Promise<MachineNetwork> {
      const { pid, enter } = await unshareNetwork();
      const number = holders.length;
      const port = `port${number}`;
      const own = ["eth0", "netns", pid];
      await inHub("ip", "link", "add", port, "type", "veth", "peer", "name", ...own);
      await inHub("ip", "link", "set", port, "master", bridge, "up");
      await must([...enter, "ip", "address", "add", `${prefix}.${number}/24`, "dev", "eth0"]);
      await must([...enter, "ip", "link", "set", "eth0", "up"]);
      return {
        enter,
        cut: () => inHub("ip", "link", "set", port, "nomaster"),
        mend: () => inHub("ip", "link", "set", port, "master", bridge),
        async open(socket, endpoint) {
          doors.push(Bun.spawn([...enter, process.execPath, door, socket, endpoint], { stdin: "ignore" }));
          await waitUntil(() => existsSync(socket), 10_000);
        },
      };
    },
    async close(): Promise<void> {
      for (const child of doors) child.kill("SIGKILL");
      for (const child of holders) await child.stdin.end();
      await Promise.all(holders.map((child) => child.exited));
    },
  };
}

export type Networks = Awaited<ReturnType<typeof openNetworks>>;
