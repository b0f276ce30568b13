/** The command as the agent runs it: with real shells, and everything in the binary's place that can be there. */
import { afterAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createExecCommand, createShellCommand, envProgram } from "../../src/user-files/hook-command.ts";
import { testWith } from "../needs.ts";
import { waitUntil } from "../wait-until.ts";

const fixture = realpathSync(mkdtempSync(join(tmpdir(), "beckon-command-")));
afterAll(() => rmSync(fixture, { recursive: true, force: true }));

const shells = [["dash"], ["bash"], ["bash", "--posix"], ["busybox", "sh"], ["sh"]].filter(([name]) =>
  Bun.which(name ?? ""),
);
const event = JSON.stringify({ hook_event_name: "Stop", text: "x".repeat(200_000) });

let count = 0;
/** A folder with a program in it, or whatever is in its place. */
function place(content: string | Uint8Array | null, mode = 0o755, folder = `${count++}`): string {
  const binary = join(fixture, folder, "beckon");
  mkdirSync(join(binary, ".."), { recursive: true });
  if (content !== null) {
    writeFileSync(binary, content);
    chmodSync(binary, mode);
  }
  return binary;
}

function run(shell: readonly string[], binary: string, home: string | null = null, cwd = fixture) {
  const command = createShellCommand({ binary, agent: "claude", home }).command;
  const child = Bun.spawnSync([...shell, "-c", command], { cwd, stdin: Buffer.from(event), timeout: 20_000 });
  return { code: child.exitCode, out: child.stdout.toString(), err: child.stderr.toString() };
}

/** An executable of a processor that is not this one's: what a home folder shared between machines can hold. */
function foreign(): Uint8Array {
  const [machine, bits] = process.arch === "arm64" ? [0x3e, 64] : [0xb7, 64];
  const file = new Uint8Array(4096);
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  file.set([2, 0, machine, 0, 1], 16);
  file.set([bits], 52);
  file.set(Buffer.from("\n)(\n; then ' \" `\n"), 100);
  return file;
}

const script = (body: string): string => `#!/bin/sh\n${body}\n`;
const troubles: readonly [string, () => string][] = [
  ["is missing", () => place(null)],
  ["is in a folder that is missing", () => join(fixture, "gone", "beckon")],
  ["may not be run", () => place(script("echo no"), 0o644)],
  ["is a folder", () => join(place(null), "..")],
  ["is empty", () => place("")],
  ["is a page that said 404", () => place("<!DOCTYPE html>\n<p>Not found (404); it's gone</p>\n")],
  ["is for another processor", () => place(foreign())],
  ["was cut off in its first bytes", () => place(foreign().slice(0, 30))],
  ["wants an interpreter that is missing", () => place("#!/nowhere/bun\n")],
  ["complains and fails", () => place(script("echo trouble >&2; exit 2"))],
  ["crashes", () => place(script("kill -SEGV $$"))],
  ["is killed", () => place(script("kill -KILL $$"))],
];

const oddNames = [
  "with space",
  "it's",
  'say "hi"',
  "$HOME",
  "`id`",
  "$(id)",
  "new\nline",
  "ünï 漢字 🙂",
  "-rf",
  "back\\slash",
  "*?[a]",
  "#no",
  "!bang!",
  "~",
  "a;b&c|d<e>f",
  "{ }",
];

