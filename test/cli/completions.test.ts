/** Completions: what the definitions offer, and in the real shells, where no name of a session is ever run or expanded. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { scripts } from "../../src/cli/completion-scripts.ts";
import { type AppFixture, createAppFixture, createPromptEvent } from "../app-fixture.ts";
import { testWith } from "../needs.ts";
import { mainSource } from "../repo.ts";
import { waitForValue, waitUntil } from "../wait-until.ts";

const limitMs = 120_000;
const waitMs = 20_000;

/** A project's folder can be called anything. */
const hostile = [
  "$(touch pwned)",
  "`touch pwned`",
  "x;touch pwned;",
  "x'$(touch pwned)'",
  'x"$(touch pwned)"',
  "é$(touch pwned)",
  "two\ntouch pwned\n",
  "tab\ttouch pwned",
  "\u001b]0;title\u0007\u001b[31mred",
  "--yes",
  "~",
  "*",
  "{a,b}",
  "!!",
  "<(touch pwned)",
  "=touch",
  "sp ace",
];
const idOf = (n: number): string => `f${String(n).padStart(3, "0")}0000-hostile`;

let fixture: AppFixture;
/** Where the shells run. */
let folder: string;
/** Has the `beckon` that they find. */
let bin: string;
/** How often a completion has called it, and how often the user. */
const countCalls = (by: "completions" | "user"): number =>
  readFileSync(join(bin, "calls"), "utf8").split(by).length - 1;

beforeAll(async () => {
  fixture = createAppFixture();
  folder = join(fixture.home, "work");
  bin = join(fixture.home, "bin");
  for (const path of [folder, bin, dirname(fixture.paths.config)]) mkdirSync(path, { recursive: true });
  writeFileSync(fixture.paths.config, JSON.stringify({ channels: { phone: { type: "ntfy", topic: "t" } } }));
  await fixture.start();
  const sessions = [
    ["aaaa1111-0000", "shop-api", "fix the cart"],
    ["bbbb2222-0000", "twice", "go"],
    ["cccc3333-0000", "twice", "go"],
    ...hostile.map((name, n) => [idOf(n), name, `go ${name}`] as const),
  ] as const;
  for (const [id, name, prompt] of sessions)
    await fixture.postHook(createPromptEvent(id, { cwd: `/home/dev/${name}`, prompt }));
  await waitForValue(fixture.fetchSessions, (known) => known.length === sessions.length);
});
afterAll(() => fixture.destroy());
afterEach(() => {
  const wasRun = existsSync(join(folder, "pwned"));
  rmSync(join(folder, "pwned"), { force: true });
  expect(wasRun).toBe(false);
});

/** Installs a `beckon` that notes its calls when they are over. */
function putBeckon(command: string): void {
  const note = `case $1 in completions) by=completions ;; *) by=user ;; esac\necho $by >> '${bin}/calls'`;
  writeFileSync(join(bin, "calls"), "");
  writeFileSync(join(bin, "beckon"), `#!/bin/sh\n${command}\n${note}\n`);
  chmodSync(join(bin, "beckon"), 0o755);
}
const putRealBeckon = () => putBeckon(`'${process.execPath}' '${mainSource}' "$@"`);

async function complete(...words: string[]): Promise<{ lines: string[]; err: string }> {
  const child = fixture.spawnBeckon(["completions", "--complete", "--", ...words]);
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { lines: out.split("\n").slice(0, -1), err };
}

