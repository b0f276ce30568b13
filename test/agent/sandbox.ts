/** A sandbox with the CLI, the user's terminal and beckon. The network is loopback only, with a fake API. */
import { Database } from "bun:sqlite";
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { eventsKnownTo } from "../../src/agents/claude/hooks.ts";
import type { ActivityPhase, SessionState } from "../../src/core/session/phase.ts";
import type { SessionView } from "../../src/core/view/session-view.ts";
import type { Row } from "../replay/recording.ts";
import { binary } from "../repo.ts";
import { letTimePass, waitUntil } from "../wait-until.ts";
import { type Beckon, createBeckon } from "./beckon.ts";
import { claudeVariables, type FakeApi, startFakeApi, writeClaudeHome } from "./claude-home.ts";
import { cliVersion, oldVersions } from "./cli.ts";
import { home, type Namespace, openNamespace, type Signal, type Variables } from "./namespace.ts";
import { createRecordingScript, type SandboxRecorder, startRecorder } from "./recorder.ts";
import { openTerminal } from "./terminal.ts";

export interface Sandbox {
  readonly beckon: Beckon;
  readonly recorder: SandboxRecorder;
  /** Starts the CLI and waits until it accepts a prompt. */
  startCli(args?: string): Promise<void>;
  /** Types a line. The waits below count only what happens after the last key, line or command. */
  typeLine(text: string): Promise<void>;
  /** Types a prompt, and waits until its turn has been over for a while. */
  runTurn(text: string): Promise<void>;
  /** Types a prompt, and waits until its dialog has been on the screen for a while. */
  openDialog(text: string, pattern: RegExp): Promise<void>;
  /** Presses the keys without a pause. */
  pressKeys(...keys: readonly string[]): Promise<void>;
  waitForScreen(pattern: RegExp): Promise<void>;
  waitUntilHidden(pattern: RegExp): Promise<void>;
  /** Waits for a dialog with this text and answers Yes. */
  acceptDialog(pattern: RegExp): Promise<void>;
  readScreen(): Promise<string>;
  /** The lines about failed hooks that were on the screen at any action, or are now. */
  readHookErrors(): Promise<string[]>;
  /** Waits until the CLI's status file has this status. */
  waitForStatus(status: "idle" | "busy" | "waiting" | "shell" | "gone"): Promise<void>;
  /** Waits until the recorder's hook has run for that event. */
  waitForHook(event: string, times?: number): Promise<void>;
  /** Waits until beckon's hook has delivered that event, to the app or the spool. */
  waitForArrival(event: string, times?: number): Promise<void>;
  /** Waits until that file is in the home and returns its modification time. */
  waitForFile(name: string): Promise<number>;
  hasFile(name: string): boolean;
  /** The path of a file in the home, outside of the sandbox. */
  resolveInHome(name: string): string;
  /** Waits until beckon shows a session in this state. */
  waitForState(state: SessionState, phase?: ActivityPhase): Promise<void>;
  readonly readRequests: FakeApi["readRequests"];
  /** Reads rows of beckon's history. Empty if there is none yet. */
  readHistory<Row>(sql: string): Row[];
  /** Waits, so that a status lasts long enough to be judged twice. */
  dwell(): Promise<void>;
  /** Sends the CLI a signal, KILL by default. */
  killCli(signal?: Signal): Promise<void>;
  /** The command lines of all processes. */
  listProcesses(): string[];
  /** Writes a file in the home that only its owner may read. */
  writeFile(name: string, text: string): void;
  /** Starts a program of this machine in the sandbox's network. */
  startOutside: Namespace["startOutside"];
  /** Waits until beckon can answer an ask. */
  waitForAnswerable(): Promise<void>;
  /** Runs a line of shell, as in another terminal. */
  runShell(line: string): Promise<void>;
  close(): Promise<void>;
}

/** "Stop hook error: …", "PostToolUse:Bash hook error", "SessionEnd hook […] failed: …" */
const hookError = /\bhook\b.*(error|failed)/i;

