/** The install script as an ordinary user, in a system of its own without network, against a file server. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { version } from "../../package.json";
import { encodeTar } from "../../src/release/archive.ts";
import { gzip, quickest } from "../../src/release/compress.ts";
import { describeFile, formatSums } from "../../src/release/manifest.ts";
import { fillTemplate } from "../../src/release/template.ts";
import { testWith } from "../needs.ts";
import { binary, repo } from "../repo.ts";

const archive = "beckon-linux-x64.tar.gz";
const needs = ["linux", "root", "unshare", "setpriv", "busybox", "dash", "curl", "wget"] as const;
const limitMs = 60_000;
let folder = "";
let script = "";

/** Files of a release, in a folder that the server offers by its name. */
function offer(name: string, files: Readonly<Record<string, Buffer | string>>): void {
  mkdirSync(join(folder, "served", name), { recursive: true });
  for (const [file, content] of Object.entries(files))
    writeFileSync(join(folder, "served", name, file), content);
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "beckon-install-"));
  script = join(folder, "install.sh");
  const template = await Bun.file(join(repo, "src/release/install.sh")).text();
  writeFileSync(script, fillTemplate(template, { repository: "owner/beckon" }));
  const program = Buffer.from(await Bun.file(binary).bytes());
  const pack = (bytes: Buffer) =>
    gzip(encodeTar([{ path: "beckon-linux-x64/beckon", bytes, isExecutable: true }], 0), quickest);
  const [good, other] = [await pack(program), await pack(Buffer.from("#!/bin/sh\necho beckon 9.9.9\n"))];
  const sums = formatSums([describeFile(archive, good)]);
  offer("good", { [archive]: good, SHA256SUMS: sums });
  offer("other", { [archive]: other, SHA256SUMS: formatSums([describeFile(archive, other)]) });
  offer("wrong", { [archive]: other, SHA256SUMS: sums });
  offer("truncated", { [archive]: good.subarray(0, good.length / 2), SHA256SUMS: sums });
  offer("no-line", { [archive]: good, SHA256SUMS: formatSums([describeFile("other.tar.gz", good)]) });
  offer("no-sums", { [archive]: good });
  // The checksum of another target's archive beside this one's name.
  offer("swapped", {
    [archive]: good,
    SHA256SUMS: formatSums([
      { ...describeFile(archive, other), name: archive },
      { ...describeFile(archive, good), name: "beckon-linux-arm64.tar.gz" },
    ]),
  });
  offer("broken", await breakProgram());
  for (const path of [folder, join(folder, "served")]) Bun.spawnSync(["chmod", "-R", "a+rX", path]);

  async function breakProgram() {
    const bytes = await pack(Buffer.from("#!/bin/sh\necho cannot start >&2\nexit 3\n"));
    return { [archive]: bytes, SHA256SUMS: formatSums([describeFile(archive, bytes)]) };
  }
}, limitMs);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Run {
  readonly shell?: string;
  readonly release?: string;
  readonly args?: string;
  readonly env?: string;
  /** As root, before the user's part. HOME is a small disk of the user's own. */
  readonly prepare?: string;
  /** What the user's PATH has besides the basic tools. */
  readonly tools?: string;
  /** What the user runs afterwards. */
  readonly after?: string;
}

const basic =
  "awk basename cat chmod cp cut df dirname getconf grep gzip head ldd ls mkdir mktemp mv rm rmdir sed sh sha256sum tail tar tr uname";

