/** Install, uninstall and doctor for opencode: beckon's plugin is a file of its own, which opencode loads by itself. */
import { join } from "node:path";
import pluginText from "../../../../hooks/opencode.plugin.js" with { type: "text" };
import { homeOf } from "../../../system/folders.ts";
import { createFindings } from "../../finding.ts";
import { createAgentSetup } from "../../setup/index.ts";
import { createOwnFileSetup } from "../../setup/own-file.ts";
import { hasPluginSupport, isPresent, ownMark, pluginPath } from "./folder.ts";

const plugin = createOwnFileSetup({
  noun: "plugin",
  mark: ownMark,
  /** The plugin with the paths that it needs. A function as replacement: a path can have a $ in it. */
  createText: ({ binary, home, guardScope }) =>
    pluginText
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

const findings = createFindings("hooks", "opencode");
const slowStart =
  "opencode has not yet installed what its plugins need (@opencode-ai/plugin): it does so at its next start, and without a network that start takes more than a minute.";
const slowStartFix = "Start opencode once while you are online";

export const opencodeSetup = createAgentSetup({
  id: "opencode",
  name: "opencode",
  isPresent,
  describeProgram: (env) => ({
    program: "opencode",
    versionPattern: /^\s*v?(\d+\.\d+\.\d+[\w.+-]{0,40})\s*$/m,
    ownPaths: [join(homeOf(env), ".opencode", "bin", "opencode")],
  }),
  settingsPath: (scope, env) => (scope === "user" ? pluginPath(env) : null),
  ...plugin,
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