/** The CLI's default, "auto", rarely asks. */
export const defaultMode = "--permission-mode default";

export interface SandboxOptions {
  /** Path of another build of beckon. */
  readonly binary?: string;
  /** The version of the CLI. */
  readonly cli?: string;
  /** If false, the hooks are registered only by beckon.install(). */
  readonly isInstalled?: boolean;
  /** Fields added to ~/.claude.json. */
  readonly claudeJson?: object;
  /** Fields added to the CLI's settings. */
  readonly settings?: object;
  /** Path in the home to a file or folder outside that is mounted there. */
  readonly files?: Readonly<Record<string, string>>;
  /** Prompts that the fake API takes as a line of its script. */
  readonly prompts?: Readonly<Record<string, string>>;
  /** Variables added to beckon's environment. */
  readonly env?: Variables;
}

const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const timeoutMs = 15_000;
const pollMs = 15;
/** The judge checks a status that lasted more than 1.85 s a second time, 600 ms before its end. */
const dwellMs = 2_000;

const userEnv = { PATH: `${home}/bin:${path}`, HOME: home, LANG: "C.UTF-8" };

/** The CLI has a status file from 2.1.200 at the latest. With older ones, only the screen shows that it accepts a prompt. */
const writesStatus = (version: string): boolean => !(oldVersions as readonly string[]).includes(version);
const oldPrompt = /\? for shortcuts/;

const shell = { ...userEnv, SHELL: "/bin/bash", TERM: "xterm-256color", ...claudeVariables };

/** The recorder's hooks, registered before beckon's. */
function createRecordingHooks(version: string): object {
  const record = (event: string) => ({ type: "command", command: `sh ${home}/record.sh ${event}` });
  const events = [...eventsKnownTo(version), ...(writesStatus(version) ? ["ConfigChange"] : [])];
  return Object.fromEntries(events.map((event) => [event, [{ hooks: [record(event)] }]]));
}

