/** Install, uninstall and doctor for opencode: beckon's plugin is a file of its own, which opencode loads by itself. */
import { join } from "node:path";
import pluginText from "../../../../hooks/opencode.plugin.js" with { type: "text" };
import { homeOf } from "../../../system/folders.ts";
import type { AgentSetup } from "../../agent.ts";
import { createFindings } from "../../finding.ts";
import { createAgentSetup } from "../../setup/index.ts";
import { createOwnFileSetup } from "../../setup/own-file.ts";
import { opencodeVariant } from "../opencode.ts";
import type { OpencodeVariant } from "../variant.ts";
import { createFolder, markPlugin } from "./folder.ts";

/** The plugin with the paths that it needs. A function as replacement: a path can have a $ in it. */
const createPlugin = (variant: OpencodeVariant) =>
  createOwnFileSetup({
    noun: "plugin",
    mark: markPlugin(variant),
    createText: ({ binary, home, guardScope }) =>
      pluginText
        .replace(markPlugin(opencodeVariant), () => markPlugin(variant))
        .replace('const agent = "opencode";', () => `const agent = ${JSON.stringify(variant.id)};`)
        .replace(
          'const guardScope = "BECKON_GUARD_SCOPE";',
          () => `const guardScope = ${JSON.stringify(guardScope ?? null)};`,
        )
        .replace('const binary = "BECKON_BINARY";', () => `const binary = ${JSON.stringify(binary)};`)
        .replace('const home = "BECKON_HOME";', () => `const home = ${JSON.stringify(home)};`),
    readCalled(text) {
      const binary = readConstant(text, "binary");
      return typeof binary === "string" ? { binary, home: readConstant(text, "home") } : null;
    },
  });

function readConstant(text: string, name: string): string | null {
  const value = new RegExp(`^const ${name} = ("(?:[^"\\\\]|\\\\.)*"|null);$`, "m").exec(text)?.[1];
  return value === undefined ? null : (JSON.parse(value) as string | null);
}

export function createOpencodeSetup(variant: OpencodeVariant): AgentSetup {
  const { id, name, pluginPackage, ownPath } = variant;
  const { isPresent, pluginPath, hasPluginSupport } = createFolder(variant);
  const findings = createFindings("hooks", name);
  const slowStart = `${name} has not yet installed what its plugins need (${pluginPackage}): it does so at its next start, and without a network that start takes more than a minute.`;
  const slowStartFix = `Start ${name} once while you are online`;
  return createAgentSetup({
    id,
    name,
    isPresent,
    describeProgram: (env) => ({
      program: id,
      versionPattern: /^\s*v?(\d+\.\d+\.\d+[\w.+-]{0,40})\s*$/m,
      ownPaths: ownPath === null ? [] : [join(homeOf(env), ownPath)],
    }),
    settingsPath: (scope, env) => (scope === "user" ? pluginPath(env) : null),
    ...createPlugin(variant),
    findWarnings: (_scope, env) => (hasPluginSupport(env) ? [] : [`${slowStart} ${slowStartFix}.`]),
    findMore({ env }, files) {
      const isRegistered = files.some(({ own }) => own.length > 0);
      return isRegistered && !hasPluginSupport(env)
        ? [findings("warn", "slow-start", slowStart, slowStartFix)]
        : [];
    },
    liveTest: {
      createRequest: (session, text) => ({
        type: "permission.asked",
        session,
        cwd: "/beckon doctor",
        request: `${session}-request`,
        permission: "bash",
        patterns: [`# ${text}`],
        metadata: { command: `# ${text}` },
        always: [],
      }),
      createEnd: (session) => ({ type: "session.deleted", session, cwd: "/beckon doctor" }),
      createEnv: (env, _session, pid) => ({ ...env, OPENCODE_PID: String(pid) }),
    },
  });
}

export const opencodeSetup = createOpencodeSetup(opencodeVariant);
