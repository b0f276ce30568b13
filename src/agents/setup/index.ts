/**
 * What install, uninstall and doctor have in common for agents that are registered in one file of their own. An agent's folder
 * describes itself (SetupDescription), and createAgentSetup makes its AgentSetup. find-program.ts finds the agent's program,
 * called-program.ts checks the one that its hooks call, own-file.ts is for agents that beckon gives a file of its own, and the
 * running app uses file-check.ts.
 */
import { readErrorMessage } from "../../core/error-message.ts";
import { limits } from "../../core/limits.ts";
import { formatCount } from "../../core/text/words.ts";
import { envProgram } from "../../settings-file/hook-command.ts";
import { errorCode, readSmallFile } from "../../storage/files.ts";
import { resolvePaths } from "../../storage/paths.ts";
import { type Env, homeOf } from "../../system/folders.ts";
import {
  type AgentSetup,
  type ExamineContext,
  type LiveTest,
  type OwnEntries,
  type ProgramSearch,
  type Registration,
  type RegistrationOptions,
  type Scope,
  scopes,
} from "../agent.ts";
import { createFindings, type Finding } from "../finding.ts";
import { findProgramStatus, isTrustedBinary } from "./called-program.ts";
import { type ProgramDescription, type SearchOptions, searchProgram } from "./find-program.ts";

/** The beckon that an entry calls. */
export interface CalledBeckon {
  readonly binary: string;
  readonly home: string | null;
}

export interface SetupDescription {
  readonly id: string;
  readonly name: string;
  isPresent(env: Env): boolean;
  describeProgram(env: Env): ProgramDescription;
  settingsPath(scope: Scope, env: Env, cwd: string): string | null;
  createRegistration(options: RegistrationOptions): Registration;
  readonly createGuardRegistration?: AgentSetup["createGuardRegistration"];
  readonly entries: OwnEntries;
  /** The beckon that each of its own entries calls. Throws SettingsError if the text cannot be parsed. */
  listCalled(text: string): readonly CalledBeckon[];
  /** What else doctor knows about the registered hooks, such as that the agent does not run them. */
  findMore?(context: ExamineContext, files: readonly RegisteredFile[]): Promise<readonly Finding[]>;
  readonly findWarnings?: AgentSetup["findWarnings"];
  readonly findLeftovers?: AgentSetup["findLeftovers"];
  readonly liveTest: Pick<LiveTest, "createRequest" | "createEnd" | "createEnv">;
}

/** A settings file that exists. */
export interface RegisteredFile {
  readonly scope: Scope;
  readonly path: string;
  readonly text: string;
  /** Why it could not be read or parsed. null if it could. */
  readonly problem: string | null;
  readonly called: readonly CalledBeckon[];
}

export interface AgentMachine {
  /** Where else the program may be, for tests. */
  readonly systemPaths?: readonly string[];
}

const programTimeoutMs = 4_000;
const install = "Run: beckon --install";

