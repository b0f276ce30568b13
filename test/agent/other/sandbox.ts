/** A sandbox with another agent's real CLI, the user's terminal and beckon, which its own installer has connected. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { SessionView } from "../../../src/core/view/session-view.ts";
import {
  createShownHistory,
  type DialogKind,
  judgeScreen,
  type ScreenState,
  type ScreenVerdict,
  type TimedScreenRow,
} from "../../agents/screen-judge.ts";
import { parseJsonLines } from "../../json-lines.ts";
import { binary } from "../../repo.ts";
import { letTimePass, waitUntil } from "../../wait-until.ts";
import { type Beckon, createBeckon } from "../beckon.ts";
import { home, type Namespace, openNamespace, readFirstLine, type Variables } from "../namespace.ts";
import { openTerminal } from "../terminal.ts";
import { modulesOf, type OtherCli } from "./clis.ts";
import { otherApiReady } from "./fake-api.ts";

export const otherApiPort = 8788;

/** How to drive one agent's CLI. */
export interface CliDriver {
  readonly cli: OtherCli;
  readonly env: Variables;
  /** Files below the home folder, as they are after the first use of the CLI. */
  readonly files: Readonly<Record<string, string>>;
  /** Folders below the home folder that are copies of parts of node_modules. */
  readonly copies?: Readonly<Record<string, (path: string) => boolean>>;
  readonly ready: RegExp;
  readonly dialogs: Readonly<Partial<Record<DialogKind, RegExp>>>;
  isWorking(screen: string): boolean;
  /** How a reply begins on the screen. Absent if the CLI is slow enough to be seen at work. */
  createReplyPattern?(text: string): RegExp;
  /** A prompt that makes the agent run this shell command, for which it needs permission. */
  createCommandPrompt(command: string): string;
  /** A prompt that makes the agent ask which colour the user wants. */
  readonly questionPrompt: string;
  /** A prompt that keeps the agent at work for half a minute. Absent if a reply that comes slowly does. */
  readonly slowPrompt?: string;
  /** What allows a request once, in its dialog. Absent: Enter. */
  readonly approveKey?: string;
  /** What the CLI writes by itself, also if nothing is wrong, that reads like an error or names hooks. */
  readonly harmless?: RegExp;
  /** What the user types to leave. */
  readonly exit: string;
  /** How it is started for the first time after beckon's installation. Absent if that is like any start. */
  startFirst?(sandbox: OtherSandbox): Promise<void>;
  /** A pattern of how the CLI's script is run. Absent if the CLI is a program itself. */
  readonly interpreter?: string;
}

export interface OtherSandbox {
  readonly beckon: Beckon;
  readonly space: Namespace;
  /** Starts the CLI for the first time, up to its prompt. */
  startFirst(): Promise<void>;
  /** Starts the CLI and waits until it accepts a prompt. */
  startCli(args?: string): Promise<void>;
  /** Types a prompt that starts a turn, and waits until the CLI works, asks or is done with it. */
  prompt(text: string): Promise<void>;
  /** Starts a turn that takes half a minute, and compares the state. */
  startSlowTurn(): Promise<void>;
  /** A turn without a tool: the agent replies with this text. */
  say(text: string): Promise<void>;
  typeLine(text: string): Promise<void>;
  /** Types a command of the CLI's, and waits until beckon shows a session for which this is true. */
  typeCommand(text: string, isMatch: (session: SessionView) => boolean): Promise<void>;
  pressKeys(...keys: readonly string[]): Promise<void>;
  /** Presses a key, and waits until it has changed the screen. */
  pressAndSee(key: string): Promise<void>;
  /** Types a prompt that opens a dialog, and compares the state. */
  openDialog(kind: DialogKind, text: string): Promise<void>;
  waitForDialog(kind: DialogKind): Promise<void>;
  waitUntilNoDialog(): Promise<void>;
  /** Waits until the turn is over on the screen. */
  waitUntilIdle(): Promise<void>;
  /** Waits until the dialog is gone and the turn is over, and compares the state. */
  settle(label: string): Promise<void>;
  waitForScreen(pattern: RegExp): Promise<void>;
  /** Compares the state on the screen with beckon's, now and at the end. */
  compareState(label: string): Promise<void>;
  /** Waits until beckon shows a session for which this is true. */
  waitForSession(isMatch: (session: SessionView) => boolean, what: string): Promise<SessionView>;
  readScreen(): Promise<string>;
  /** Sends SIGKILL to the CLI. */
  killCli(): Promise<void>;
  /** Leaves the CLI, and waits for the shell. */
  leaveCli(): Promise<void>;
  /** The names of the project's files. */
  listFiles(): Promise<readonly string[]>;
  hasFile(name: string): boolean;
  runShell(line: string): Promise<void>;
  /** When each request of a turn reached the API, in ms. */
  readRequests(): readonly number[];
  /** Waits until so many requests of turns have reached the API. */
  waitForRequests(count: number): Promise<void>;
  /** Waits until the work guard has recorded such an event of a session, while it worked on this port. */
  waitForEvent(type: string, port?: string): Promise<void>;
  /** The last text of the last request: what the model learned last. */
  readLastText(): string;
  judge(): ScreenVerdict;
  close(): Promise<void>;
}

