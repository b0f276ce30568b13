/** What `beckon machine add` finds out about a machine and copies there: pure parts, and its scripts in a real sh on real disks. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { quoteForShell } from "../../src/core/text/shell-quote.ts";
import { createShellCommand, formatCommandThere } from "../../src/machines/link-command.ts";
import { explainEnd, suggestFix } from "../../src/machines/link-problem.ts";
import { findObstacle, planProgram } from "../../src/machines/setup.ts";
import { chooseProgram, fits, parseTarget, readTarget } from "../../src/machines/setup-binary.ts";
import { copyScript, readCopy } from "../../src/machines/setup-copy.ts";
import { type MachineFacts, probeScript, readProbe } from "../../src/machines/setup-probe.ts";
import { readDoctorReport } from "../../src/machines/setup-report.ts";
import { testWith } from "../needs.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "beckon-setup-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const linux = { system: "linux", cpu: "x64", libc: "glibc" } as const;

function sh(script: string, args: readonly string[], input = "", env: Record<string, string> = {}) {
  const { stdout, stderr, exitCode } = Bun.spawnSync(["sh", "-c", script, "sh", ...args], {
    stdin: Buffer.from(input),
    env: { PATH: "/usr/bin:/bin", HOME: folder, ...env },
  });
  return { stdout: stdout.toString(), stderr: stderr.toString(), code: exitCode };
}

/** An ELF header, as far as anybody looks at it. */
function createElf(machine: number, loader: string | null): Uint8Array {
  const bytes = new Uint8Array(256);
  const view = new DataView(bytes.buffer);
  bytes.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  view.setUint16(18, machine, true);
  view.setBigUint64(32, 64n, true);
  view.setUint16(54, 56, true);
  view.setUint16(56, loader === null ? 0 : 1, true);
  view.setUint32(64, 3, true);
  view.setBigUint64(64 + 8, 128n, true);
  view.setBigUint64(64 + 32, BigInt(loader?.length ?? 0), true);
  bytes.set(new TextEncoder().encode(loader ?? ""), 128);
  return bytes;
}

describe("what a program is built for", () => {
  test.each([
    ["Linux x64", createElf(0x3e, "/lib64/ld-linux-x86-64.so.2"), linux],
    ["musl", createElf(0xb7, "/lib/ld-musl-aarch64.so.1"), { system: "linux", cpu: "arm64", libc: "musl" }],
    ["a static one", createElf(0x3e, null), { system: "linux", cpu: "x64", libc: null }],
    ["another CPU", createElf(0xf3, null), { system: "linux", cpu: null, libc: null }],
    [
      "macOS",
      new Uint8Array([0xcf, 0xfa, 0xed, 0xfe, 0x0c, 0, 0, 1]),
      { system: "darwin", cpu: "arm64", libc: null },
    ],
    ["a script", new TextEncoder().encode("#!/bin/sh\nexec beckon\n"), null],
    ["nothing", new Uint8Array(), null],
    ["a cut header", createElf(0x3e, "x").subarray(0, 40), null],
  ])("%s", (_, bytes, expected) => {
    expect(parseTarget(bytes)).toEqual(expected as never);
  });

  test("this very program", async () => {
    expect(await readTarget(process.execPath)).toMatchObject({ system: process.platform, cpu: process.arch });
  });

  test("it fits the same system, CPU and libc, and one that needs no libc fits any", () => {
    expect(fits(linux, linux)).toBe(true);
    expect(fits(linux, { ...linux, libc: "musl" })).toBe(false);
    expect(fits(linux, { ...linux, cpu: "arm64" })).toBe(false);
    expect(fits({ ...linux, libc: null }, { ...linux, libc: "musl" })).toBe(true);
  });
});

