/**
 * Machines on a network of their own: each has its name, its users, its processes and a real sshd, and is reached with ssh. They are
 * Linux namespaces on one bridge, and end with the test.
 */
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import {
  home,
  type Namespace,
  openNamespace,
  type RunResult,
  type Signal,
  type Variables,
} from "../agent/namespace.ts";
import { waitUntil } from "../wait-until.ts";

/** Who logs in there: not root. */
export const user = { name: "dev", id: 1001 };
const path = "/usr/local/bin:/usr/bin:/bin";
const userEnv: Variables = { PATH: `${home}/.local/bin:${home}/bin:${path}`, HOME: home, LANG: "C.UTF-8" };

export const labNeeds = ["linux", "root", "unshare", "nsenter", "ip", "ssh", "ssh-keygen", "tmux"] as const;

export interface Host {
  readonly name: string;
  readonly address: string;
  readonly space: Namespace;
  /** Path of the user's home from outside. */
  readonly folder: string;
  /** Gives files and folders of the home to the user, by their paths in it. */
  own(...names: readonly string[]): void;
  /** Runs a program as the user, until it exits. */
  run(command: readonly string[], env?: Variables): Promise<RunResult>;
  /** Starts a program as the user. */
  start(command: readonly string[], env?: Variables): ReturnType<Namespace["start"]>;
  /** Everything that is on its way to it or from it is lost from now on. */
  cutCable(): Promise<void>;
  mendCable(): Promise<void>;
  /** Whether its sshd lets the user log in. */
  allowLogin(isAllowed: boolean): void;
  /** As if it were off, but it says so at once. */
  stopSshd(): Promise<void>;
  /** Its sshd has another key from now on, as after a new installation. */
  changeHostKey(): Promise<void>;
  close(): Promise<void>;
}

export interface Lab {
  /** A folder to put first in PATH: its `ssh` knows the machines by their names. */
  readonly bin: string;
  /** Opens a machine. `files` are mounted in the user's home, by their paths in it. */
  openHost(name: string, files?: Readonly<Record<string, string>>): Promise<Host>;
  /** Runs `ssh NAME COMMAND` from this machine. */
  ssh(name: string, command: string): Promise<RunResult>;
  close(): Promise<void>;
}

