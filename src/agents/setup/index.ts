/**
 * What install, uninstall and doctor have in common for all agents. An agent's folder describes itself (SetupDescription), and
 * createAgentSetup makes its AgentSetup. find-program.ts finds the agent's program, called-program.ts looks at the beckon that its
 * hooks call, findings.ts says what doctor thinks of both. hooks-setup.ts is for settings with hooks of the common form, own-file.ts
 * for agents that beckon gives a file of its own, and the running app uses file-check.ts.
 */
import { isAbsolute } from "node:path";
import { readErrorMessage } from "../../core/error-message.ts";
import { limits } from "../../core/limits.ts";
import { errorCode, readSmallFile } from "../../storage/files.ts";
import { resolvePaths } from "../../storage/paths.ts";
import { type Env, homeOf } from "../../system/folders.ts";
import { waitAtMost } from "../../system/schedule.ts";
import {
  type AgentProgram,
  type AgentSetup,
  type ExamineContext,
  type LiveTest,
  type ProgramSearch,
  type Scope,
  scopes,
} from "../agent.ts";
import { createFindings, type Finding } from "../finding.ts";
import { chooseCommand, findCalledPrograms, type OwnEntry, type RegisteredFile } from "./called-program.ts";
import { type ProgramDescription, type SearchOptions, searchProgram } from "./find-program.ts";
import {
  createWholeFinding,
  describeProgram,
  type ExaminedAgent,
  findHookFindings,
  findProgramFinding,
} from "./findings.ts";

export interface SetupDescription
  extends Pick<
      AgentSetup,
      "isPresent" | "settingsPath" | "createRegistration" | "createGuardRegistration" | "entries"
    >,
    Partial<Pick<AgentSetup, "findWarnings" | "findLeftovers">> {
  readonly id: string;
  readonly name: string;
  describeProgram(env: Env): ProgramDescription;
  /** The version that install assumes if it is unknown. Absent if the hooks are the same for every version. */
  readonly assumedVersion?: string;
  /** What the ids of doctor's findings about the hooks start with. The agent's id if absent. */
  readonly hookPrefix?: string;
  /** beckon's own entries, except for those of the work guard. Throws SettingsError if the text cannot be parsed. */
  listOwn(text: string): readonly OwnEntry[];
  /** The files of an administrator that can have hooks too. */
  managedPaths?(env: Env): readonly string[];
  /** The name of beckon's own plugin for the agent, if the user has installed it: another way to be registered. */
  findPlugin?(env: Env, cwd: string | null): string | null;
  /** Compares the entries of a file with those that install would write. Without it, the file is compared as a whole. */
  examineFile?(file: RegisteredFile, version: string | null): readonly Finding[];
  /** What else doctor knows about the agent's program. Has a time limit of its own. */
  examineProgram?(program: AgentProgram, context: ExamineContext): Promise<readonly Finding[]>;
  /** What doctor knows about this version of the agent. */
  examineVersion?(version: string): readonly Finding[];
  /** What else doctor knows about the registered hooks, such as that the agent does not run them. */
  findMore?(context: ExamineContext, files: readonly RegisteredFile[]): readonly Finding[];
  readonly liveTest: Pick<LiveTest, "createRequest" | "createEnd" | "createEnv">;
}

/** What differs from one machine to another, for tests. */
export interface AgentMachine {
  /** Where else the program may be. */
  readonly systemPaths?: readonly string[];
  /** The administrator's settings files. */
  readonly managed?: readonly string[];
}

const programTimeoutMs = 4_000;