describe("the program that is copied", () => {
  const write = (name: string, bytes: Uint8Array) => {
    const path = join(folder, name);
    writeFileSync(path, bytes);
    return path;
  };

  test("is the one that runs here, if it fits; otherwise a build of the same release beside it", async () => {
    const path = write("beckon", createElf(0x3e, "/lib64/ld-linux-x86-64.so.2"));
    const own = { path, readFrom: path };
    expect(await chooseProgram(linux, null, own)).toEqual({ path, bytes: 256 });
    const arm = { ...linux, cpu: "arm64" } as const;
    expect(await chooseProgram(arm, null, own)).toBe(
      "there is no beckon for Linux arm64 here. Get beckon-linux-arm64 of this release, and add: --binary beckon-linux-arm64",
    );
    const beside = write("beckon-linux-arm64", createElf(0xb7, "/lib/ld-linux-aarch64.so.1"));
    expect(await chooseProgram(arm, null, own)).toEqual({ path: beside, bytes: 256 });
    expect(await chooseProgram({ ...linux, libc: "musl" }, null, own)).toContain("beckon-linux-x64-musl");
    expect(await chooseProgram({ ...linux, cpu: null }, null, own)).toContain("beckon is not built for");
  });

  test("is the one that the user names, if it is for this machine", async () => {
    const arm = write("arm", createElf(0xb7, "/lib/ld-linux-aarch64.so.1"));
    const text = write("notes.txt", new TextEncoder().encode("hello"));
    expect(await chooseProgram(linux, arm, null)).toBe(
      `${arm} is built for Linux arm64, but this machine is Linux x64`,
    );
    expect(await chooseProgram(linux, text, null)).toBe(`${text} is not a program`);
    expect(await chooseProgram(linux, "/nowhere", null)).toBe("/nowhere does not exist");
  });
});

describe("looking at a machine", () => {
  const probe = (...args: string[]) => readProbe(sh(probeScript, args).stdout);

  testWith("linux")("finds system, CPU, libc, user and space of this one, and changes nothing", async () => {
    const before = readdirSync(folder);
    const facts = probe("");
    expect(facts).toMatchObject({
      ...linux,
      cpu: process.arch,
      user: process.env.USER ?? "root",
      home: folder,
    });
    expect(facts?.glibcVersion).toMatch(/^2\.\d+$/);
    expect(facts?.freeBytes).toBeGreaterThan(0);
    expect(facts).toMatchObject({ beckon: null, noexecMount: null, program: `${folder}/.local/bin/beckon` });
    expect(readdirSync(folder)).toEqual(before);
  });

  test("finds agents and beckon, also in a path with spaces", () => {
    const bin = join(folder, "a folder", "bin");
    mkdirSync(bin, { recursive: true });
    const program = join(bin, "beckon");
    writeFileSync(program, "#!/bin/sh\necho beckon 0.0.9\n", { mode: 0o755 });
    const facts = probe(program, "sh", "no-such-agent", "$(touch evil)");
    expect(facts).toMatchObject({ agents: ["sh"], beckon: { path: program, version: "0.0.9" }, program });
    expect(readdirSync(process.cwd())).not.toContain("evil");
  });

  test.each([["bin"], [".npm-global/bin"], [".nvm/versions/node/v22.10.0/bin"]])(
    "finds an agent in ~/%s, which is not in the PATH of a login without a terminal",
    (place) => {
      mkdirSync(join(folder, place), { recursive: true });
      writeFileSync(join(folder, place, "some-agent"), "", { mode: 0o755 });
      expect(probe("", "some-agent")?.agents).toEqual(["some-agent"]);
      rmSync(join(folder, place, "some-agent"));
    },
  );

  test("reads Alpine's musl, a machine of Apple's, and greetings of the shell in between", () => {
    const read = (lines: string) => readProbe(`Welcome!\n${lines}\nbeckon:end=probe\n`);
    expect(read("beckon:system=Linux\nbeckon:cpu=aarch64\nbeckon:libc=musl libc (aarch64)")).toMatchObject({
      system: "linux",
      cpu: "arm64",
      libc: "musl",
      glibcVersion: null,
    });
    expect(read("beckon:libc=\nbeckon:loader=/lib/ld-musl-x86_64.so.1")?.libc).toBe("musl");
    expect(read("beckon:libc=\nbeckon:loader=/lib64/ld-linux-x86-64.so.2")?.libc).toBe("glibc");
    expect(read("beckon:libc=ldd (Debian GLIBC 2.31-13) 2.31")?.glibcVersion).toBe("2.31");
    expect(read("beckon:system=Darwin\nbeckon:cpu=arm64")).toMatchObject({ system: "darwin", libc: null });
    expect(readProbe("beckon:system=Linux\n")).toBeNull();
  });
});

