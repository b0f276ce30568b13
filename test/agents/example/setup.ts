/** Install, uninstall and doctor for the made-up agent: the plugin is a file of beckon's own. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { AgentSetup } from "../../../src/agents/agent.ts";
import { createFindings } from "../../../src/agents/finding.ts";
import { quoteForShell } from "../../../src/shell/index.ts";
import { exampleFolder, isPresent, pluginPath } from "./folder.ts";

const mark = "# beckon's plugin for Example Agent\n";
const programFinding = createFindings("Example Agent", "example");
const pluginFinding = createFindings("hooks", "hooks");

export const exampleSetup: AgentSetup = {
  isPresent,
  async findProgram({ env, exec }) {
    const path = join(exampleFolder(env), "bin", "example");
    if (!existsSync(path)) return { program: null, silent: [] };
    const version = (await exec([path, "--version"])).stdout.trim();
    return version === "" ? { program: null, silent: [path] } : { program: { path, version }, silent: [] };
  },
  describeProgram: ({ program }) => [
    program ? `Found Example Agent ${program.version} at ${program.path}.` : "Example Agent was not found.",
  ],
  settingsPath: (scope, env) => (scope === "user" ? pluginPath(env) : null),
  createRegistration({ binary, home }) {
    const setting = home === null ? "" : `BECKON_HOME=${quoteForShell(home)} `;
    const text = `#!/bin/sh\n${mark}${setting}exec ${quoteForShell(binary)} hook example\n`;
    return { count: 1, noun: "plugin", add: () => text };
  },
  entries: {
    findHomes: (text) => (text.includes(mark) ? [/^BECKON_HOME='([^']*)'/m.exec(text)?.[1] ?? null] : []),
    remove: (text) => (text.includes(mark) ? "" : text),
    isEmpty: (text) => text === "",
  },
  findWarnings: () => [],
  findLeftovers: () => [],
  examine({ env, exec, program }) {
    const path = pluginPath(env);
    const isRegistered = existsSync(path);
    const search = exampleSetup.findProgram({ env, exec, remembered: program });
    return {
      isRegistered,
      parts: [
        {
          link: "Example Agent",
          findings: search.then(({ program: found }) => [
            found
              ? programFinding("ok", "found", `${found.version} at ${found.path}`)
              : programFinding("warn", "not-found", "Example Agent was not found", "Install it"),
          ]),
        },
        {
          link: "hooks",
          findings: Promise.resolve([
            isRegistered
              ? pluginFinding("ok", "registered", `the plugin is ${path}`)
              : pluginFinding("fail", "none", "no plugin", "Run: beckon --install"),
          ]),
        },
      ],
      liveTest: {
        command: isRegistered ? ["/bin/sh", path] : null,
        path: isRegistered ? path : null,
        reason: isRegistered ? null : "no plugin is installed",
        createRequest: (session, command) => ({ type: "permission.asked", session, command, folder: "/" }),
        createEnd: (session) => ({ type: "session.ended", session }),
        createEnv: (variables, _session, pid) => ({ ...variables, EXAMPLE_PID: String(pid) }),
      },
    };
  },
};