describe("after these words", () => {
  test.each<[string[], string[]]>([
    [["sta"], ["start", "status", "stats"]],
    [["--"], ["--install", "--uninstall", "--help", "--version"]],
    [
      ["status", ""],
      ["--all", "--at", "--json", "--machine", "--watch", "--short", "--help"],
    ],
    [
      ["status", "--json", "--"],
      ["--all", "--at", "--machine", "--watch", "--short", "--help"],
    ],
    [["status", "--", "--"], []],
    [
      ["--install", "--no-"],
      ["--no-login", "--no-statusline"],
    ],
    [
      ["--install", "--scope", ""],
      ["user", "project", "local"],
    ],
    [["--install", "--scope=u"], ["--scope=user"]],
    // As bash passes it.
    [["--install", "--scope", "=", "u"], ["user"]],
    [
      ["--install", "--scope", "="],
      ["user", "project", "local"],
    ],
    [
      ["--install", "--agent", "claude", "co"],
      ["codex", "copilot"],
    ],
    [["--install", "--agent", "claude", "--dry"], ["--dry-run"]],
    [["quiet", "to"], ["tomorrow"]],
    [
      ["channel", ""],
      ["add", "test", "list", "remove"],
    ],
    [["channel", "--j"], ["--json"]],
    [["channel", "test", ""], ["phone"]],
    [["port", "list", "--project", ""], [":folders"]],
    [
      ["answer", "shop-api", "a"],
      ["allow", "always"],
    ],
    [["answer", "shop-api", "deny", ""], []],
    [["answer", "shop-api", "--", "-"], []],
    [["history", "--kind", "pro"], ["prompt"]],
    [["history", "--project", "sh"], ["shop-api"]],
    [["history", "--session", "sh"], ["shop-api"]],
    [
      ["completions", ""],
      ["bash", "zsh", "fish"],
    ],
    [["help", "unin"], ["uninstall"]],
    [["run", "--"], ["--help"]],
    [["nothing", ""], []],
    [["port", "nothing", ""], []],
    [["focus", "sh"], ["shop-api"]],
    // Two sessions are in it.
    [["mute", "twi"], []],
    [["mute", "bbb"], ["bbbb2222"]],
    [["snooze", "aaaa"], ["aaaa1111"]],
    [["focus", "shop-api", ""], []],
  ])("%j", async (words, expected) => {
    const { lines, err } = await complete(...words);
    expect(lines.map((line) => line.split("\t")[0] ?? "")).toEqual(expected);
    expect(err).toBe("");
  });

  test("focus, every session is offered, and only words that no shell expands", async () => {
    const { lines } = await complete("focus", "");
    for (const line of lines) expect(line).toMatch(/^[\p{L}\p{N}_][\p{L}\p{N}_.+-]*\t\P{Cc}*$/u);
    const words = lines.map((line) => line.split("\t")[0] ?? "");
    const ids = hostile.map((_, n) => idOf(n).slice(0, 8));
    expect(words.toSorted()).toEqual(["bbbb2222", "cccc3333", ...ids, "shop-api"].toSorted());
    expect(lines).toContain("shop-api\tworking: fix the cart");
  });
});

test("without a running beckon, and with a broken one, nothing is printed", async () => {
  const empty = { BECKON_HOME: join(fixture.home, "empty") };
  const child = fixture.spawnBeckon(["completions", "--complete", "--", "focus", ""], empty);
  expect(await Promise.all([child.stdout.text(), child.stderr.text()])).toEqual(["", ""]);
  const state = join(fixture.home, "broken");
  mkdirSync(state);
  writeFileSync(join(state, "config.json"), "{");
  const broken = fixture.spawnBeckon(["completions", "--complete", "--", "channel", "test", ""], {
    BECKON_HOME: state,
  });
  expect(await Promise.all([broken.stdout.text(), broken.stderr.text()])).toEqual(["", ""]);
});

test.each([
  [[], "completions takes the name of a shell: bash, zsh, fish. See beckon help completions."],
  [
    ["tcsh"],
    'completions takes the name of a shell: bash, zsh, fish, but got "tcsh". See beckon help completions.',
  ],
])("completions %j is an error", async (args, error) => {
  const child = fixture.spawnBeckon(["completions", ...args]);
  expect(await child.stderr.text()).toBe(`beckon: ${error}\n`);
  expect(await child.exited).toBe(2);
});

interface Shell {
  readonly name: string;
  readonly program: keyof typeof scripts;
  /** Writes the files that make the shell load the script, and returns how to start it. */
  start(script: string): readonly string[];
}