describe("what there is to do", () => {
  const program = "/home/dev/.local/bin/beckon";
  const plan = (version: string | null | undefined, isNamed = false, path = program) =>
    planProgram({ program, beckon: version === undefined ? null : { path, version } }, "1.2.0", isNamed);

  test("beckon is copied where it is missing or older, and where the user names a program", () => {
    expect(plan(undefined)).toEqual({ do: "copy", replaces: null });
    expect(plan("1.1.9")).toEqual({ do: "copy", replaces: "1.1.9" });
    expect(plan("1.2.0")).toEqual({ do: "keep", path: program, version: "1.2.0", isNewer: false });
    expect(plan("1.10.0")).toEqual({ do: "keep", path: program, version: "1.10.0", isNewer: true });
    expect(plan("1.2.0", true)).toEqual({ do: "copy", replaces: "1.2.0" });
    expect(plan(null)).toContain("is another program");
    expect(plan(null, false, "/usr/bin/beckon")).toEqual({ do: "copy", replaces: null });
  });

  test("what keeps it from there is one clear line", () => {
    const facts = {
      program,
      user: "dev",
      freeBytes: 20e6,
      readOnlyFolder: null,
      noexecMount: null,
    } as MachineFacts;
    expect(findObstacle(facts, 126e6)).toBe(
      "/home/dev/.local/bin has 20 MB free there, and beckon needs 126 MB",
    );
    expect(findObstacle({ ...facts, noexecMount: "/home" }, 1)).toContain("programs may not be run in /home");
    expect(findObstacle({ ...facts, readOnlyFolder: "/home/dev" }, 1)).toContain(
      "may not write to /home/dev",
    );
    expect(findObstacle(facts, 1)).toBeNull();
  });
});

/** A program that answers like beckon. */
const working = "#!/bin/sh\necho beckon 1.2.3\n";

describe("copying", () => {
  const copy = (program: string, input: string, size = input.length, env: Record<string, string> = {}) =>
    readCopy(sh(copyScript, [program, String(size)], input, env), join(program, ".."));

  test("leaves nothing behind if the copying beckon is gone and nobody reads its output", () => {
    const place = join(folder, "gone", "bin");
    const copy = ["sh", "-c", quoteForShell(copyScript), "sh", quoteForShell(join(place, "beckon")), "1000"];
    Bun.spawnSync(["sh", "-c", `printf part | ${copy.join(" ")} | :`]);
    expect(existsSync(join(folder, "gone"))).toBe(false);
  });

  test("puts the program in its place, in a folder that is made for it", () => {
    const program = join(folder, "it's new", "$HOME", "beckon");
    expect(copy(program, working)).toEqual({ version: "1.2.3" });
    expect(readFileSync(program, "utf8")).toBe(working);
    expect(readdirSync(join(program, ".."))).toEqual(["beckon"]);
  });

  test("a program that does not run, is cut or is not beckon leaves nothing behind, and what was there stays", () => {
    const home = join(folder, "kept");
    const program = join(home, "bin", "beckon");
    const fail = (input: string, size?: number) => copy(program, input, size);
    mkdirSync(home);
    expect(fail("#!/bin/sh\necho no >&2; exit 3\n")).toEqual({ problem: "beckon does not run there: no" });
    expect(fail(working, working.length + 5)).toEqual({
      problem: `only ${working.length} bytes arrived there: the connection was lost`,
    });
    expect(fail("#!/bin/sh\necho hello\n")).toEqual({
      problem: 'the file that was copied is not beckon: it printed "hello"',
    });
    expect(fail("#!/no/loader\n")).toEqual({ problem: "glibc is missing there: beckon needs its loader" });
    expect(readdirSync(home)).toEqual([]);
    expect(copy(program, working)).toEqual({ version: "1.2.3" });
    expect(fail("#!/bin/sh\nexit 1\n")).toHaveProperty("problem");
    expect([readdirSync(join(home, "bin")), readFileSync(program, "utf8")]).toEqual([["beckon"], working]);
  });

  testWith("linux")("a program that needs a newer glibc says which", async () => {
    const source = readFileSync("/bin/true");
    // The name of the version that it needs, as another program would have it.
    const at = source.indexOf("GLIBC_2.");
    source.write("GLIBC_2.9", at);
    const program = join(folder, "newer", "beckon");
    const { stdout, stderr, exitCode } = Bun.spawnSync(
      ["sh", "-c", copyScript, "sh", program, String(source.length)],
      {
        stdin: source,
        env: { PATH: "/usr/bin:/bin" },
      },
    );
    const run = { stdout: stdout.toString(), stderr: stderr.toString(), code: exitCode };
    const outcome = readCopy(run, join(folder, "newer"));
    expect(outcome).toEqual({
      problem: expect.stringMatching(/^glibc is too old there: beckon needs GLIBC 2\.9/),
    });
    expect(readdirSync(folder)).not.toContain("newer");
  });

  testWith("root", "unshare")(
    "a full disk and a disk without programs say so, and stay as they were",
    async () => {
      const mount = join(folder, "disk");
      mkdirSync(mount);
      /** Copies in a namespace where the folder is a disk of its own. Prints what is on it then. */
      const copyTo = (options: string, input: string) => {
        const args = [quoteForShell(mount), quoteForShell(copyScript)];
        const script = `mount -t tmpfs -o ${options} tmpfs ${args[0]}; sh -c ${args[1]} sh ${args[0]}/bin/beckon ${input.length}; code=$?; ls -A ${args[0]} >&2; exit $code`;
        const child = Bun.spawnSync(["unshare", "--mount", "sh", "-c", script], {
          stdin: Buffer.from(input),
          env: { PATH: "/usr/bin:/bin:/usr/sbin:/sbin" },
        });
        const run = { stdout: child.stdout.toString(), stderr: "", code: child.exitCode };
        return { outcome: readCopy(run, "/disk"), left: child.stderr.toString() };
      };
      expect(copyTo("size=64k", working + "x".repeat(200_000))).toEqual({
        outcome: { problem: "the disk of /disk is full there" },
        left: "",
      });
      expect(copyTo("noexec", working)).toEqual({
        outcome: { problem: "programs may not be run in /disk there (noexec)" },
        left: "",
      });
      expect(copyTo("size=1m", working)).toEqual({ outcome: { version: "1.2.3" }, left: "bin\n" });
    },
  );
});

