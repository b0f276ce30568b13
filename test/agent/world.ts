/** A world with nothing in it but the CLI, a person at a terminal, and beckon. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hooksFor } from "../../src/agents/claude/hooks.ts";
import type { ActivityPhase, SessionState } from "../../src/core/phase.ts";
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
/** The judge looks again where a status lasted more than 1.5 s. */
const lingerMs = 1_600;

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

  async function wait<T>(what: string, find: () => T | undefined): Promise<T> {
    const end = performance.now() + patienceMs;
    for (;;) {
      const found = find();
      if (found) return found;
      if (performance.now() > end) throw new Error(`${what} did not come within ${patienceMs} ms`);
      await Bun.sleep(lookMs);
    }
  }

  return {
    beckon,
    recorder,
    setHooks,
    type: (text) => acts(`typed ${text}`, () => terminal.type(text)),
    key: (key) => acts(`key ${key}`, () => terminal.key(key)),
    shows: terminal.shows,
    screen: terminal.all,
    async is(status) {
      const isIt = (row: Row) => (status === "gone" ? row.gone === true : row.status === status);
      await wait(`the status ${status}`, () => recorder.files.slice(filesBefore).find(isIt));
    },
    async hears(event, times = 1) {
      const isIt = (row: Row) => row.payload?.hook_event_name === event && row.ms >= acted;
      await wait(`the hook ${event}`, () => recorder.hooks().filter(isIt).length >= times || undefined);
    },
    async finds(name) {
      await wait(name, () => existsSync(inHome(name)) || undefined);
    },
    async showsState(state, phase) {
      await wait(`beckon showing ${phase ?? state}`, () =>
        recorder.shown
          .at(-1)
          ?.sessions.find((s) => s.state === state && (!phase || s.activityPhase === phase)),
      );
    },
    linger: () => Bun.sleep(lingerMs),
    async killCli() {
      const pid = recorder.files.at(-1)?.pid;
      await acts(`kill -9 ${pid}`, async () => {
        await space.run(["sh", "-c", 'kill -9 "$1"', "sh", String(pid)], person);
      });
    },
    async close() {
      recorder.stop();
      await beckon.leave();
      await space.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
