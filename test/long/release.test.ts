/**
 * What npm run release makes, for the system that runs here: unpacked, installed and removed with the real tools.
 * BECKON_RELEASE=FOLDER tests a release that is built already.
 */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { version } from "../../package.json";
import { compile } from "../../src/release/compile.ts";
import { findTarget } from "../../src/release/targets.ts";
import { hasAll, testWith } from "../needs.ts";
import { repo } from "../repo.ts";

const needs = ["linux", "xz", "gzip", "tar", "dpkg-deb", "rpmbuild"] as const;
const test = testWith(...needs);
const limitMs = 240_000;
let folder = "";
let release = "";

beforeAll(async () => {
  if (!hasAll(needs)) return;
  folder = mkdtempSync(join(tmpdir(), "beckon-release-"));
  release = process.env.BECKON_RELEASE ?? join(folder, "release");
  if (process.env.BECKON_RELEASE !== undefined) return;
  const command = ["src/release/index.ts", "--quick", "--target", "linux-x64", "--out", release];
  const child = Bun.spawn([process.execPath, ...command], { cwd: repo, stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (code !== 0) throw new Error(`${stdout}${stderr}`);
}, limitMs);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function run(command: readonly string[], cwd = release) {
  const child = Bun.spawn([...command], { cwd, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { stdout, stderr, code };
}

describe("a release", () => {
  test("has the same files in SHA256SUMS and manifest.json, and sha256sum agrees", async () => {
    expect(await run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"])).toMatchObject({
      code: 0,
    });
    const manifest = JSON.parse(readFileSync(join(release, "manifest.json"), "utf8"));
    expect(manifest).toMatchObject({
      version,
      bun: Bun.version,
      commit: expect.stringMatching(/^[0-9a-f]{40}$/),
    });
    const listed = manifest.files
      .map(({ name, sha256 }: Record<string, string>) => `${sha256}  ${name}\n`)
      .join("");
    expect(listed).toBe(readFileSync(join(release, "SHA256SUMS"), "utf8"));
    const names = manifest.files.map(({ name }: { name: string }) => name);
    expect(names).toEqual([
      `beckon-${version}-1.x86_64.rpm`,
      "beckon-linux-x64.tar.gz",
      "beckon-linux-x64.tar.xz",
      "beckon.cdx.json",
      `beckon_${version}_amd64.deb`,
      "install.ps1",
      "install.sh",
    ]);
    for (const { name, size } of manifest.files) expect(Bun.file(join(release, name)).size).toBe(size);
  });

  test(
    "has the program with its papers, completions and manual page in each archive",
    async () => {
      for (const kind of ["gz", "xz"]) {
        const unpacked = join(folder, kind);
        mkdirSync(unpacked);
        await run(["tar", "-xf", join(release, `beckon-linux-x64.tar.${kind}`)], unpacked);
        const inside = join(unpacked, "beckon-linux-x64");
        expect([...new Bun.Glob("**/*").scanSync(inside)].sort()).toEqual([
          "LICENSE",
          "README.md",
          "THIRD_PARTY_NOTICES",
          "beckon",
          "completions/_beckon",
          "completions/beckon.bash",
          "completions/beckon.fish",
          "man/beckon.1",
        ]);
        expect((await run([join(inside, "beckon"), "--version"])).stdout).toBe(`beckon ${version}\n`);
        const bash = readFileSync(join(inside, "completions/beckon.bash"), "utf8");
        expect((await run([join(inside, "beckon"), "completions", "bash"])).stdout).toBe(bash);
      }
    },
    limitMs,
  );

  test(
    "has the same program if it is built again",
    async () => {
      const again = join(folder, "again/beckon");
      await compile({ outfile: again, target: findTarget("linux-x64") });
      const first = readFileSync(join(release, "programs/linux-x64/beckon"));
      expect(readFileSync(again).equals(first)).toBe(true);
    },
    limitMs,
  );
});

/** Runs commands as root on a copy of this system that is gone afterwards. */
async function runOnCopy(commands: string) {
  const inside = `set -eu
mount -t tmpfs tmpfs /mnt
mkdir /mnt/upper /mnt/work /mnt/root
mount -t overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work overlay /mnt/root
mount --bind "${release}" /mnt/root/media
mount -t proc proc /mnt/root/proc
mount --rbind /dev /mnt/root/dev
exec chroot /mnt/root sh -euc '${commands}'`;
  const apart = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child"];
  return run([...apart, "sh", "-c", inside], "/");
}

const asUser = "setpriv --reuid 1001 --regid 1001 --clear-groups env -i HOME=/tmp/dev PATH=/usr/bin:/bin";
/** The commands print one line for each thing that is checked. */
const use = `mkdir -p /tmp/dev; chown 1001 /tmp/dev
${asUser} beckon --version
${asUser} beckon --install --dry-run --agent claude | grep -o "installed beckon, so it stays where it is.*"
${asUser} beckon --install --dry-run --diff --agent claude | grep -c "/usr/bin/beckon"
test -e /usr/share/man/man1/beckon.1.gz && test -e /usr/share/bash-completion/completions/beckon && echo complete`;

describe("the package", () => {
  testWith(
    ...needs,
    "root",
    "unshare",
    "dpkg",
  )(
    "for Debian is installed, stays where it is, and is removed",
    async () => {
      const { stdout, stderr, code } = await runOnCopy(`
dpkg --install /media/beckon_${version}_amd64.deb >/dev/null
${use}
dpkg --remove beckon >/dev/null
test ! -e /usr/bin/beckon && echo removed`);
      expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
      const [found, stays, hooks, ...rest] = stdout.trim().split("\n");
      expect(found).toBe(`beckon ${version}`);
      expect(stays).toContain("To update it: sudo apt install ./beckon_");
      expect(Number(hooks)).toBeGreaterThan(5);
      expect(rest).toEqual(["complete", "removed"]);
    },
    limitMs,
  );

  testWith(
    ...needs,
    "root",
    "unshare",
    "rpm",
  )(
    "for Fedora is installed, stays where it is, and is removed",
    async () => {
      // The rpm of Debian knows of no glibc, and keeps its list in the home folder of the user who asks.
      const { stdout, stderr, code } = await runOnCopy(`
mkdir -p /etc/rpm && echo "%_dbpath /var/lib/rpm" >/etc/rpm/macros
rpm --install --nodeps --force-debian /media/beckon-${version}-1.x86_64.rpm
${use}
rpm --erase --nodeps --force-debian beckon
test ! -e /usr/bin/beckon && echo removed`);
      expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
      const [found, stays, hooks, ...rest] = stdout.trim().split("\n");
      expect(found).toBe(`beckon ${version}`);
      expect(stays).toContain("To update it: sudo rpm --upgrade");
      expect(Number(hooks)).toBeGreaterThan(5);
      expect(rest).toEqual(["complete", "removed"]);
    },
    limitMs,
  );

  testWith(
    ...needs,
    "npm",
    "unshare",
    "root",
  )(
    "of npm starts from an empty folder, without network or scripts",
    async () => {
      const place = join(folder, "empty");
      mkdirSync(place);
      const packed = readdirSync(join(release, "npm")).map((name) => join(release, "npm", name));
      expect(packed).toHaveLength(2);
      const npm = [
        "npm",
        "install",
        "--offline",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
      ];
      const cache = ["--cache", join(folder, "npm-cache")];
      const installed = await run(["unshare", "--net", ...npm, ...cache, ...packed], place);
      expect(installed.code, installed.stderr).toBe(0);
      const found = await run(
        ["unshare", "--net", "npx", "--offline", ...cache, "beckon", "--version"],
        place,
      );
      expect(found.stdout).toBe(`beckon ${version}\n`);
      const refused = await run([join(place, "node_modules/.bin/beckon"), "statsu"], place);
      expect(refused.code).toBe(2);
      expect(refused.stderr).toContain("did you mean status?");
      rmSync(join(place, "node_modules/beckon-linux-x64"), { recursive: true });
      const missing = await run([join(place, "node_modules/.bin/beckon"), "--version"], place);
      expect(missing).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("npm has not installed beckon-linux-x64"),
      });
    },
    limitMs,
  );
});