const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const userEnv = { PATH: `${home}/bin:${path}`, HOME: home, LANG: "C.UTF-8" };
const timeoutMs = 40_000;
/** opencode takes 15 s to its prompt, and at a load of 8 more than 40 s. */
const startTimeoutMs = 90_000;
const screenPollMs = 50;
/** A state must last this long before it is compared: beckon has 500 ms to show it. */
const dwellMs = 1_200;

export interface OtherSandboxOptions {
  /** If false, beckon is neither installed nor started. */
  readonly isInstalled?: boolean;
  /** Files that are added to the driver's. */
  readonly files?: Readonly<Record<string, string>>;
  /** CLIs of further agents in the same home. */
  readonly others?: readonly CliDriver[];
  /** Paths below the home folder, and the files or folders of this machine that are mounted there. */
  readonly mounts?: Readonly<Record<string, string>>;
  /** Variables that are added to the terminal's. */
  readonly env?: Variables;
  /** Variables that are added to beckon's. */
  readonly beckonEnv?: Variables;
  /** An open machine, with what `listMounts` lists, that is used instead of a namespace of its own. It stays open. */
  readonly machine?: SandboxMachine;
}

export interface SandboxMachine {
  readonly space: Namespace;
  /** The user's home, as seen from outside. */
  readonly folder: string;
  /** The user there; others cannot write to the home. */
  readonly userId: number;
}

/** What has to be mounted in the home: paths in it, and the files and folders of this machine. */
export const listMounts = (drivers: readonly CliDriver[]): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(drivers.map(({ cli }) => [folderOf(cli), modulesOf(cli)])),
  "bin/beckon": binary,
});

export async function openOtherSandbox(
  driver: CliDriver,
  options: OtherSandboxOptions = {},
): Promise<OtherSandbox> {
  if (options.machine) return setUp(driver, options.machine.folder, options);
  const folder = mkdtempSync("/tmp/beckon-agent-");
  try {
    return await setUp(driver, folder, options);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Where a CLI's node_modules are in the sandbox. Node.js finds packages only below a folder of that name. */
const folderOf = ({ id }: OtherCli): string => `cli-${id}/node_modules`;

function putFiles(files: Readonly<Record<string, string>>, inHome: (name: string) => string): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(inHome(name)), { recursive: true });
    writeFileSync(inHome(name), text);
  }
}

function putCli({ cli, files, copies = {} }: CliDriver, inHome: (name: string) => string): void {
  for (const [name, isIncluded] of Object.entries(copies))
    cpSync(modulesOf(cli), inHome(name), { recursive: true, filter: isIncluded });
  putFiles(files, inHome);
  const parts = [...(cli.node ? [cli.node] : []), cli.program].map(
    (part) => `${home}/${folderOf(cli)}/${part}`,
  );
  const command = `#!/bin/sh\nexec ${parts.join(" ")} "$@"\n`;
  writeFileSync(inHome(`bin/${cli.id}`), command, { mode: 0o755 });
}

