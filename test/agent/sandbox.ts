/** A sandbox with nothing in it but the CLI, a person at a terminal, and beckon. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventsKnownTo } from "../../src/agents/claude/hooks.ts";
import type { ActivityPhase, SessionState } from "../../src/core/session/phase.ts";
import type { SessionSnapshot } from "../../src/core/view/snapshot.ts";
import type { Row } from "../replay/recording.ts";
import { binary } from "../repo.ts";
import { type Beckon, createBeckon } from "./beckon.ts";
import { cliVersion, findCli, oldVersions } from "./cli.ts";
import { apiPort, apiReady } from "./fake-api.ts";
import { type Env, firstLine, home, openNamespace, type Signal } from "./namespace.ts";
import { type Recorder, recordingHook, startRecorder } from "./recorder.ts";
import { openTerminal } from "./terminal.ts";

export interface Sandbox {
  readonly beckon: Beckon;
  readonly recorder: Recorder;
  /** Starts the CLI, and waits until it takes a prompt. */
  startCli(args?: string): Promise<void>;
  /** Types a line; what is waited for next has to come after it. */
  type(text: string): Promise<void>;
  /** Presses them as fast as they come. */
  key(...keys: readonly string[]): Promise<void>;
  shows(pattern: RegExp): Promise<void>;
  hides(pattern: RegExp): Promise<void>;
  /** Waits for a dialog that shows this, and answers Yes. */
  accepts(pattern: RegExp): Promise<void>;
  screen(): Promise<string>;
  /** Every line about a failing hook that was on the screen when something was done, or is there now. */
  hookErrors(): Promise<string[]>;
  /** Waits until the CLI's own file says so. */
  is(status: "idle" | "busy" | "waiting" | "shell" | "gone"): Promise<void>;
  /** Waits for the recorder's hook, or for so many of them. */
  hears(event: string, times?: number): Promise<void>;
  /** Waits until beckon's own hook has brought it, or so many of them. */
  arrives(event: string, times?: number): Promise<void>;
  /** Waits until there is a file of that name in the home; when it was written. */
  finds(name: string): Promise<number>;
  has(name: string): boolean;
  /** Waits until beckon shows its only session so. */
  showsState(state: SessionState, phase?: ActivityPhase): Promise<void>;
  /** Each request of a turn to the API, in milliseconds, with what tools have said since the one before. */
  requests(): readonly { readonly cameAt: number; readonly answeredAt: number; readonly results: string }[];
  /** Long enough for what is shown to be looked at twice. */
  linger(): Promise<void>;
  /** kill -9 of the CLI, or another signal. */
  killCli(signal?: Signal): Promise<void>;
  /** The command lines of all that runs. */
  processes(): string[];
  /** What a person does in another terminal: a line of shell. */
  does(line: string): Promise<void>;
  close(): Promise<void>;
}

/** "Stop hook error: …", "PostToolUse:Bash hook error", "SessionEnd hook […] failed: …" */
const hookError = /\bhook\b.*(error|failed)/i;

/** "auto", the CLI's default, seldom asks. */
export const manual = "--permission-mode default";

export interface SandboxOptions {
  /** Another beckon than the one that was built last. */
  readonly binary?: string;
  /** The version of the CLI. */
  readonly cli?: string;
  /** false: beckon's hooks are registered only when beckon.install() is called. */
  readonly isInstalled?: boolean;
  /** More for the CLI's own ~/.claude.json. */
  readonly claudeJson?: object;
  /** And for its settings. */
  readonly settings?: object;
  /** Files of this side that are to be seen in there: place in the home → file. */
  readonly files?: Readonly<Record<string, string>>;
  /** And for beckon's environment. */
  readonly env?: Env;
}

const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const apiKey = "sk-ant-not-a-key-0123456789abcdefghij";
const patienceMs = 15_000;
const lookMs = 15;
/** The judge looks again, 600 ms before its end, at a status that lasted more than 1.85 s. */
const lingerMs = 2_000;

const person = { PATH: `${home}/bin:${path}`, HOME: home, LANG: "C.UTF-8" };

/** The CLI writes its own status from 2.1.200 at the latest. Before, only the screen tells that it takes a prompt. */
const hasStatus = (version: string): boolean => !(oldVersions as readonly string[]).includes(version);
const promptOfOld = /\? for shortcuts/;

/** The CLI finds its way to the stand-in, and tries no other. */
const shell = {
  ...person,
  SHELL: "/bin/bash",
  TERM: "xterm-256color",
  ANTHROPIC_BASE_URL: `http://127.0.0.1:${apiPort}`,
  ANTHROPIC_API_KEY: apiKey,
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
};

