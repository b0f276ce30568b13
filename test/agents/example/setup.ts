/** Install, uninstall and doctor for the made-up agent: the plugin is a file of beckon's own. */
import { join } from "node:path";
import { createAgentSetup } from "../../../src/agents/setup/index.ts";
import { createOwnFileSetup } from "../../../src/agents/setup/own-file.ts";
import { quoteForShell } from "../../../src/core/text/shell-quote.ts";
import { exampleFolder, isPresent, pluginPath } from "./folder.ts";

const mark = "# beckon's plugin for Example Agent\n";

const plugin = createOwnFileSetup({
  noun: "plugin",
  mark,
  createText({ binary, home }) {
    const setting = home === null ? "" : `BECKON_HOME=${quoteForShell(home)} `;
    return `#!/bin/sh\n${mark}${setting}exec ${quoteForShell(binary)} hook example\n`;
  },
  readCalled(text) {
    const [, home = null, binary] =
      /^(?:BECKON_HOME='([^']*)' )?exec '?([^' ]*)'? hook example$/m.exec(text) ?? [];
    return binary === undefined ? null : { binary, home };
  },
});

export const exampleSetup = createAgentSetup({
  id: "example",
  name: "Example Agent",
  isPresent,
  describeProgram: (env) => ({
    program: "example",
    versionPattern: /^(\d\S*)$/m,
    ownPaths: [join(exampleFolder(env), "bin", "example")],
  }),
  settingsPath: (scope, env) => (scope === "user" ? pluginPath(env) : null),
  ...plugin,
  liveTest: {
    createRequest: (session, command) => ({ type: "permission.asked", session, command, folder: "/" }),
    createEnd: (session) => ({ type: "session.ended", session }),
    createEnv: (variables, _session, pid) => ({ ...variables, EXAMPLE_PID: String(pid) }),
  },
});