async function run(command: readonly string[]): Promise<RunResult> {
  const child = Bun.spawn([...command], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { stdout, stderr, code: await child.exited };
}

async function must(...command: readonly string[]): Promise<void> {
  const { code, stderr } = await run(command);
  if (code !== 0) throw new Error(`${command.join(" ")}: ${stderr}`);
}

/** Makes the folder and those above it, each the user's own. */
function makeOwnFolder(top: string, path: string): void {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  for (let depth = 0; depth <= parts.length; depth++) {
    const folder = join(top, ...parts.slice(0, depth));
    mkdirSync(folder, { recursive: true });
    chownSync(folder, user.id, user.id);
  }
}

/** Two tests that run at the same time have a network each. */
function chooseNetwork() {
  const number = 1 + (process.pid % 250);
  const prefix = `10.213.${number}`;
  return { bridge: `beckon${number}`, prefix, own: `${prefix}.1` };
}

export async function openLab(): Promise<Lab> {
  const folder = mkdtempSync("/tmp/beckon-lab-");
  const { bridge, prefix, own } = chooseNetwork();
  const hosts = new Map<string, Host>();
  const key = join(folder, "key");
  const bin = join(folder, "bin");
  const config = join(folder, "ssh_config");
  let count = 0;

  await run(["ip", "link", "del", bridge]);
  await must("ip", "link", "add", bridge, "type", "bridge");
  await must("ip", "address", "add", `${own}/24`, "dev", bridge);
  await must("ip", "link", "set", bridge, "up");
  await must("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key);
  mkdirSync(bin);
  writeFileSync(join(bin, "ssh"), `#!/bin/sh\nexec ${Bun.which("ssh")} -F ${config} "$@"\n`, { mode: 0o755 });
  writeFileSync(config, "");

  function writeConfig(): void {
    const rows = [...hosts.values()].map(({ name, address }) => `Host ${name}\n  HostName ${address}\n`);
    const common = `Host *\n  User ${user.name}\n  IdentityFile ${key}\n  IdentitiesOnly yes\n`;
    const known = `  UserKnownHostsFile ${folder}/known_hosts\n  StrictHostKeyChecking accept-new\n`;
    writeFileSync(config, rows.join("") + common + known);
  }

  async function startSshd(space: Namespace, folder: string): Promise<void> {
    const conf = join(folder, "sshd_config");
    await createHostKey(folder);
    cpSync(`${key}.pub`, join(folder, "authorized_keys"));
    const lines = [
      "Port 22",
      `HostKey ${folder}/host_key`,
      `AuthorizedKeysFile ${folder}/authorized_keys`,
      "StrictModes no",
      "UsePAM no",
      "AcceptEnv LANG",
      `PidFile ${folder}/sshd.pid`,
    ];
    writeFileSync(conf, `${lines.join("\n")}\n`);
    space.start(
      ["sh", "-c", `mkdir -p /run/sshd && exec /usr/sbin/sshd -D -f ${conf} -E ${folder}/sshd.log`],
      {
        PATH: `${path}:/usr/sbin:/sbin`,
      },
    );
  }

  async function createHostKey(folder: string): Promise<void> {
    const path = join(folder, "host_key");
    rmSync(path, { force: true });
    await must("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path);
  }

  async function openHost(name: string, files: Readonly<Record<string, string>> = {}): Promise<Host> {
    const number = ++count;
    const address = `${prefix}.${number + 1}`;
    // Not below /tmp: a machine does not see this one's temporary files.
    const own = mkdtempSync("/var/tmp/beckon-host-");
    chmodSync(own, 0o755);
    const homeFolder = join(own, "home");
    for (const path of ["", ...Object.keys(files).map(dirname)]) makeOwnFolder(homeFolder, path);
    const passwd = join(own, "passwd");
    const rows = [
      "root:x:0:0:root:/root:/bin/sh",
      "sshd:x:100:65534::/run/sshd:/usr/sbin/nologin",
      `${user.name}:*:${user.id}:${user.id}::${home}:/bin/bash`,
    ];
    writeFileSync(passwd, `${rows.join("\n")}\n`);
    const space = await openNamespace(homeFolder, files, { hostname: name, passwd });
    const port = `${bridge}v${number}`;
    await must("ip", "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", space.pid);
    await must("ip", "link", "set", port, "master", bridge, "up");
    const inside = ["nsenter", "--target", space.pid, "--net", "ip"];
    await must(...inside, "address", "add", `${address}/24`, "dev", "eth0");
    await must(...inside, "link", "set", "eth0", "up");
    await startSshd(space, own);

    const asUser = ["setpriv", `--reuid=${user.id}`, `--regid=${user.id}`, "--clear-groups", "--"];
    const signalSshd = async (signal: Signal) =>
      space.signal(Number(readFileSync(join(own, "sshd.pid"), "utf8")), signal);
    const host: Host = {
      name,
      address,
      space,
      folder: homeFolder,
      own(...names) {
        for (const name of names) chownSync(join(homeFolder, name), user.id, user.id);
      },
      run: (command, env = {}) => space.run([...asUser, ...command], { ...userEnv, ...env }),
      start: (command, env = {}) => space.start([...asUser, ...command], { ...userEnv, ...env }),
      cutCable: () => must("ip", "link", "set", port, "nomaster"),
      mendCable: () => must("ip", "link", "set", port, "master", bridge),
      allowLogin(isAllowed) {
        const path = join(own, "authorized_keys");
        if (isAllowed) cpSync(`${key}.pub`, path);
        else writeFileSync(path, "");
      },
      stopSshd: () => signalSshd("TERM"),
      async changeHostKey() {
        await createHostKey(own);
        await signalSshd("HUP");
        const isChanged = async () => /IDENTIFICATION HAS CHANGED/.test((await ssh(name, "true")).stderr);
        await waitUntil(isChanged, 10_000);
      },
      async close() {
        hosts.delete(name);
        await space.close();
        rmSync(own, { recursive: true, force: true });
      },
    };
    hosts.set(name, host);
    writeConfig();
    await waitUntil(
      async () => (await ssh(name, "true")).code === 0,
      15_000,
      async () => `${name} cannot be reached with ssh: ${(await ssh(name, "true")).stderr}`,
    );
    return host;
  }

  const ssh: Lab["ssh"] = (name, command) =>
    run([join(bin, "ssh"), "-T", "-o", "BatchMode=yes", name, command]);

  return {
    bin,
    openHost,
    ssh,
    async close() {
      for (const host of [...hosts.values()]) await host.close();
      await run(["ip", "link", "del", bridge]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