/** A person who has used it before: no welcome, and the folder is trusted. */
const seen = (version: string) => ({
  hasCompletedOnboarding: true,
  lastOnboardingVersion: version,
  theme: "dark",
  numStartups: 5,
  customApiKeyResponses: { approved: [apiKey.slice(-20)], rejected: [] },
  projects: { [`${home}/proj`]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
});

/** Somebody else's hooks, which are there before beckon's. */
function recordingHooks(version: string): object {
  const record = (event: string) => ({ type: "command", command: `sh ${home}/record.sh ${event}` });
  const events = [...eventsKnownTo(version), ...(hasStatus(version) ? ["ConfigChange"] : [])];
  return Object.fromEntries(events.map((event) => [event, [{ hooks: [record(event)] }]]));
}

export async function openSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const program = options.binary ?? binary;
  if (!existsSync(program)) throw new Error(`there is no ${program}. Build it with: npm run build`);
  const folder = mkdtempSync("/tmp/beckon-agent-");
  try {
    return await furnish(folder, options);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

async function furnish(folder: string, options: SandboxOptions): Promise<Sandbox> {
  const { cli: version = cliVersion, isInstalled = true } = options;
  const inHome = (name: string) => join(folder, name);
  for (const name of [".claude", "proj", "bin", "hooks"]) mkdirSync(inHome(name));
  const settings = { hooks: recordingHooks(version), ...options.settings };
  writeFileSync(inHome(".claude/settings.json"), JSON.stringify(settings));
  writeFileSync(inHome(".claude.json"), JSON.stringify({ ...seen(version), ...options.claudeJson }));
  writeFileSync(inHome("record.sh"), recordingHook(`${home}/hooks`));

  const cli = findCli(version);
  if (cli.script) writeFileSync(inHome("bin/claude"), cli.script, { mode: 0o755 });
  const space = await openNamespace(folder, {
    ...cli.files,
    "bin/beckon": options.binary ?? binary,
    ...options.files,
  });
  const requestLog = inHome("requests.log");
  const api = space.serve([process.execPath, join(import.meta.dir, "fake-api.ts"), requestLog]);
  if ((await firstLine(api.stdout)) !== apiReady) throw new Error("the stand-in for the API did not start");
  const terminal = await openTerminal(space, shell);
  const recorder = startRecorder(inHome(".claude/sessions"), inHome("hooks"));
  const beckon = createBeckon(space, folder, { ...person, ...options.env }, recorder.show);
  if (isInstalled) await beckon.install();

  let filesBefore = 0;
  let acted = 0;
  /** Kept as the CLI takes its lines off the screen when it ends. */
  const hookErrors = new Set<string>();
  async function lookForHookErrors(): Promise<string[]> {
    for (const line of (await terminal.all()).split("\n"))
      if (hookError.test(line)) hookErrors.add(line.trim());
    return [...hookErrors];
  }
  async function acts(what: string, act: () => Promise<void>): Promise<void> {
    await lookForHookErrors();
    filesBefore = recorder.files.length;
    acted = recorder.mark(what);
    await act();
  }

  const type = (text: string) => acts(`typed ${text}`, () => terminal.type(text));
  const is: Sandbox["is"] = (status) => {
    const isIt = (row: Row) => (status === "gone" ? row.gone === true : row.status === status);
    return until(`the status ${status}`, () => recorder.files.slice(filesBefore).some(isIt));
  };

  const hears: Sandbox["hears"] = (event, times = 1) =>
    until(`the hook ${event}`, () => recorder.heard(event, acted) >= times);

  return {
    beckon,
    recorder,
    async startCli(args = manual) {
      await type(`claude ${args}`);
      if (hasStatus(version)) return await is("idle");
      await terminal.shows(promptOfOld);
      // 2.0.76 draws its prompt before it takes keys.
      while (!(await terminal.isRaw())) await Bun.sleep(lookMs);
    },
    type,
    is,
    key: (...keys) => acts(`key ${keys.join(" ")}`, () => terminal.key(...keys)),
    shows: terminal.shows,
    hides: terminal.hides,
    async accepts(pattern) {
      await terminal.shows(pattern);
      await acts("key Enter", () => terminal.accepts(pattern));
    },
    screen: terminal.all,
    hookErrors: lookForHookErrors,
    hears,
    arrives: (event, times = 1) =>
      until(`${event}, ${times} times, by beckon's hook`, () => beckon.heard(event) >= times),
    async finds(name) {
      await until(name, () => existsSync(inHome(name)));
      return statSync(inHome(name)).mtimeMs;
    },
    has: (name) => existsSync(inHome(name)),
    showsState(state, phase) {
      const isIt = (s: SessionSnapshot) => s.state === state && (!phase || s.activityPhase === phase);
      return until(
        `beckon showing ${phase ?? state}`,
        () => recorder.shown.at(-1)?.sessions.some(isIt) === true,
      );
    },
    requests() {
      const lines = existsSync(requestLog) ? readFileSync(requestLog, "utf8").trim().split("\n") : [];
      return lines.map((line) => {
        const [cameAt, answeredAt, results = ""] = JSON.parse(line) as [number, number, string];
        return { cameAt, answeredAt, results };
      });
    },
    linger: () => Bun.sleep(lingerMs),
    killCli(signal = "KILL") {
      const { pid = 0 } = recorder.files.at(-1) ?? {};
      return acts(`kill -${signal === "KILL" ? 9 : signal} ${pid}`, () => space.signal(pid, signal));
    },
    processes: space.processes,
    does: (line) =>
      acts(line, async () => {
        const { code, stderr } = await space.run(["sh", "-c", line], shell);
        if (code !== 0) throw new Error(`${line}: ${stderr}`);
      }),
    async close() {
      recorder.stop();
      try {
        await beckon.leave();
      } finally {
        await space.close();
        rmSync(folder, { recursive: true, force: true });
      }
    },
  };
}

export async function until(what: string, isThere: () => boolean, withinMs = patienceMs): Promise<void> {
  const end = performance.now() + withinMs;
  while (!isThere()) {
    if (performance.now() > end) throw new Error(`${what} did not come within ${withinMs} ms`);
    await Bun.sleep(lookMs);
  }
}
