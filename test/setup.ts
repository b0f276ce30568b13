/**
 * Prepares a machine for the tests: prints what is missing, where it comes from and what it is for, then installs it.
 * Debian packages and the agents' real CLIs need root; without root the tests that use them are skipped.
 */
import { existsSync } from "node:fs";
import { runtimeCache, runtimePathOf } from "../src/release/runtime.ts";
import { cliCache, cliVersion, fetchCli, isCliCached, oldVersions, strictVersion } from "./agent/cli.ts";
import { fetchOtherCli, isOtherCliCached, type OtherCli, otherClis } from "./agent/other/clis.ts";

interface PackageGroup {
  readonly purpose: string;
  /** The group is needed if a selected test file's path starts with one of these. */
  readonly usedBy: readonly string[];
  /** Command, or path of a file, to the Debian packages that bring it. */
  readonly packages: Readonly<Record<string, string>>;
}

const screen = { Xvfb: "xvfb", xdotool: "xdotool", scrot: "scrot" };

export const packageGroups: readonly PackageGroup[] = [
  {
    purpose:
      "the hook script and completions in several shells, namespaces, other clocks, D-Bus without a screen",
    usedBy: ["test/"],
    packages: {
      busybox: "busybox",
      curl: "curl",
      dash: "dash",
      faketime: "faketime",
      fish: "fish",
      ip: "iproute2",
      jq: "jq",
      perl: "perl",
      python3: "python3",
      setpriv: "util-linux",
      tmux: "tmux",
      unshare: "util-linux",
      zsh: "zsh",
      "dbus-daemon": "dbus",
      "systemd-inhibit": "systemd",
      "dbus-monitor": "dbus-bin",
      gdbus: "libglib2.0-bin",
      gio: "libglib2.0-bin",
      "desktop-file-validate": "desktop-file-utils",
      "notify-send": "libnotify-bin",
    },
  },
  {
    purpose: "tray, notifications and focus on real desktops and terminals, on a virtual screen",
    usedBy: ["test/desktop/", "test/hook/", "test/agent/", "test/long/"],
    packages: {
      ...screen,
      openbox: "openbox",
      trayer: "trayer libayatana-appindicator3-1",
      "xfce4-panel": "xfce4-panel xfconf adwaita-icon-theme fonts-dejavu-core",
      "/usr/lib/x86_64-linux-gnu/xfce4/notifyd/xfce4-notifyd": "xfce4-notifyd",
      xprop: "x11-utils",
      xsetroot: "x11-xserver-utils",
      xauth: "xauth",
      dunst: "dunst",
      xterm: "xterm",
      kitty: "kitty",
      alacritty: "alacritty",
      konsole: "konsole",
      "gnome-terminal": "gnome-terminal",
      screen: "screen",
      sway: "sway",
      foot: "foot",
      kwin_wayland: "kwin-wayland",
      "gnome-shell": "gnome-shell gnome-shell-extension-appindicator gjs",
    },
  },
  {
    purpose: "other machines: a login with ssh, and a container",
    usedBy: ["test/machines/"],
    packages: {
      ssh: "openssh-client",
      "/usr/sbin/sshd": "openssh-server",
      podman: "podman",
      runc: "runc",
      busybox: "busybox",
    },
  },
  {
    purpose: "a fleet, and the stream for programs elsewhere, on a real server",
    usedBy: ["test/machines/", "test/streams/", "test/long/fleet", "test/bench/"],
    packages: { "redis-server": "redis-server", openssl: "openssl" },
  },
  {
    purpose: "releases: archives, the install script, packages for Debian and Fedora",
    usedBy: ["test/release/", "test/long/release"],
    packages: {
      "dpkg-deb": "dpkg",
      rpmbuild: "rpm",
      shellcheck: "shellcheck",
      "/lib/ld-musl-x86_64.so.1": "musl",
      man: "man-db",
      unzip: "unzip",
      wget: "wget",
      xz: "xz-utils",
    },
  },
  {
    purpose: "the program for arm64, emulated",
    usedBy: ["test/long/release"],
    packages: {
      // Not qemu-user-static, which lets every program of the system run arm64.
      "qemu-aarch64": "qemu-user",
      "/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1": "libc6-arm64-cross",
    },
  },
  {
    purpose: "the dashboard in a real browser",
    usedBy: ["test/dashboard/", "test/long/dashboard"],
    packages: {
      chromium: "chromium",
      "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf": "fonts-dejavu-core",
    },
  },
  {
    purpose: "the Windows build, in Wine",
    usedBy: ["test/wine/"],
    packages: {
      ...screen,
      "x86_64-w64-mingw32-gcc": "gcc-mingw-w64-x86-64",
      "/usr/lib/wine/wine64": "wine64",
    },
  },
];