async function setUp(driver: CliDriver, folder: string, options: OtherSandboxOptions): Promise<OtherSandbox> {
  const { isInstalled = true, files = {}, others = [], mounts = {}, env = {}, beckonEnv = {} } = options;
  const { cli } = driver;
  const inHome = (name: string) => join(folder, name);
  for (const name of ["proj", "bin"]) mkdirSync(inHome(name), { recursive: true });
  const drivers = [driver, ...others];
  for (const each of drivers) putCli(each, inHome);
  putFiles(files, inHome);
  const { machine } = options;
  // What is mounted there is not seen from outside, so it keeps its owner.
  if (machine) Bun.spawnSync(["chown", "-R", `${machine.userId}:${machine.userId}`, folder]);
  const space = machine?.space ?? (await openNamespace(folder, { ...listMounts(drivers), ...mounts }));
  const script = join(import.meta.dir, "fake-api.ts");
  const requestLog = inHome("requests.log");
  const api = space.startOutside([process.execPath, script, String(otherApiPort), requestLog]);
  if ((await readFirstLine(api.stdout)) !== otherApiReady) throw new Error("the fake API did not start");
  const shell = { ...userEnv, SHELL: "/bin/bash", TERM: "xterm-256color", ...driver.env, ...env };
  const terminal = await openTerminal(space, shell);

  const startedAt = performance.now();
  const now = () => performance.now() - startedAt;
  const history = createShownHistory();
  const rows: TimedScreenRow[] = [];
  let sessions: readonly SessionView[] = [];
  const beckon = createBeckon(space, folder, { ...userEnv, ...beckonEnv }, (shown) => {
    sessions = shown;
    history.add(now(), shown);
  });
  if (isInstalled) {
    await beckon.start();
    const { code, stdout, stderr } = await beckon.run("--install", "--no-login", "--agent", cli.id);
    if (code !== 0) throw new Error(`beckon --install ended with ${code}: ${stdout}${stderr}`);
  }

  /** What the screen shows now. Two equal readings count, because a screen can be half drawn. */
  let state: ScreenState = "shell";
  let dialog: DialogKind | null = null;
  let isRunning = false;
  let isWatching = true;
  const readDialog = (screen: string): DialogKind | null => {
    for (const [kind, pattern] of Object.entries(driver.dialogs))
      if (pattern.test(screen)) return kind as DialogKind;
    return null;
  };
  async function watchScreen(): Promise<void> {
    let before: DialogKind | null = null;
    const look = async (): Promise<void> => {
      const ms = now();
      const screen = await terminal.readVisible().catch(() => "");
      const kind = isRunning ? readDialog(screen) : null;
      if (kind === before && kind !== dialog) {
        if (dialog !== null) rows.push({ ms, kind: "dialog", on: false, what: dialog });
        if (kind !== null) rows.push({ ms, kind: "dialog", on: true, what: kind });
        dialog = kind;
      }
      before = kind;
      state = !isRunning
        ? "shell"
        : kind !== null
          ? "waiting"
          : driver.isWorking(screen)
            ? "working"
            : "idle";
    };
    const isOver = async () => {
      await look();
      return !isWatching;
    };
    await waitUntil(isOver, Number.POSITIVE_INFINITY, "the end of the watch", screenPollMs);
  }
  const watching = watchScreen();

  async function waitFor(
    what: string,
    isDone: () => boolean | Promise<boolean>,
    maxMs = timeoutMs,
  ): Promise<void> {
    const describe = async () => `${what}, but:\n${await terminal.readScreen()}`;
    await waitUntil(isDone, maxMs, describe, screenPollMs);
  }
  const commandLine = `^${driver.interpreter ?? ""}${home}/${folderOf(cli)}/`;
  const listCli = async () => (await space.run(["pgrep", "-f", commandLine], {})).stdout;
  const readLog = (): readonly (readonly [at: number, last: string])[] =>
    existsSync(requestLog) ? parseJsonLines(readFileSync(requestLog, "utf8")) : [];
  const waitUntilIdle = () => waitUntilLasting("an idle screen", () => state === "idle", 600);
  async function waitUntilLasting(what: string, isTrue: () => boolean, lastMs: number): Promise<void> {
    let since = performance.now();
    await waitFor(what, () => {
      if (!isTrue()) since = performance.now();
      return performance.now() - since >= lastMs;
    });
  }

  /** On a busy machine the CLI may take Enter for a part of pasted text. On an empty prompt it does nothing. */
  async function typeUntil(
    text: string,
    what: string,
    isDone: () => boolean | Promise<boolean>,
    maxMs = timeoutMs,
  ): Promise<void> {
    await terminal.typeLine(text);
    let enterAt = performance.now();
    await waitFor(
      what,
      async () => {
        if (await isDone()) return true;
        if (performance.now() - enterAt > 3_000) {
          await terminal.pressKeys("Enter");
          enterAt = performance.now();
        }
        return false;
      },
      maxMs,
    );
  }

  const sandbox: OtherSandbox = {
    beckon,
    space,
    startFirst: () => driver.startFirst?.(sandbox) ?? sandbox.startCli(),
    async startCli(args = "") {
      await terminal.typeLine(`${cli.id} ${args}`.trim());
      isRunning = true;
      const isReady = async () => driver.ready.test(await terminal.readVisible());
      await waitFor("the CLI's prompt", isReady, startTimeoutMs);
      await letTimePass(1_500, "it shows its prompt before it reads keys");
    },
    prompt: (text) => typeUntil(text, "work on the prompt", () => state !== "idle"),
    async startSlowTurn() {
      await sandbox.prompt(driver.slowPrompt ?? "DO slow 30");
      await sandbox.compareState("working");
    },
    async say(text) {
      if (driver.createReplyPattern) {
        await terminal.typeLine(`SAY ${text}`);
        await sandbox.waitForScreen(driver.createReplyPattern(text));
      } else {
        await sandbox.prompt(`SAY ${text}`);
      }
      await waitUntilIdle();
    },
    typeLine: (text) => terminal.typeLine(text),
    typeCommand: (text, isMatch) =>
      typeUntil(text, `the effect of ${text} in beckon status`, () => sessions.some(isMatch)),
    pressKeys: (...keys) => terminal.pressKeys(...keys),
    async pressAndSee(key) {
      const before = await terminal.readVisible();
      await terminal.pressKeys(key);
      await waitFor(`an effect of ${key}`, async () => (await terminal.readVisible()) !== before);
    },
    async openDialog(kind, text) {
      await sandbox.prompt(text);
      await sandbox.waitForDialog(kind);
      await sandbox.compareState(`dialog of ${text}`);
    },
    waitForDialog: (kind) => waitFor(`a ${kind} dialog`, () => dialog === kind),
    waitUntilNoDialog: () => waitFor("a screen without a dialog", () => dialog === null),
    waitUntilIdle,
    async settle(label) {
      await sandbox.waitUntilNoDialog();
      await waitUntilIdle();
      await sandbox.compareState(label);
    },
    waitForScreen: (pattern) =>
      waitFor(String(pattern), async () => pattern.test(await terminal.readVisible())),
    async compareState(label) {
      await letTimePass(dwellMs, "beckon has 500 ms to show a state, and only a lasting one is compared");
      rows.push({ ms: now(), kind: "look", label, state });
      await letTimePass(dwellMs / 2, "the state must also last a little longer");
    },
    async waitForSession(isMatch, what) {
      await waitFor(`${what} in beckon status`, () => sessions.some(isMatch));
      const session = sessions.find(isMatch);
      if (!session) throw new Error(`${what} is gone again`);
      return session;
    },
    readScreen: terminal.readScreen,
    async killCli() {
      isRunning = false;
      // The program itself, not the shell script that it replaced.
      await space.run(["pkill", "-KILL", "-f", commandLine], {});
    },
    async leaveCli() {
      // After a command, Qwen Code took 43 to 45 s to leave at a load of 16, also without beckon (n=2).
      const hasLeft = async () => (await listCli()) === "";
      await typeUntil(driver.exit, "the end of the CLI", hasLeft, startTimeoutMs);
      isRunning = false;
    },
    async listFiles() {
      const { stdout } = await space.run(["ls", `${home}/proj`], {});
      return stdout.split("\n").filter(Boolean);
    },
    hasFile: (name) => existsSync(join(space.root, home, name)),
    async runShell(line) {
      const { code, stderr } = await space.run(["sh", "-c", line], shell);
      if (code !== 0) throw new Error(`${line} ended with ${code}: ${stderr}`);
    },
    readRequests: () => readLog().map(([at]) => at),
    waitForRequests: (count) => waitFor(`${count} requests`, () => readLog().length >= count),
    waitForEvent: (type, port) =>
      waitFor(`${type} in the journal`, async () => {
        const text = `${port === undefined ? "" : `"port_id":"${port}",`}"event_type":"${type}"`;
        const { code } = await space.run(["grep", "-rq", text, `${home}/.local/state/beckon/journal`], {});
        return code === 0;
      }),
    readLastText: () => readLog().at(-1)?.[1] ?? "",
    judge: () => judgeScreen(rows, history, now()),
    async close() {
      isWatching = false;
      await watching;
      await beckon.stopPolling();
      api.kill();
      if (machine) return;
      await space.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return sandbox;
}
