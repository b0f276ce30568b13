/** Install, uninstall and doctor for Claude Code: hooks and a part of the status line in its settings. */
import { readlinkSync } from "node:fs";
import { join } from "node:path";
import { asRecord, parseJson } from "../../../core/json.ts";
import type { Env } from "../../../system/folders.ts";
import { readStat } from "../../../system/processes.ts";
import type { AgentProgram, AgentSetup, ExamineContext, Scope } from "../../agent.ts";
import { readSettingsText } from "../../setup/file-check.ts";
import { readFolder } from "../../setup/find-program.ts";
import { createHooksSetup, createTestCommand, createTestEnd } from "../../setup/hooks-setup.ts";
import { type AgentMachine, createAgentSetup } from "../../setup/index.ts";
import { guardDocumentsEvent, guardDocumentsSince, hooksFor, hookTable, isAtLeast } from "../hooks.ts";
import { listSessions, listSince } from "../list-sessions.ts";
import { editTools } from "../translate.ts";
import {
  agentName,
  explainExtra,
  findLacking,
  findMore,
  findSessionFindings,
  hookPrefix,
} from "./findings.ts";
import {
  claudeFolder,
  findPlugin,
  isPresent,
  managedSettingsPaths,
  readSettings,
  settingsPath,
} from "./folder.ts";
import { addStatusLine, findStatusLineHomes, removeStatusLine, updateStatusLine } from "./status-line.ts";

const form = { timeout: 5, async: false };

const hooks = createHooksSetup({
  id: "claude",
  hookPrefix,
  listHooks: hooksFor,
  guard: {
    edits: { event: "PreToolUse", matcher: Object.keys(editTools).join("|"), ...form },
    starts: { event: "SessionStart", ...form },
    documents: {
      form: { event: guardDocumentsEvent, timeout: 5, async: true },
      isKnownTo: (version) => version !== null && isAtLeast(version, guardDocumentsSince),
    },
  },
  explainExtra,
});

export const createClaudeSetup = (machine: AgentMachine = {}): AgentSetup =>
  createAgentSetup(
    {
      ...hooks,
      id: "claude",
      name: agentName,
      isPresent,
      describeProgram: (env) => {
        const names = process.platform === "win32" ? ["claude.exe", "claude.cmd"] : ["claude"];
        return {
          program: "claude",
          // `2.1.325 (Claude Code)`
          versionPattern: /^\s*v?(\d+\.\d+\.\d+[\w.+-]{0,40})(?:\s+\(Claude Code\))?\s*$/m,
          ownPaths: names.map((name) => join(claudeFolder(env), "local", name)),
          listRunning: () => findRunning(claudeFolder(env)),
        };
      },
      // Older versions refuse settings with a hook that they do not know.
      assumedVersion: hookTable.assumedVersion,
      hookPrefix,
      settingsPath,
      managedPaths: managedSettingsPaths,
      findPlugin,
      createRegistration(options) {
        const { count, noun, add } = hooks.createRegistration(options);
        const setStatusLine = options.statusLine ? addStatusLine : updateStatusLine;
        return {
          count,
          noun,
          add: (text) =>
            options.statusLine === false ? removeStatusLine(add(text)) : setStatusLine(add(text), options),
        };
      },
      entries: {
        ...hooks.entries,
        findHomes: (text) => [...hooks.entries.findHomes(text), ...findStatusLineHomes(text)],
        remove: (text) => hooks.entries.remove(removeStatusLine(text)),
      },
      examineVersion: findLacking,
      examineProgram: findSessions,
      findMore: ({ env, cwd }, files) => findMore(files, findPlugin(env, cwd)),
      findWarnings: (scope, env, cwd) =>
        findWarnings(scope, env, cwd, machine.managed ?? managedSettingsPaths(env)),
      findLeftovers,
      liveTest: {
        createRequest: (sessionId, text) => ({
          ...createTestCommand(sessionId, text),
          permission_mode: "default",
        }),
        createEnd: createTestEnd,
        createEnv: (env, sessionId, pid) => ({
          ...env,
          CLAUDE_PID: String(pid),
          CLAUDE_CODE_SESSION_ID: sessionId,
          CLAUDE_CODE_ENTRYPOINT: "cli",
          CLAUDE_CODE_SESSION_ATTENDED: "1",
          // The session is shown with the last part of this path.
          CLAUDE_PROJECT_DIR: "/beckon doctor",
        }),
      },
    },
    machine,
  );

