/** Every usage error says what is wrong and what to type next. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { version } from "../../package.json";
import { type AppFixture, createAppFixture } from "../app-fixture.ts";

let fixture: AppFixture;
beforeAll(() => {
  fixture = createAppFixture();
});
afterAll(() => fixture.destroy());

const beckon = (args: string[], env?: Record<string, string>) => fixture.runBeckon(args, env);

describe("a usage error", () => {
  test.each([
    [["foo"], 'unknown command "foo". See beckon --help.'],
    [["Status"], 'unknown command "Status": did you mean status? See beckon --help.'],
    [["stauts"], 'unknown command "stauts": did you mean status? See beckon --help.'],
    [["stat"], 'unknown command "stat": did you mean status? See beckon --help.'],
    [["demoo"], 'unknown command "demoo": did you mean demo? See beckon --help.'],
    [
      ["channel", "lst"],
      'unknown command "channel lst": did you mean channel list? See beckon help channel.',
    ],
    [
      ["channel", "add", "a", "--json"],
      'unknown option "--json": channel add takes no options. See beckon help channel.',
    ],
    [["-v", "x"], '--version takes no arguments, but got "x". See beckon help version.'],
    [["install"], 'unknown command "install": did you mean --install? See beckon help install.'],
    [
      ["uninstall", "--purge"],
      'unknown command "uninstall": did you mean --uninstall? See beckon help uninstall.',
    ],
    [["watch"], 'unknown command "watch": did you mean status --watch? See beckon --help.'],
    [["--watch"], 'unknown option "--watch": did you mean status --watch? See beckon --help.'],
    [["uninstal"], 'unknown command "uninstal": did you mean --uninstall? See beckon --help.'],
    [["--instal"], 'unknown option "--instal": did you mean --install? See beckon --help.'],
    [["focus", "--nxt"], 'unknown option "--nxt" for focus: did you mean --next? See beckon help focus.'],
    [["start", "x"], 'start takes no arguments, but got "x". See beckon help start.'],
    [["toString"], 'unknown command "toString". See beckon --help.'],
    [[""], 'unknown command "". See beckon --help.'],
    [["a\nb\u001b[2J"], 'unknown command "a\\nb\\u001b[2J". See beckon --help.'],
    [["--foo"], 'unknown option "--foo". See beckon --help.'],
    [["-x"], 'unknown option "-x". See beckon --help.'],
    [["status", "--jsn"], 'unknown option "--jsn" for status: did you mean --json? See beckon help status.'],
    [
      ["status", "\u2014json"],
      'unknown option "\u2014json" for status: did you mean --json? See beckon help status.',
    ],
    [
      ["status", "-w"],
      'unknown option "-w": status takes --all, --json, --watch, --short, --at TIME and --machine NAME. See beckon help status.',
    ],
    [
      ["status", "-abc"],
      'unknown option "-abc": status takes --all, --json, --watch, --short, --at TIME and --machine NAME. See beckon help status.',
    ],
    [["status", "--json=yes"], '--json takes no value, but got "--json=yes". See beckon help status.'],
    [["status", "abc"], 'status takes no arguments, but got "abc". See beckon help status.'],
    [
      ["status", "--json", "--", "x"],
      'unknown option "--": status takes --all, --json, --watch, --short, --at TIME and --machine NAME. See beckon help status.',
    ],
    [["log", "-n"], "-n needs a value: -n N. See beckon help log."],
    [["log", "-n", "--json"], '-n needs a value: -n N, but got "--json". See beckon help log.'],
    [["log", "-n0"], '-n takes a number of lines, but got "0". See beckon help log.'],
    [["log", "3"], 'log takes no arguments, but got "3". See beckon help log.'],
    [["--version", "x"], '--version takes no arguments, but got "x". See beckon help version.'],
    [["run", "--port=1"], 'unknown option "--port=1": run takes no options. See beckon help run.'],
  ])("%j", async (args, says) => {
    expect(await beckon(args)).toEqual({ out: "", err: `beckon: ${says}\n`, code: 2 });
  });

  test("starts nothing and creates no files", () => expect(existsSync(fixture.paths.state)).toBe(false));
});

test.each(["abc", "0", "65536", "0x1188"])("BECKON_PORT=%j is an error", async (port) => {
  const says = `BECKON_PORT must be a number from 1 to 65535, but is ${JSON.stringify(port)}`;
  expect(await beckon([], { BECKON_PORT: port })).toEqual({ out: "", err: `beckon: ${says}\n`, code: 1 });
});

test.each(["start", "status", "stop"])("%s refuses a BECKON_HOME that is not absolute", async (command) => {
  const says = 'BECKON_HOME must be an absolute path, but is "here/beckon"';
  expect(await beckon([command], { BECKON_HOME: "here/beckon" })).toEqual({
    out: "",
    err: `beckon: ${says}\n`,
    code: 2,
  });
});

test("under npm start, the hints say how to run beckon with npm, unless it is installed", async () => {
  const env = { npm_lifecycle_event: "start", npm_package_name: "beckon", PATH: "/usr/bin:/bin" };
  expect((await beckon(["status"], env)).out).toContain("Start it with: npm start -- start\n");
  expect((await beckon(["stop", "now"], env)).err).toContain("beckon: stop takes no arguments");
  for (const command of ["log", "history", "stats"])
    expect((await beckon([command], env)).out).toContain("Start it with: npm start -- start\n");
  const bin = join(fixture.home, "bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "beckon"), "", { mode: 0o755 });
  const installed = { ...env, PATH: `${bin}:${env.PATH}` };
  expect((await beckon(["status"], installed)).out).toContain("Start it with: beckon start\n");
});

describe("--debug", () => {
  test("shows the stack of an error", async () => {
    const { err } = await beckon(["--debug"], { BECKON_PORT: "abc" });
    expect(err).toStartWith("beckon: Error: BECKON_PORT");
    expect(err).toContain("\n    at ");
  });
});

describe("help", () => {
  test.each([["--version"], ["-v"]])("%s", async (flag) => {
    expect(await beckon([flag])).toEqual({ out: `beckon ${version}\n`, err: "", code: 0 });
  });

  const pages =
    "--install update --uninstall start run restart stop status open focus answer mute snooze dismiss quiet channel log history stats port demo doctor completions help hook --version".split(
      " ",
    );
  const isNarrow = (text: string) => text.split("\n").every((line) => line.length <= 80);

  test.each([[["--help"]], [["-h"]], [["help"]]])("%j lists every command", async (args) => {
    const { out, err, code } = await beckon(args);
    expect({ err, code }).toEqual({ err: "", code: 0 });
    for (const command of pages) {
      expect(out).toContain(command === "run" ? "\n  beckon  " : `\n  beckon ${command} `);
    }
    expect(isNarrow(out)).toBe(true);
  });

  test.each(pages)("help %s shows how to call it, its options and examples", async (command) => {
    const { out, err, code } = await beckon(["help", command]);
    expect({ err, code }).toEqual({ err: "", code: 0 });
    expect(out).toContain(`\n\nUsage:\n  beckon${command === "run" ? "" : ` ${command}`}`);
    expect(out).toContain("\n\nExamples:\n  ");
    expect(isNarrow(out)).toBe(true);
  });

  test.each([
    [["status", "--help"]],
    [["status", "--watch", "-h"]],
    [["--help", "status"]],
    [["help", "status", "--help"]],
  ])("%j shows the page of status", async (args) => {
    expect(await beckon(args)).toEqual(await beckon(["help", "status"]));
  });

  test("help install is the page of --install", async () => {
    expect(await beckon(["help", "install"])).toEqual(await beckon(["--install", "--help"]));
  });

  test.each(
    "--install update --uninstall start restart stop status open focus answer mute snooze dismiss quiet log history stats demo doctor completions".split(
      " ",
    ),
  )("help %s lists the options that the command takes", async (command) => {
    const { err } = await beckon([command, "--zz-zz"]);
    const taken = err
      .match(/(?<![\w-])--?[a-z][a-z-]*/g)
      ?.filter((option) => !["--zz-zz", "--help", command].includes(option));
    const { out } = await beckon(["help", command]);
    const [, options = ""] = /\n\nOptions:\n([\s\S]*?)\n\n/.exec(out) ?? [];
    const listed = options.match(/(?<=^ {2}|, )--?[a-z][a-z-]*/gm) ?? [];
    expect([...listed].sort()).toEqual([...(taken ?? [])].sort());
  });

  test.each([
    [["help", "stauts"], 'unknown command "stauts": did you mean status? See beckon --help.'],
    [["foo", "--help"], 'unknown command "foo". See beckon --help.'],
    [["help", "status", "focus"], "help takes one command. See beckon --help."],
  ])("%j is an error", async (args, error) => {
    expect(await beckon(args)).toEqual({ out: "", err: `beckon: ${error}\n`, code: 2 });
  });
});

describe("beckon without a command", () => {
  test("prints where it listens and that there is no desktop, and stops on Ctrl-C", async () => {
    const child = await fixture.startProcess();
    const { value } = await child.stdout.getReader().read();
    expect(Buffer.from(value ?? []).toString()).toBe(
      `beckon ${version} is running at ${fixture.readUrl()} without icon and alerts, because there is no desktop here.\nSee your sessions with: beckon status. Stop it with Ctrl-C.\n`,
    );
    child.kill("SIGINT");
    expect(await child.exited).toBe(0);
    expect(existsSync(fixture.paths.endpoint)).toBe(false);
  });

  test("names a state folder that it cannot create", async () => {
    const { err, code } = await beckon([], { BECKON_HOME: "/dev/null/beckon" });
    expect(code).toBe(1);
    expect(err).toBe(
      "beckon: cannot create the folder /dev/null/beckon (ENOTDIR). Check what is at that path, or set BECKON_HOME to another folder.\n",
    );
  });
});