export function createAgentSetup(description: SetupDescription, machine: AgentMachine = {}): AgentSetup {
  const { id, name, entries, createRegistration, settingsPath, isPresent } = description;
  const programFinding = createFindings(name, id);
  const hookFinding = createFindings("hooks", id);

  const findProgram = (options: SearchOptions): Promise<ProgramSearch> =>
    searchProgram({ ...options, ...machine }, description.describeProgram(options.env));

  async function findProgramFindings({ env, exec, program }: ExamineContext): Promise<readonly Finding[]> {
    const searching = findProgram({ env, exec, remembered: program, timeoutMs: programTimeoutMs });
    // Several programs may be tried, each with that timeout.
    const search = await Promise.race([searching, Bun.sleep(programTimeoutMs * 1.5).then(() => null)]);
    if (search?.program) {
      const { path, version } = search.program;
      return [programFinding("ok", "found", `${version} at ${path}`)];
    }
    const [silent] = search?.silent ?? [];
    if (silent !== undefined) {
      const text = `${silent} did not print its version`;
      return [programFinding("warn", "version", text, `Try it yourself: ${silent} --version`)];
    }
    const { program: command } = description.describeProgram(env);
    const fix = `Install it, or put the folder with \`${command}\` on your PATH. Then: beckon --install`;
    return [programFinding("warn", "not-found", `${name} was not found on this machine`, fix)];
  }

  async function findHookFindings(
    context: ExamineContext,
    files: readonly RegisteredFile[],
  ): Promise<readonly Finding[]> {
    const broken = files.filter(({ problem }) => problem !== null);
    const registered = files.filter(({ called }) => called.length > 0);
    const findings = broken.map(({ path, problem }) =>
      hookFinding("fail", "unreadable", `${path}: ${problem}`, "Correct it: beckon does not change it"),
    );
    if (registered.length === 0 && broken.length === 0) {
      findings.push(hookFinding("fail", "none", `not registered: ${name} does not call beckon`, install));
    }
    for (const file of registered) findings.push(...(await findFileFindings(context, file)));
    return [...findings, ...((await description.findMore?.(context, files)) ?? [])];
  }

  async function findFileFindings(
    context: ExamineContext,
    { path, text, called }: RegisteredFile,
  ): Promise<readonly Finding[]> {
    const [first] = called;
    if (!first) return [];
    const { binary, home } = first;
    const status = findProgramStatus(binary);
    if (status !== "ok") {
      const problem = status === "missing" ? "is not there" : "is not executable";
      const lost = `${path} calls ${binary}, which ${problem}: nothing reaches beckon`;
      return [hookFinding("fail", "gone", lost, install)];
    }
    const { state, guardScope } = resolvePaths(
      home === null ? context.env : { ...context.env, BECKON_HOME: home },
    );
    const version = isTrustedBinary(binary, context.binary) ? await context.readVersion(binary) : null;
    const wanted = createRegistration({
      version: context.program?.version ?? null,
      binary,
      home,
      platform: process.platform === "win32" ? "win32" : "linux",
      guardScope,
    });
    const isCurrent = wanted.add(text) === text;
    const entryCount = formatCount(wanted.count, wanted.noun);
    return [
      isCurrent
        ? hookFinding("ok", "registered", `${entryCount} registered in ${path}`)
        : hookFinding("warn", "older", `registered as another version of beckon did in ${path}`, install),
      ...(version !== null && version !== context.version
        ? [
            hookFinding(
              "warn",
              "other-version",
              `${path} calls beckon ${version} at ${binary}; this one is ${context.version}`,
              "Run beckon --install with the one that you want to keep",
            ),
          ]
        : []),
      ...(state === context.state
        ? []
        : [
            hookFinding(
              "warn",
              "other-folder",
              `${path} calls the beckon that uses ${state}, not ${context.state}`,
              "Run doctor with the same BECKON_HOME as beckon --install, or install again",
            ),
          ]),
    ];
  }

  function chooseCommand(
    files: readonly RegisteredFile[],
    installed: string | null,
  ): Pick<LiveTest, "command" | "path" | "reason"> {
    const file = files.find(({ called }) => called.length > 0);
    const [called] = file?.called ?? [];
    if (!file || !called) return { command: null, path: null, reason: "no hook is registered" };
    const { binary, home } = called;
    const isRunnable = findProgramStatus(binary) === "ok";
    const mayRun = file.scope === "user" || isTrustedBinary(binary, installed);
    if (!isRunnable || !mayRun) {
      return { command: null, path: null, reason: "the registered program cannot run, or is another one" };
    }
    const setting = home === null ? [] : [envProgram, `BECKON_HOME=${home}`];
    return { command: [...setting, binary, "hook", id], path: file.path, reason: null };
  }

  return {
    isPresent,
    findProgram,
    describeProgram({ program, silent: [silent] }) {
      if (program) return [`Found ${name} ${program.version} at ${program.path}.`];
      return [
        silent === undefined
          ? `${name} was not found.`
          : `Found ${name} at ${silent}, but it did not print its version.`,
      ];
    },
    settingsPath,
    createRegistration,
    ...(description.createGuardRegistration
      ? { createGuardRegistration: description.createGuardRegistration }
      : {}),
    entries,
    findWarnings: description.findWarnings ?? (() => []),
    findLeftovers: description.findLeftovers ?? (() => []),
    examine(context) {
      const files = readFiles(description, context);
      return {
        isRegistered: files.some(({ called, problem }) => called.length > 0 || problem !== null),
        parts: [
          { link: name, findings: findProgramFindings(context) },
          { link: "hooks", findings: findHookFindings(context, files) },
        ],
        liveTest: { ...chooseCommand(files, context.binary), ...description.liveTest },
      };
    },
  };
}

function readFiles(
  { settingsPath, listCalled }: SetupDescription,
  { env, cwd }: Pick<ExamineContext, "env" | "cwd">,
): readonly RegisteredFile[] {
  const paths = new Map<string, Scope>();
  for (const scope of scopes) {
    const path = cwd === null && scope !== "user" ? null : settingsPath(scope, env, cwd ?? homeOf(env));
    // In the home folder, the user's file can be the project's too.
    if (path !== null && !paths.has(path)) paths.set(path, scope);
  }
  return [...paths].flatMap(([path, scope]) => {
    const read = readIfPresent(path);
    if (read === null) return [];
    const file = { scope, path, text: read.text, problem: read.problem, called: [] };
    if (read.problem !== null) return [file];
    try {
      return [{ ...file, called: listCalled(read.text) }];
    } catch (error) {
      return [{ ...file, problem: readErrorMessage(error) }];
    }
  });
}

/** null if there is no such file. */
function readIfPresent(path: string): { readonly text: string; readonly problem: string | null } | null {
  try {
    return { text: readSmallFile(path, limits.maxAgentSettingsBytes), problem: null };
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    return { text: "", problem: `it cannot be read (${code})` };
  }
}