export async function openSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const program = options.binary ?? binary;
  if (!existsSync(program)) throw new Error(`${program} does not exist. Build it with: npm run build`);
  const folder = mkdtempSync("/tmp/beckon-agent-");
  try {
    return await setUpSandbox(folder, options);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

async function setUpSandbox(folder: string, options: SandboxOptions): Promise<Sandbox> {
  const { cli: version = cliVersion, isInstalled = true } = options;
  const inHome = (name: string) => join(folder, name);
  mkdirSync(inHome("hooks"));
  writeFileSync(inHome("record.sh"), createRecordingScript(`${home}/hooks`));
  const files = writeClaudeHome(folder, version, {
    settings: { hooks: createRecordingHooks(version), ...options.settings },
    claudeJson: options.claudeJson,
  });
  const space = await openNamespace(folder, {
    ...files,
    "bin/beckon": options.binary ?? binary,
    ...options.files,
  });
  const api = await startFakeApi(space, inHome("requests.log"), options.prompts);
  const terminal = await openTerminal(space, shell);
  const recorder = startRecorder(inHome(".claude/sessions"), inHome("hooks"));
  const beckon = createBeckon(space, folder, { ...userEnv, ...options.env }, recorder.addShown);
  if (isInstalled) await beckon.install();

  let filesBefore = 0;
  let lastActionMs = 0;
  /** Collected at every action, because the CLI clears its lines from the screen when it exits. */
  const hookErrors = new Set<string>();
  async function readHookErrors(): Promise<string[]> {
    for (const line of (await terminal.readScreen()).split("\n"))
      if (hookError.test(line)) hookErrors.add(line.trim());
    return [...hookErrors];
  }
  async function perform(what: string, act: () => Promise<void>): Promise<void> {
    await readHookErrors();
    filesBefore = recorder.files.length;
    lastActionMs = recorder.mark(what);
    await act();
  }

  const typeLine = (text: string) => perform(`typed ${text}`, () => terminal.typeLine(text));
  const waitForStatus: Sandbox["waitForStatus"] = (status) => {
    const isMatch = (row: Row) => (status === "gone" ? row.gone === true : row.status === status);
    return waitFor(`the status ${status}`, () => recorder.files.slice(filesBefore).some(isMatch));
  };

  const dwell = () => letTimePass(dwellMs, "a status that lasts is judged twice");

  const waitForHook: Sandbox["waitForHook"] = (event, times = 1) =>
    waitFor(`the hook ${event}`, () => recorder.countHooks(event, lastActionMs) >= times);

  return {
    beckon,
    recorder,
    async startCli(args = defaultMode) {
      await typeLine(`claude ${args}`);
      if (writesStatus(version)) return await waitForStatus("idle");
      await terminal.waitForScreen(oldPrompt);
      // 2.0.76 shows its prompt before it reads keys.
      await waitUntil(terminal.isRaw, timeoutMs, "a CLI that reads keys", pollMs);
    },
    typeLine,
    waitForStatus,
    async runTurn(text) {
      await typeLine(text);
      await waitForStatus("idle");
      await dwell();
    },
    async openDialog(text, pattern) {
      await typeLine(text);
      await waitForStatus("waiting");
      await terminal.waitForScreen(pattern);
      await dwell();
    },
    pressKeys: (...keys) => perform(`key ${keys.join(" ")}`, () => terminal.pressKeys(...keys)),
    waitForScreen: terminal.waitForScreen,
    waitUntilHidden: terminal.waitUntilHidden,
    async acceptDialog(pattern) {
      await terminal.waitForScreen(pattern);
      await perform("key Enter", () => terminal.acceptDialog(pattern));
    },
    readScreen: terminal.readScreen,
    readHookErrors,
    waitForHook,
    waitForArrival: (event, times = 1) =>
      waitFor(`${event}, ${times} times, from beckon's hook`, () => beckon.countEvents(event) >= times),
    async waitForFile(name) {
      await waitFor(name, () => existsSync(inHome(name)));
      return statSync(inHome(name)).mtimeMs;
    },
    hasFile: (name) => existsSync(inHome(name)),
    resolveInHome: inHome,
    waitForState(state, phase) {
      const isMatch = (s: SessionView) => s.state === state && (!phase || s.activityPhase === phase);
      return waitFor(
        `${phase ?? state} in beckon status`,
        () => recorder.shown.at(-1)?.sessions.some(isMatch) === true,
      );
    },
    readRequests: api.readRequests,
    readHistory<Row>(sql: string): Row[] {
      const file = inHome(".local/state/beckon/history.db");
      if (!existsSync(file)) return [];
      const db = new Database(file, { readonly: true });
      try {
        return db.query<Row, []>(sql).all();
      } finally {
        db.close();
      }
    },
    dwell,
    killCli(signal = "KILL") {
      const { pid = 0 } = recorder.files.at(-1) ?? {};
      return perform(`kill -${signal === "KILL" ? 9 : signal} ${pid}`, () => space.signal(pid, signal));
    },
    listProcesses: space.listProcesses,
    writeFile(name, text) {
      mkdirSync(dirname(inHome(name)), { recursive: true });
      writeFileSync(inHome(name), text, { mode: 0o600 });
    },
    startOutside: space.startOutside,
    waitForAnswerable: () =>
      waitFor(
        "an answerable ask",
        () =>
          recorder.shown.at(-1)?.sessions.some(({ asks }) => asks.some(({ answerable }) => answerable)) ===
          true,
      ),
    runShell: (line) =>
      perform(line, async () => {
        const { code, stderr } = await space.run(["sh", "-c", line], shell);
        if (code !== 0) throw new Error(`${line}: ${stderr}`);
      }),
    async close() {
      recorder.stop();
      try {
        await beckon.stopPolling();
      } finally {
        await space.close();
        rmSync(folder, { recursive: true, force: true });
      }
    },
  };
}

export async function waitFor(what: string, check: () => boolean, withinMs = timeoutMs): Promise<void> {
  await waitUntil(check, withinMs, what);
}