export function createAgentSetup(description: SetupDescription, machine: AgentMachine = {}): AgentSetup {
  const { id, name, settingsPath, createRegistration, assumedVersion = null } = description;
  const { systemPaths } = machine;

  const findProgram = (options: SearchOptions): Promise<ProgramSearch> =>
    searchProgram(
      { ...options, ...(systemPaths ? { systemPaths } : {}) },
      description.describeProgram(options.env),
    );

  const describeAgent = (env: Env): ExaminedAgent => ({
    name,
    program: description.describeProgram(env).program,
    assumedVersion,
    programFinding: createFindings(name, id),
    hookFinding: createFindings("hooks", description.hookPrefix ?? id),
  });

  /** null if it takes too long: several programs may be tried, each with the timeout. */
  async function searchInTime({ env, exec, program }: ExamineContext): Promise<ProgramSearch | null> {
    const search = findProgram({ env, exec, remembered: program, timeoutMs: programTimeoutMs });
    return (await waitAtMost(programTimeoutMs * 1.5, search)) ?? null;
  }

  function examineWhole({ env }: ExamineContext, { path, text, own: [first] }: RegisteredFile) {
    if (!first) return [];
    const { binary, home } = first;
    const { guardScope } = resolvePaths(home === null ? env : { ...env, BECKON_HOME: home });
    const platform = process.platform === "win32" ? "win32" : "linux";
    // Install registers no relative path.
    const wanted = isAbsolute(binary)
      ? createRegistration({ version: null, binary, home, platform, guardScope })
      : null;
    const { hookFinding } = describeAgent(env);
    return [createWholeFinding(hookFinding, path, wanted?.add(text) === text ? wanted : null)];
  }

  return {
    isPresent: description.isPresent,
    programName: (env) => description.describeProgram(env).program,
    findProgram,
    describeProgram: (search, version) => describeProgram({ name, assumedVersion }, search, version),
    settingsPath,
    createRegistration,
    ...(description.createGuardRegistration
      ? { createGuardRegistration: description.createGuardRegistration }
      : {}),
    entries: description.entries,
    findWarnings: description.findWarnings ?? (() => []),
    findLeftovers: description.findLeftovers ?? (() => []),
    examine(context) {
      const { env, cwd } = context;
      const managed = machine.managed ?? description.managedPaths?.(env) ?? [];
      const files = readFiles(description, context, managed);
      const plugin = description.findPlugin?.(env, cwd) ?? null;
      const agent = describeAgent(env);
      const searching = searchInTime(context);

      async function examineHooks(): Promise<readonly Finding[]> {
        const [search, called] = await Promise.all([searching, findCalledPrograms(files, context)]);
        const version = search?.program?.version ?? null;
        const { version: ownVersion, state } = context;
        const facts = { files, called, plugin, version: ownVersion, state };
        const findings = findHookFindings(
          agent,
          facts,
          (file) => description.examineFile?.(file, version) ?? examineWhole(context, file),
        );
        return [...findings, ...(description.findMore?.(context, files) ?? [])];
      }

      const programFindings = searching.then((search) => [
        findProgramFinding(agent, search),
        ...(search?.program ? (description.examineVersion?.(search.program.version) ?? []) : []),
      ]);
      const moreFindings = searching.then((search) =>
        search?.program ? (description.examineProgram?.(search.program, context) ?? []) : [],
      );
      return {
        isRegistered:
          plugin !== null ||
          files.some(({ scope, own, problem }) => own.length > 0 || (scope === "user" && problem !== null)),
        parts: [
          { link: name, findings: programFindings },
          { link: name, findings: moreFindings },
          { link: "hooks", findings: examineHooks() },
        ],
        liveTest: { ...chooseCommand(description, files, plugin, context.binary), ...description.liveTest },
      };
    },
  };
}

function readFiles(
  { settingsPath, listOwn }: SetupDescription,
  { env, cwd }: Pick<ExamineContext, "env" | "cwd">,
  managed: readonly string[],
): readonly RegisteredFile[] {
  const paths = new Map<string, Scope | "managed">();
  for (const scope of scopes) {
    const path = cwd === null && scope !== "user" ? null : settingsPath(scope, env, cwd ?? homeOf(env));
    // In the home folder, the user's file can be the project's too.
    if (path !== null && !paths.has(path)) paths.set(path, scope);
  }
  for (const path of managed) if (!paths.has(path)) paths.set(path, "managed");
  return [...paths].flatMap(([path, scope]) => {
    const read = readIfPresent(path);
    if (read === null) return [];
    const file = { scope, path, ...read, own: [] };
    if (read.problem !== null) return [file];
    try {
      return [{ ...file, own: listOwn(read.text) }];
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