describe.each(shells.map((shell) => [shell.join(" "), shell] as const))("under %s", (_, shell) => {
  test.each(troubles)("nothing is printed when the binary %s", (_, make) => {
    expect(run(shell, make())).toEqual({ code: 0, out: "", err: "" });
  });

  test.each(oddNames)("the event goes in and the answer comes out, from a folder called %j", (name) => {
    const binary = place(
      script('printf "%s,%s,%s,%s," "$1" "$2" "$#" "$BECKON_HOME"; wc -c'),
      0o755,
      `${count++}/${name}`,
    );
    const home = join(fixture, name);
    const { code, out, err } = run(shell, binary, home);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out.replace(/ /g, "")).toBe(`hook,claude,2,${home},${event.length}\n`.replace(/ /g, ""));
  });

  test("the agent waits only for the shell if it needs no answer, and the event still goes in", async () => {
    const [goOn, out] = [join(fixture, `${count++}`), join(fixture, `${count++}`)];
    const binary = place(
      script(
        `while [ ! -e "${goOn}" ]; do sleep 0.02; done; echo "$BECKON_AGENT_PID $(wc -c)" >"${out}"; echo no`,
      ),
    );
    const { command } = createShellCommand({ binary, agent: "grok", home: null, isDetached: true });
    const child = Bun.spawnSync([...shell, "-c", command], { stdin: Buffer.from(event), timeout: 20_000 });
    expect(child).toMatchObject({ exitCode: 0, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) });
    expect(existsSync(out)).toBeFalse();
    writeFileSync(goOn, "");
    await waitUntil(() => existsSync(out) && readFileSync(out, "utf8").endsWith("\n"), 10_000);
    expect(readFileSync(out, "utf8").trim().split(/ +/)).toEqual([`${process.pid}`, `${event.length}`]);
  });

  test.each(troubles)("nothing is printed, and nobody waits, when the binary %s", (_, make) => {
    const { command } = createShellCommand({ binary: make(), agent: "grok", home: null, isDetached: true });
    const child = Bun.spawnSync([...shell, "-c", command], { stdin: Buffer.from(event), timeout: 20_000 });
    expect(child).toMatchObject({ exitCode: 0, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) });
  });

  test("it runs in a folder that is there, when the agent's own is gone", () => {
    const cwd = join(fixture, `${count++}`);
    mkdirSync(cwd);
    const binary = place(script("pwd"));
    const command = createShellCommand({ binary, agent: "claude", home: null }).command;
    const child = Bun.spawnSync(["sh", "-c", 'rmdir "$PWD" && exec "$@"', "sh", ...shell, "-c", command], {
      cwd,
    });
    // dash and busybox say so before they read the command.
    expect({ code: child.exitCode, out: child.stdout.toString() }).toEqual({ code: 0, out: "/\n" });
  });

  test("the agent that ends the hook is heard by the program, and waits for no one", async () => {
    const [started, heard] = [join(fixture, `${count++}`), join(fixture, `${count++}`)];
    const binary = place(
      script(`trap 'mkdir "${heard}"; exit 0' TERM\n: >"${started}"\nwhile :; do sleep 0.05; done`),
    );
    const child = Bun.spawn(
      [...shell, "-c", createShellCommand({ binary, agent: "claude", home: null }).command],
      {
        stdin: "ignore",
        detached: true,
      },
    );
    await waitUntil(() => existsSync(started), 10_000);
    process.kill(-child.pid, "SIGTERM");
    await child.exited;
    await waitUntil(() => existsSync(heard), 10_000);
  });
});

describe.skipIf(!existsSync(envProgram))("without a shell", () => {
  const runExec = (binary: string, home: string | null = null) => {
    const { command, args } = createExecCommand({ binary, agent: "claude", home });
    const argv = args ? [command, ...args] : ["sh", "-c", command];
    return Bun.spawnSync(argv, { cwd: fixture, stdin: Buffer.from(event), timeout: 20_000 });
  };

  // Bun.spawnSync throws if the system cannot execute the file: that is what Claude Code shows in the terminal.
  test.each(troubles)("the agent can start it, and gets no output, when the binary %s", (_, make) => {
    expect(runExec(make()).stdout.toString()).toBe("");
  });

  test.each([...oddNames, "a=b"])(
    "the event goes in and the answer comes out, from a folder called %j",
    (name) => {
      const binary = place(
        script('printf "%s,%s,%s,%s," "$1" "$2" "$#" "$BECKON_HOME"; wc -c'),
        0o755,
        `${count++}/${name}`,
      );
      const home = join(fixture, name);
      const { stdout, exitCode } = runExec(binary, home);
      const out = `hook,claude,2,${home},${event.length}\n`.replace(/ /g, "");
      expect([exitCode, stdout.toString().replace(/ /g, "")]).toEqual([0, out]);
    },
  );
});

testWith("bash")(
  "Git Bash finds a Windows path that needs quotes, and hears nothing of one that is gone",
  async () => {
    // Bash here takes C:/… for a folder of that name.
    for (const name of ["plain", "with space", "$x", "it's", "`id`"]) {
      const binary = place(script('echo "$# $2"; cat >/dev/null'), 0o755, join(`${count++}`, "C:", name));
      const written = createShellCommand(
        { binary: `C:\\${name}\\beckon`, agent: "claude", home: null },
        "win32",
      ).command;
      const at = (cwd: string) => Bun.spawnSync(["bash", "-c", written], { cwd, stdin: Buffer.from(event) });
      expect(at(join(binary, "../../..")).stdout.toString()).toBe("2 claude\n");
      const gone = at(fixture);
      expect([gone.exitCode, gone.stdout.toString()]).toEqual([0, ""]);
    }
  },
);
