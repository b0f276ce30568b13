/** A world with nothing in it but the CLI, a person at a terminal, and beckon. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hooksFor } from "../../src/agents/claude/hooks.ts";
import type { ActivityPhase, SessionState } from "../../src/core/phase.ts";
import type { SessionSnapshot } from "../../src/core/snapshot.ts";
import type { Row } from "../replay/recording.ts";
import { type Beckon, beckonCommand, createBeckon } from "./beckon.ts";
import { cliPath, cliVersion } from "./cli.ts";
import { apiPort, apiReady } from "./fake-api.ts";
import { firstLine, home, openNamespace } from "./namespace.ts";
import { type Recorder, recordingHook, startRecorder } from "./recorder.ts";
import { openTerminal } from "./terminal.ts";

export interface World {
  readonly beckon: Beckon;
  readonly recorder: Recorder;
  /** Starts the CLI, and waits until it takes a prompt. */
  startCli(args?: string): Promise<void>;
  /** Types a line; what is waited for next has to come after it. */
  type(text: string): Promise<void>;
  key(key: string): Promise<void>;
  shows(pattern: RegExp): Promise<void>;
  screen(): Promise<string>;
  /** Waits until the CLI's own file says so. */
  is(status: "idle" | "busy" | "waiting" | "shell" | "gone"): Promise<void>;
  /** Waits for the hook, or for so many of them. */
  hears(event: string, times?: number): Promise<void>;
  /** Waits until there is a file of that name in the home. */
  finds(name: string): Promise<void>;
  /** Waits until beckon shows its only session so. */
  showsState(state: SessionState, phase?: ActivityPhase): Promise<void>;
  /** Long enough for what is shown to be looked at twice. */
  linger(): Promise<void>;
  /** kill -9 of the CLI. */
  killCli(): Promise<void>;
  setHooks(on: boolean): void;
  close(): Promise<void>;
}

/** "auto", the CLI's default, seldom asks. */
export const manual = "--permission-mode default";

export interface WorldOptions {
  /** More for the CLI's own ~/.claude.json. */
  readonly claudeJson?: object;
  /** And for its settings. */
  readonly settings?: object;
  /** Files of this side that are to be seen in there: place in the home → file. */
  readonly files?: Readonly<Record<string, string>>;
}

const built = join(import.meta.dir, "../../dist/beckon");
const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const apiKey = "sk-ant-not-a-key-0123456789abcdefghij";
const patienceMs = 15_000;
const lookMs = 15;
/** The judge looks again, 600 ms before its end, at a status that lasted more than 1.85 s. */
const lingerMs = 2_000;

const person = { PATH: `${home}/bin:${path}`, HOME: home, LANG: "C.UTF-8" };

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
const seen = {
  hasCompletedOnboarding: true,
  lastOnboardingVersion: cliVersion,
  theme: "dark",
  numStartups: 5,
  customApiKeyResponses: { approved: [apiKey.slice(-20)], rejected: [] },
  projects: { [`${home}/proj`]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
};

function settings(withHooks: boolean): object {
  const entries = withHooks ? hooksFor(cliVersion) : [];
  const hooks = entries.map(({ event, timeout, async }) => {
    const ours = { type: "command", command: `${beckonCommand} hook claude`, timeout, async };
    const recording = { type: "command", command: `sh ${home}/record.sh ${event}` };
    return [event, [{ hooks: [recording, ours] }]];
  });
  return { hooks: Object.fromEntries(hooks) };
}

export async function openWorld(options: WorldOptions = {}): Promise<World> {
  if (!existsSync(built)) throw new Error("dist/beckon is not there. Build it with: npm run build");
  const folder = mkdtempSync("/tmp/beckon-agent-");
  try {
    return await furnish(folder, options);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

async function furnish(folder: string, options: WorldOptions): Promise<World> {
  const inHome = (name: string) => join(folder, name);
  for (const name of [".claude", "proj", "bin", "hooks"]) mkdirSync(inHome(name));
  const setHooks = (on: boolean) =>
    writeFileSync(inHome(".claude/settings.json"), JSON.stringify({ ...settings(on), ...options.settings }));
  setHooks(true);
  writeFileSync(inHome(".claude.json"), JSON.stringify({ ...seen, ...options.claudeJson }));
  writeFileSync(inHome("record.sh"), recordingHook(`${home}/hooks`));

  const programs = { "bin/claude": cliPath, "bin/beckon": built };
  const space = await openNamespace(folder, { ...programs, ...options.files });
  const api = space.serve([process.execPath, join(import.meta.dir, "fake-api.ts")]);
  if ((await firstLine(api.stdout)) !== apiReady) throw new Error("the stand-in for the API did not start");
  const terminal = await openTerminal(space, shell);
  const recorder = startRecorder(inHome(".claude/sessions"), inHome("hooks"));
  const beckon = createBeckon(space, folder, person, recorder.show);

  let filesBefore = 0;
  let acted = 0;
  async function acts(what: string, act: () => Promise<void>): Promise<void> {
    filesBefore = recorder.files.length;
    acted = recorder.mark(what);
    await act();
  }

  const type = (text: string) => acts(`typed ${text}`, () => terminal.type(text));
  const is: World["is"] = (status) => {
    const isIt = (row: Row) => (status === "gone" ? row.gone === true : row.status === status);
    return wait(`the status ${status}`, () => recorder.files.slice(filesBefore).some(isIt));
  };

  return {
    beckon,
    recorder,
    setHooks,
    async startCli(args = manual) {
      await type(`claude ${args}`);
      await is("idle");
    },
    type,
    is,
    key: (key) => acts(`key ${key}`, () => terminal.key(key)),
    shows: terminal.shows,
    screen: terminal.all,
    hears: (event, times = 1) => wait(`the hook ${event}`, () => recorder.heard(event, acted) >= times),
    finds: (name) => wait(name, () => existsSync(inHome(name))),
    showsState(state, phase) {
      const isIt = (s: SessionSnapshot) => s.state === state && (!phase || s.activityPhase === phase);
      return wait(
        `beckon showing ${phase ?? state}`,
        () => recorder.shown.at(-1)?.sessions.some(isIt) === true,
      );
    },
    linger: () => Bun.sleep(lingerMs),
    killCli() {
      const { pid = 0 } = recorder.files.at(-1) ?? {};
      return acts(`kill -9 ${pid}`, () => space.kill(pid));
    },
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

async function wait(what: string, isThere: () => boolean): Promise<void> {
  const end = performance.now() + patienceMs;
  while (!isThere()) {
    if (performance.now() > end) throw new Error(`${what} did not come within ${patienceMs} ms`);
    await Bun.sleep(lookMs);
  }
}