export interface Missing {
  readonly packages: readonly { readonly purpose: string; readonly names: readonly string[] }[];
  readonly cliVersions: readonly string[];
  readonly otherClis: readonly OtherCli[];
  readonly windowsRuntime: boolean;
}

export interface Machine {
  readonly isLinux: boolean;
  readonly isRoot: boolean;
  has(command: string): boolean;
  hasCli(version: string): boolean;
  hasOtherCli(cli: OtherCli): boolean;
  readonly hasWindowsRuntime: boolean;
}

/** Megabytes on disk, measured. */
const cliMb: Readonly<Record<string, number>> = { [cliVersion]: 350, "2.0.76": 84, "2.1.100": 64 };
const windowsRuntimeMb = 119;

export function findMissing(files: readonly string[], machine: Machine): Missing {
  if (!machine.isLinux) return { packages: [], cliVersions: [], otherClis: [], windowsRuntime: false };
  const isUsed = (paths: readonly string[]) =>
    files.some((file) => paths.some((path) => file.startsWith(path)));
  const listed = new Set<string>();
  const packages = packageGroups
    .filter(({ usedBy }) => isUsed(usedBy))
    .map(({ purpose, packages }) => {
      const absent = Object.entries(packages).filter(([command]) => !machine.has(command));
      const names = absent.flatMap(([, name]) => name.split(" ")).filter((name) => !listed.has(name));
      for (const name of names) listed.add(name);
      return { purpose, names: [...new Set(names)] };
    })
    .filter(({ names }) => names.length > 0);
  const cliVersions = [
    ...(isUsed(["test/agent/", "test/machines/claude", "test/long/agent", "test/long/machines"])
      ? [cliVersion, ...oldVersions]
      : []),
    ...(isUsed(["test/long/agent-versions"]) ? [strictVersion] : []),
  ].filter((version) => !machine.hasCli(version));
  // test/agent/opencode.test.ts and test/long/agent-opencode.test.ts need opencode. Together they need all of them.
  const missingClis = Object.values<OtherCli>(otherClis).filter((cli) => {
    const agentTests = [`test/agent/${cli.id}`, `test/long/agent-${cli.id}`, "test/long/agent-mix"];
    const remoteTests = ["test/machines/agents", "test/long/machines-opencode"];
    return isUsed(cli.usedBy ?? [...agentTests, ...remoteTests]) && !machine.hasOtherCli(cli);
  });
  const windowsRuntime = isUsed(["test/wine/"]) && !machine.hasWindowsRuntime;
  return { packages, cliVersions, otherClis: missingClis, windowsRuntime };
}

/** Why something cannot be installed; null if it can. */
export interface Obstacles {
  readonly packages: string | null;
  readonly cli: string | null;
}

export function findObstacles(
  isAllowed: boolean,
  { isRoot, has }: Pick<Machine, "isRoot" | "has">,
): Obstacles {
  const either = !isAllowed ? "--no-install was given" : isRoot ? null : "you are not root";
  return { cli: either, packages: either ?? (has("apt-get") ? null : "this system has no apt-get") };
}