/** Runs it as user 1001 in namespaces of its own. Prints the files of the home folder at the end. */
async function run({
  shell = "dash",
  release = "good",
  args = "",
  env = "",
  prepare = ":",
  tools = "curl",
  after = "sh -c :",
}: Run = {}) {
  const inside = `set -eu
mount -t tmpfs -o mode=755 tmpfs /home
ip link set lo up
mkdir /home/dev /home/bin
mount -t tmpfs -o size=400m,mode=755 tmpfs /home/dev
for tool in ${basic} ${tools}; do
  path=$(command -v "$tool" || :)
  [ -z "$path" ] || ln -s "$path" "/home/bin/$tool"
done
for extra in dash bash busybox; do ln -s "$(command -v $extra)" /home/bin/ 2>/dev/null || :; done
chown 1001:1001 /home/dev
busybox httpd -f -p 127.0.0.1:8765 -h ${folder}/served &
server=$!
${prepare}
code=0
cd /home/dev
as_user() {
  setpriv --reuid 1001 --regid 1001 --clear-groups env -i HOME=/home/dev TMPDIR=/home/dev PATH=/home/bin SHELL=/bin/bash \\
    BECKON_DOWNLOAD_URL=http://127.0.0.1:8765/${release} ${env} "$@" </dev/null
}
as_user ${shell} ${script} ${args} || code=$?
echo "exit $code"
as_user ${after}
cd /home/dev && find . -type f -o -type l | sort | sed 's/^/file /'
kill $server`;
  const apart = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"];
  const child = Bun.spawn([...apart, "sh", "-c", inside], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  const files = [...stdout.matchAll(/^file \.\/(.*)$/gm)].map(([, path]) => path ?? "");
  return { stdout, stderr, code: Number(/^exit (\d+)$/m.exec(stdout)?.[1]), files };
}

const noLogin = "-- --no-login --agent claude";

describe("install.sh", () => {
  for (const shell of ["dash", "bash", "busybox sh"]) {
    testWith(...needs)(
      `installs beckon and connects the agent, under ${shell}`,
      async () => {
        const { stdout, stderr, code, files } = await run({ shell, args: noLogin });
        expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
        expect(stdout).toContain(`beckon ${version} is in /home/dev/.local/bin.`);
        expect(files).toContain(".local/bin/beckon");
        expect(files).toContain(".claude/settings.json");
        expect(files).toContain(".bashrc");
        expect(files.filter((path) => /tmp|install-/.test(path))).toEqual([]);
      },
      limitMs,
    );
  }

  testWith(...needs)(
    "installs with the wget of GNU and of busybox where there is no curl",
    async () => {
      expect(await run({ tools: "wget", args: noLogin })).toMatchObject({ code: 0, stderr: "" });
      const small = "ln -s /usr/bin/busybox /home/bin/wget";
      expect(await run({ tools: "", prepare: small, args: noLogin })).toMatchObject({ code: 0, stderr: "" });
    },
    limitMs,
  );

  testWith(...needs)(
    "puts beckon where it is told to, leaves the profile alone, and --uninstall removes it",
    async () => {
      const args = `--dir /home/dev/my\\ tools --no-modify-path ${noLogin}`;
      const { stdout, stderr, code, files } = await run({ args });
      expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
      expect(files).toContain("my tools/beckon");
      expect(files).not.toContain(".local/bin/beckon");
      expect(files).not.toContain(".bashrc");
      expect(stdout).toContain('export PATH="/home/dev/my tools:$PATH"');
      const removed = await run({
        args,
        after: "/home/dev/my\\ tools/beckon --uninstall --purge",
      });
      expect(removed.files).toEqual([]);
    },
    limitMs,
  );

  testWith(...needs)(
    "--uninstall leaves the profile as it was, and removes one that the script has created",
    async () => {
      const uninstall = "/home/dev/.local/bin/beckon --uninstall --purge";
      const created = await run({ args: noLogin, after: uninstall });
      expect(created.stdout).toContain("Removed the line for ~/.local/bin from ~/.bashrc.");
      expect(created.files).toEqual([]);
      const before = "alias ll='ls -l'\n# the end";
      writeFileSync(join(folder, "bashrc"), before, { mode: 0o644 });
      const kept = await run({
        prepare: `cp ${folder}/bashrc /home/dev/.bashrc && chown 1001 /home/dev/.bashrc`,
        args: noLogin,
        after: `sh -c "${uninstall} && sha256sum .bashrc"`,
      });
      expect(kept.stdout).toContain(new Bun.CryptoHasher("sha256").update(before).digest("hex"));
      expect(kept.files).toEqual([".bashrc"]);
    },
    limitMs,
  );

  testWith(...needs)(
    "takes a program that is there already, without network",
    async () => {
      const { stderr, code, files } = await run({ tools: "", args: `--binary ${binary} ${noLogin}` });
      expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
      expect(files).toContain(".local/bin/beckon");
    },
    limitMs,
  );

  testWith(...needs)(
    "--dry-run changes nothing, and downloads nothing",
    async () => {
      const { stdout, code, files } = await run({ release: "none", args: "--dry-run --version v1.2.3" });
      expect({ code, files }).toEqual({ code: 0, files: [] });
      expect(stdout).toContain(
        `Would install http://127.0.0.1:8765/none/${archive} as /home/dev/.local/bin/beckon`,
      );
    },
    limitMs,
  );

  const full = "busybox dd if=/dev/zero of=/home/dev/filler bs=1M count=260 2>/dev/null";
  const faults: readonly (readonly [what: string, how: Run, message: string | RegExp])[] = [
    ["a wrong checksum", { release: "wrong" }, "the checksum of beckon-linux-x64.tar.gz is wrong"],
    ["a truncated archive", { release: "truncated" }, "the checksum of beckon-linux-x64.tar.gz is wrong"],
    [
      "the checksum of another file",
      { release: "swapped" },
      "the checksum of beckon-linux-x64.tar.gz is wrong",
    ],
    [
      "no line for the archive",
      { release: "no-line" },
      "SHA256SUMS has no checksum of beckon-linux-x64.tar.gz",
    ],
    [
      "no checksums at all",
      { release: "no-sums" },
      "SHA256SUMS could not be downloaded: the server does not have it",
    ],
    [
      "no connection",
      { env: "BECKON_DOWNLOAD_URL=http://127.0.0.1:1" },
      "could not be downloaded: no connection",
    ],
    [
      "an interrupted download",
      {
        prepare:
          "(printf 'HTTP/1.0 200 OK\\r\\nContent-Length: 1000\\r\\n\\r\\nhalf' | busybox nc -l -p 8766 >/dev/null) &",
        env: "BECKON_DOWNLOAD_URL=http://127.0.0.1:8766",
      },
      "SHA256SUMS could not be downloaded: the connection was interrupted",
    ],
    ["neither curl nor wget", { tools: "" }, "curl or wget is needed"],
    ["a full disk", { prepare: full }, /beckon could not be written to .*is it full|no space left/],
    [
      "a folder that runs no programs",
      {
        prepare: "mkdir -p /home/dev/x && mount -t tmpfs -o noexec,mode=777 tmpfs /home/dev/x",
        args: "--dir /home/dev/x",
      },
      "programs cannot be run from /home/dev/x: it may be mounted with noexec",
    ],
    ["a folder of somebody else", { args: "--dir /usr/bin" }, "you cannot write to /usr/bin"],
    [
      "a program that does not run",
      { release: "broken" },
      "the program does not run here: it ended with 3 (cannot start)",
    ],
    [
      "another version than asked for",
      { release: "other", args: "--version 1.0.0" },
      "is beckon 9.9.9, not 1.0.0",
    ],
    [
      "plain http from elsewhere",
      { env: "BECKON_DOWNLOAD_URL=http://example.org" },
      "must begin with https://",
    ],
    ["a version with a slash", { args: "--version ../x" }, "../x is not a version"],
    ["an unknown option", { args: "--bogus" }, "unknown option --bogus"],
    [
      "a system without beckon",
      {
        prepare:
          "rm /home/bin/uname && printf '#!/bin/sh\\necho FreeBSD\\n' >/home/bin/uname && chmod 755 /home/bin/uname",
      },
      "there is no beckon for FreeBSD",
    ],
  ];
  for (const [what, how, message] of faults) {
    testWith(...needs)(
      `says so and leaves nothing behind: ${what}`,
      async () => {
        const { stderr, code, files } = await run(how);
        expect(stderr).toMatch(message);
        expect(stderr.trim().split("\n")).toHaveLength(1);
        expect(code).toBe(1);
        expect(files.filter((path) => path !== "filler")).toEqual([]);
      },
      limitMs,
    );
  }

  testWith(...needs)("does nothing if it was cut off on the way", async () => {
    const text = await Bun.file(script).text();
    for (const part of [0.3, 0.6, 0.9, 0.999]) {
      writeFileSync(join(folder, "cut.sh"), text.slice(0, text.length * part));
      const cut = Bun.spawnSync(["dash", join(folder, "cut.sh")], {
        env: { HOME: join(folder, "nowhere"), PATH: process.env.PATH ?? "" },
      });
      expect(cut.stdout.toString()).toBe("");
      expect(await Bun.file(join(folder, "nowhere")).exists()).toBe(false);
    }
  });

  testWith("shellcheck")("has nothing that shellcheck complains about", async () => {
    for (const dialect of ["sh", "dash"]) {
      const { stdout, exitCode } = Bun.spawnSync(["shellcheck", "--shell", dialect, script]);
      expect({ stdout: stdout.toString(), exitCode }).toEqual({ stdout: "", exitCode: 0 });
    }
  });
});

test("both scripts know the same options and variables", async () => {
  const [sh = "", ps = ""] = await Promise.all(
    ["install.sh", "install.ps1"].map((name) => Bun.file(join(repo, "src/release", name)).text()),
  );
  for (const [option, parameter] of [
    ["--version", "Version"],
    ["--dir", "Dir"],
    ["--binary", "Binary"],
    ["--no-modify-path", "NoModifyPath"],
    ["--dry-run", "DryRun"],
  ] as const) {
    expect(sh).toContain(option);
    expect(ps).toMatch(new RegExp(`\\[(?:string|switch)\\]\\$${parameter}\\b`));
  }
  for (const name of [
    "BECKON_VERSION",
    "BECKON_INSTALL_DIR",
    "BECKON_DOWNLOAD_URL",
    "SHA256SUMS",
    "--placed",
  ])
    for (const text of [sh, ps]) expect(text).toContain(name);
  expect(sh.trimEnd()).toEndWith('beckon_install "$@"');
  expect(ps.trimEnd()).toEndWith("Install-Beckon @args");
});