describe("commands", () => {
  test("a script goes as one word through the login shell of ssh, whatever it and its arguments contain", () => {
    const argv = createShellCommand({ ssh: "me@box" }, `printf "%s|" "$@"`, ["a b", "it's", "$HOME", ""]);
    expect(argv.slice(0, 2)).toEqual(["ssh", "-T"]);
    expect(argv.at(-2)).toBe("me@box");
    for (const shell of ["sh", "bash"]) {
      const { stdout } = Bun.spawnSync([shell, "-c", argv.at(-1) ?? ""]);
      expect(stdout.toString()).toBe("a b|it's|$HOME||");
    }
  });

  test("no script has a line break, which a csh would not take", () => {
    for (const script of [probeScript, copyScript]) expect(script).not.toContain("\n");
  });

  test("without a login shell in between, script and arguments go as they are", () => {
    const argv = createShellCommand({ pod: "api" }, "echo $1", ["a b"]);
    expect(argv).toEqual(["kubectl", "exec", "-i", "api", "--", "sh", "-c", "echo $1", "sh", "a b"]);
  });

  test("what the user types to remove beckon there expands nothing here", () => {
    expect(formatCommandThere({ ssh: "box" }, "--uninstall")).toBe(
      "ssh box '~/.local/bin/beckon --uninstall'",
    );
  });
});

test("a file that may not be run there is not taken for a refused login", () => {
  const denied = "sh: 1: /home/dev/.local/bin/beckon: Permission denied";
  expect(explainEnd(126, denied)).toMatchObject({ problem: "down", isPermanent: false });
  expect(explainEnd(255, "dev@box: Permission denied (publickey).")).toMatchObject({
    problem: "auth-failed",
    isPermanent: true,
  });
});

test("the command that adds a machine again is the one that added it", () => {
  const fix = (settings: Parameters<typeof suggestFix>[2]) => suggestFix("not-installed", "box", settings);
  expect(fix({ ssh: "me@10.0.0.7" })).toBe("Run: beckon machine add me@10.0.0.7 --name box");
  expect(fix({ container: "web", program: "/opt/b" })).toBe(
    "Run: beckon machine add box --container web --program /opt/b",
  );
});

test("what a machine's doctor says is taken only in its form, after whatever its shell prints", () => {
  const finding = { id: "hooks.whole", link: "hooks", state: "ok", text: "all there", fix: null };
  const print = (report: object) => `Welcome\n${JSON.stringify(report, null, 2)}\n`;
  expect(readDoctorReport(print({ ok: true, findings: [finding] }))).toEqual([finding] as never);
  expect(readDoctorReport(print({ findings: [{ ...finding, state: "great" }] }))).toBeNull();
  expect(readDoctorReport("bash: beckon: not found")).toBeNull();
});