/** What the run prints before it installs anything. */
export function describeSetup(missing: Missing, obstacles: Obstacles): string[] {
  const { packages, cliVersions, otherClis: clis, windowsRuntime } = missing;
  const items: { readonly text: string; readonly obstacle: string | null }[] = packages.map(
    ({ purpose, names }) => ({
      text: `  Debian packages, for ${purpose}:\n    ${names.join(" ")}`,
      obstacle: obstacles.packages,
    }),
  );
  if (cliVersions.length > 0) {
    const versions = cliVersions.map((version) =>
      cliMb[version] ? `${version} (${cliMb[version]} MB)` : version,
    );
    items.push({
      text: `  Claude Code from the npm registry into ${cliCache}, to drive the real CLI:\n    ${versions.join(", ")}`,
      obstacle: obstacles.cli,
    });
  }
  if (clis.length > 0) {
    const versions = clis.map(({ packages: [main], mb }) => `${main} (${mb} MB)`);
    items.push({
      text: `  Other agents from the npm registry into ${cliCache}, to drive their real CLIs:\n    ${versions.join(", ")}`,
      obstacle: obstacles.cli,
    });
  }
  if (windowsRuntime) {
    // Bun downloads this by itself, as any user, when it compiles for Windows.
    const text = `  Bun's runtime for Windows (${windowsRuntimeMb} MB) into ${runtimeCache}, for the Windows build`;
    items.push({ text, obstacle: null });
  }
  const lines: string[] = [];
  const install = items.filter(({ obstacle }) => obstacle === null);
  if (install.length > 0) {
    lines.push("This run first installs what the tests need and this machine lacks:");
    lines.push(...install.map(({ text }) => text));
  }
  for (const obstacle of new Set(items.flatMap((item) => item.obstacle ?? []))) {
    lines.push(`Not installed, because ${obstacle}. Tests that need it are skipped:`);
    lines.push(...items.filter((item) => item.obstacle === obstacle).map(({ text }) => text));
  }
  return lines;
}

const thisMachine: Machine = {
  isLinux: process.platform === "linux",
  isRoot: process.getuid?.() === 0,
  has: (command) => Bun.which(command) !== null,
  hasCli: isCliCached,
  hasOtherCli: isOtherCliCached,
  hasWindowsRuntime: existsSync(runtimePathOf("bun-windows-x64-baseline")),
};

/** Prints what these test files need and this machine lacks, then installs it, unless `isAllowed` is false. */
export async function setUp(files: readonly string[], isAllowed: boolean): Promise<void> {
  const missing = findMissing(files, thisMachine);
  const obstacles = findObstacles(isAllowed, thisMachine);
  for (const line of describeSetup(missing, obstacles)) console.log(line);
  const names = missing.packages.flatMap((group) => group.names);
  const packages =
    names.length > 0 && obstacles.packages === null ? installPackages(names) : Promise.resolve();
  if (obstacles.cli === null) await fetchClis(missing);
  await packages;
}

/** A few at a time: the registry is slow with some packages, and they would hold up all others. */
const fetchesAtOnce = 3;

async function fetchClis({ cliVersions, otherClis }: Missing): Promise<void> {
  const fetches = [
    ...otherClis.map((cli) => () => fetchOtherCli(cli)),
    ...cliVersions.map((version) => () => fetchCli(version)),
  ];
  const fetchNext = async (): Promise<void> => {
    for (let fetch = fetches.shift(); fetch; fetch = fetches.shift()) await fetch();
  };
  await Promise.all(Array.from({ length: fetchesAtOnce }, fetchNext));
}

async function installPackages(names: readonly string[]): Promise<void> {
  // A fresh machine has no package lists, or old ones.
  const update = await aptGet("-qq", "update");
  if (!update.isDone) return console.log(`apt-get update failed, so nothing is installed:\n${update.output}`);
  const install = ["install", "--no-install-recommends"];
  const { output } = await aptGet(...install, "--assume-no", ...names);
  const sizes = output.split("\n").filter((line) => /^(Need to get|After this operation)/.test(line));
  for (const line of sizes) console.log(`  apt-get: ${line}`);
  const { isDone, output: complaint } = await aptGet("-qq", ...install, "--yes", ...names);
  if (!isDone)
    console.log(`apt-get could not install them, so tests that need them are skipped:\n${complaint}`);
}

async function aptGet(...args: readonly string[]): Promise<{ isDone: boolean; output: string }> {
  const child = Bun.spawn(["apt-get", ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { isDone: code === 0, output: `${stdout}${stderr}` };
}