const inHome = (name: string, text: string): string => {
  const path = join(fixture.home, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
};

const shells: readonly Shell[] = [
  {
    name: "bash",
    program: "bash",
    start(script) {
      const rc = inHome("bashrc", `PS1='> '\nsource '${inHome("beckon.bash", script)}'\n`);
      return ["bash", "--noprofile", "--rcfile", rc, "-i"];
    },
  },
  {
    name: "zsh",
    program: "zsh",
    start(script) {
      const functions = dirname(inHome("zsh/functions/_beckon", script));
      inHome(
        "zsh/.zshrc",
        `PS1='> '\nfpath=('${functions}' $fpath)\nautoload -Uz compinit\ncompinit -D -u\n`,
      );
      return ["env", `ZDOTDIR=${join(fixture.home, "zsh")}`, "zsh", "-d", "-i"];
    },
  },
  {
    name: "zsh with source",
    program: "zsh",
    start(script) {
      const path = inHome("beckon.zsh", script);
      inHome("zsh2/.zshrc", `PS1='> '\nautoload -Uz compinit\ncompinit -D -u\nsource '${path}'\n`);
      return ["env", `ZDOTDIR=${join(fixture.home, "zsh2")}`, "zsh", "-d", "-i"];
    },
  },
  {
    name: "fish",
    program: "fish",
    start(script) {
      const setUp = `function fish_prompt; echo -n '> '; end; source '${inHome("beckon.fish", script)}'`;
      return ["fish", "--no-config", "--init-command", setUp];
    },
  },
];

async function tmux(...args: string[]): Promise<string> {
  const argv = ["tmux", "-S", join(fixture.home, "tmux"), "-f", "/dev/null", ...args];
  const env = { ...fixture.env, PATH: `${bin}:${fixture.env.PATH}`, LC_ALL: "C.UTF-8", TERM: "xterm" };
  const child = Bun.spawn(argv, { cwd: folder, env, stdout: "pipe", stderr: "ignore" });
  return child.stdout.text();
}
const readScreen = async (): Promise<string> => (await tmux("capture-pane", "-p")).trimEnd();

/** Waits until the screen matches. */
const shows = (pattern: RegExp) => waitForValue(readScreen, (screen) => pattern.test(screen), waitMs);

async function openShell({ program, start }: Shell): Promise<void> {
  const child = fixture.spawnBeckon(["completions", program]);
  const argv = start(await child.stdout.text());
  await tmux("new-session", "-d", "-x", "120", "-y", "50", ...argv);
  await shows(/^> *$/m);
}

/** Presses keys, and waits until the shell has called beckon. */
async function press(by: "completions" | "user", ...keys: string[]): Promise<void> {
  const before = countCalls(by);
  await tmux("send-keys", ...keys);
  await waitUntil(() => countCalls(by) > before, waitMs);
}

describe.each(shells.map((shell) => [shell.name, shell] as const))("in %s", (_, shell) => {
  const inShell = testWith("tmux", shell.program);
  afterEach(async () => {
    await tmux("kill-server");
  });

  inShell(
    "Tab completes commands, options, values and sessions",
    async () => {
      putRealBeckon();
      await openShell(shell);
      for (const [typed, completed] of [
        ["beckon doc", "beckon doctor"],
        ["beckon status --wa", "beckon status --watch"],
        ["beckon --install --agent cod", "beckon --install --agent codex"],
        ["beckon --install --scope=pro", "beckon --install --scope=project"],
        ["beckon channel test ph", "beckon channel test phone"],
        ["beckon focus sh", "beckon focus shop-api"],
        ["beckon mute bbb", "beckon mute bbbb2222"],
      ] as const) {
        await tmux("send-keys", "-l", typed);
        await press("completions", "Tab");
        await shows(new RegExp(`^> ${completed}(?: |$)`, "m"));
        await tmux("send-keys", "C-u");
        await shows(/^> *$/m);
        await tmux("send-keys", "C-l");
      }
      mkdirSync(join(folder, "packages"), { recursive: true });
      await tmux("send-keys", "-l", "beckon port list --project pack");
      await press("completions", "Tab");
      await shows(/^> beckon port list --project packages\//m);
    },
    limitMs,
  );

  inShell(
    "nothing that a session is called is run or expanded, also inside of quotes",
    async () => {
      putRealBeckon();
      await openShell(shell);
      for (const [opening, closing] of [
        ["", ""],
        ["'", "'"],
        ['"', '"'],
        ["x", ""],
        ["'x", "'"],
        ["f0", ""],
        ["é", ""],
      ] as const) {
        await tmux("send-keys", "-l", `beckon focus ${opening}`);
        await press("completions", "Tab");
        // The second one lists or inserts what fits, and then the command runs with it. In fish, the first Enter only chooses.
        await press("user", "Tab", ...closing, "Enter", "Enter");
        await shows(/^>[^>]*$/m);
        expect(existsSync(join(folder, "pwned"))).toBe(false);
        await tmux("send-keys", "C-l");
      }
    },
    limitMs,
  );

  inShell(
    "what beckon prints is text to the script, whatever it is",
    async () => {
      const lines = hostile.flatMap((name) => name.split("\n")).map((name) => `${name}\tabout ${name}`);
      putBeckon(`cat '${inHome("lines", `${lines.join("\n")}\nvisible\t$(touch pwned)\n`)}'`);
      await openShell({ ...shell, start: () => shell.start(scripts[shell.program]) });
      await tmux("send-keys", "-l", "beckon focus ");
      await press("completions", "Tab");
      await tmux("send-keys", "Tab");
      await shows(/visible/);
    },
    limitMs,
  );
});