export const claudeSetup = createClaudeSetup();

const maxSessionFiles = 500;

/** The programs of running sessions. One that runs under node cannot be told from node itself, and is skipped. */
function findRunning(folder: string): readonly string[] {
  if (process.platform !== "linux") return [];
  return readFolder(join(folder, "sessions"))
    .slice(0, maxSessionFiles)
    .flatMap((name) => {
      const pid = /^([1-9]\d{0,9})\.json$/.exec(name)?.[1];
      if (!pid) return [];
      try {
        // The pid can belong to another process by now.
        const { procStart } = asRecord(parseJson(readSettingsText(join(folder, "sessions", name))));
        const program = readlinkSync(`/proc/${pid}/exe`);
        return String(procStart) === readStat(Number(pid))?.start &&
          /(^|\/)(claude|versions\/[\d.]+)$/.test(program)
          ? [program]
          : [];
      } catch {
        return [];
      }
    });
}

/** Whether beckon shows the sessions that the CLI lists. */
async function findSessions({ path, version }: AgentProgram, { exec, readSessionIds }: ExamineContext) {
  if (!isAtLeast(version, listSince)) return [];
  const [listed, known] = await Promise.all([listSessions(exec, path), readSessionIds()]);
  return listed && known ? findSessionFindings(listed, known) : [];
}

/** The scopes whose settings can switch off the hooks of a scope: its own, and those closer to the project. */
const overridingScopes: Readonly<Record<Scope, readonly Scope[]>> = {
  user: ["user", "project", "local"],
  project: ["project", "local"],
  local: ["local"],
};

function findWarnings(scope: Scope, env: Env, cwd: string, managed: readonly string[]): string[] {
  const pathOf = (one: Scope) => settingsPath(one, env, cwd);
  const switchedOff = overridingScopes[scope]
    .map(pathOf)
    .filter((path) => readSettings(path).disableAllHooks === true)
    .map((path) => {
      const where = path === pathOf("user") || scope !== "user" ? "" : " in this project";
      return `No hook runs${where}: ${path} has "disableAllHooks": true. Remove that line.`;
    });
  const byAdministrator = managed.flatMap((path) => {
    const settings = readSettings(path);
    if (settings.disableAllHooks === true)
      return [`No hook runs: your administrator has switched hooks off, in ${path}.`];
    if (settings.allowManagedHooksOnly === true)
      return [`Your hooks do not run: your administrator allows only their own, in ${path}. Ask them.`];
    return [];
  });
  const plugin = findPlugin(env, cwd);
  const twice =
    plugin === null
      ? []
      : [
          `The plugin ${plugin} has the same hooks: each event is sent twice and counted once. Keep one of them: /plugin in Claude Code switches the plugin off, and beckon --uninstall removes the hooks.`,
        ];
  return [...new Set([...switchedOff, ...byAdministrator, ...twice])];
}

/** The installer did not install the plugin, so the uninstaller leaves it. */
function findLeftovers(env: Env, cwd: string | null): string[] {
  const plugin = findPlugin(env, cwd);
  if (plugin === null) return [];
  // A cloned project's settings can name any plugin: an unusual name does not become part of a command.
  const removal = /^beckon(@[\w.-]+)?$/.test(plugin)
    ? `claude plugin uninstall ${plugin}`
    : "/plugin in Claude Code";
  return [`The plugin ${plugin} stays in Claude Code. To remove it too: ${removal}`];
}
