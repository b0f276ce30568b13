/** Install, uninstall and doctor for Claude Code. */
import type { AgentSetup, Examination, ExamineContext } from "../../agent.ts";
import { eventsKnownTo, hooksFor, hookTable, isAtLeast } from "../hooks.ts";
import { listSessions, listSince } from "../list-sessions.ts";
import { describeProgram, findProgram } from "./find-program.ts";
import {
  agentLink,
  findHookFindings,
  findProgramFindings,
  findSessionFindings,
  type ProgramFacts,
} from "./findings.ts";
import { isPresent, managedSettingsPaths, settingsPath } from "./folder.ts";
import { createLiveTest } from "./live-test.ts";
import { findLeftovers, findPlugin, findWarnings } from "./plugin.ts";
import { findCalledPrograms, readSettingsFiles } from "./read-settings.ts";
import { createGuardRegistration, createRegistration, entries } from "./registration.ts";

/** What differs from one machine to another, for tests. */
export interface MachineOptions {
  /** The administrator's settings files. */
  readonly managed?: readonly string[];
  /** Where else the program may be. */
  readonly systemPaths?: readonly string[];
}

export function createClaudeSetup({ managed, systemPaths }: MachineOptions = {}): AgentSetup {
  const findInstalled: AgentSetup["findProgram"] = (options) =>
    findProgram({ ...options, ...(systemPaths ? { systemPaths } : {}) });
  return {
    isPresent,
    findProgram: findInstalled,
    describeProgram,
    settingsPath,
    createRegistration,
    createGuardRegistration,
    entries,
    findWarnings: (scope, env, cwd) => findWarnings(scope, env, cwd, managed ?? managedSettingsPaths(env)),
    findLeftovers,
    examine: (context) => examine(context, managed ?? managedSettingsPaths(context.env), findInstalled),
  };
}

export const claudeSetup = createClaudeSetup();

const programTimeoutMs = 4_000;
/** From this version on, an event that the CLI does not know costs only its own hook. */
const tolerantSince = "2.1.101";

function examine(
  context: ExamineContext,
  managed: readonly string[],
  findInstalled: AgentSetup["findProgram"],
): Examination {
  const { env, cwd } = context;
  const files = readSettingsFiles(env, cwd, managed);
  const plugin = findPlugin(env, cwd);
  const program = searchProgram(context, findInstalled);

  async function findHooks() {
    const [{ version }, called] = await Promise.all([
      program,
      findCalledPrograms(files, env, context.readVersion),
    ]);
    return findHookFindings({
      files,
      called,
      plugin,
      wanted: hooksFor(version),
      known: eventsKnownTo(version),
      isStrict: !isAtLeast(version ?? hookTable.assumedVersion, tolerantSince),
      version: context.version,
      state: context.state,
    });
  }

  return {
    isRegistered:
      plugin !== null ||
      files.some(({ scope, own, problem }) => own.length > 0 || (scope === "user" && problem !== null)),
    parts: [
      { link: agentLink, findings: program.then(findProgramFindings) },
      { link: agentLink, findings: program.then((facts) => findSessions(context, facts)) },
      { link: "hooks", findings: findHooks() },
    ],
    liveTest: createLiveTest({ files, plugin, binary: context.binary }),
  };
}

/** Whether beckon shows the sessions that the CLI lists. */
async function findSessions(context: ExamineContext, { path, version }: ProgramFacts) {
  if (path === null || version === null || !isAtLeast(version, listSince)) return [];
  const [listed, known] = await Promise.all([listSessions(context.exec, path), context.readSessionIds()]);
  return listed && known ? findSessionFindings(listed, known) : [];
}

async function searchProgram(
  { env, exec, program }: ExamineContext,
  findInstalled: AgentSetup["findProgram"],
): Promise<ProgramFacts> {
  const searching = findInstalled({ env, exec, remembered: program, timeoutMs: programTimeoutMs });
  // Several programs may be tried, each with that timeout.
  const search = await Promise.race([searching, Bun.sleep(programTimeoutMs * 1.5).then(() => null)]);
  return search?.program ?? { path: search?.silent[0] ?? null, version: null };
}
