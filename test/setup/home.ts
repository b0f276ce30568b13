/** A home folder with Claude Code's settings, and a small program in the place of beckon. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Agent } from "../../src/agents/agent.ts";
import { claudeSetup, createClaudeSetup } from "../../src/agents/claude/setup/index.ts";
import { agents, defaultAgent } from "../../src/agents/index.ts";
import type { AgentMachine } from "../../src/agents/setup/index.ts";
import { type InstallOptions, install } from "../../src/setup/install.ts";
import { readInstallRecord } from "../../src/setup/install-record.ts";
import { type UnregisterOutcome, unregister } from "../../src/setup/register.ts";
import { resolvePaths } from "../../src/storage/paths.ts";
import { exec } from "../../src/system/exec.ts";

const made: string[] = [];

/** For each file's afterAll. */
export function removeHomes(): void {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
}

/** A table with the default agent only, on a machine with nothing but what the test puts there. */
export const agentsOn = (machine: AgentMachine = {}): readonly Agent[] =>
  agents
    .filter(({ id }) => id === defaultAgent)
    .map((agent) => ({
      ...agent,
      loadSetup: async () => createClaudeSetup({ managed: [], systemPaths: [], ...machine }),
    }));

export function temporaryHome(parent = tmpdir()) {
  const folder = mkdtempSync(join(parent, "beckon-install-"));
  made.push(folder);
  const home = join(folder, "home");
  mkdirSync(home, { mode: 0o700 });
  return homeAt(home);
}

export type Home = ReturnType<typeof homeAt>;

export function homeAt(home: string) {
  const env = { HOME: home, PATH: join(home, "programs") };
  const places = resolvePaths(env);
  const at = (...names: string[]) => join(home, ...names);
  const settings = at(".claude", "settings.json");

  function put(path: string, text: string | Buffer, mode?: number): string {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    if (mode !== undefined) chmodSync(path, mode);
    return path;
  }
  const script = (path: string, says: string) => put(path, `#!/bin/sh\necho '${says}'\n`, 0o755);
  const program = (version = "0.1.0", name = "beckon") => {
    const path = script(at("Downloads", version, name), `beckon ${version}`);
    return { path, readFrom: path };
  };
  const options = (more: Partial<InstallOptions> = {}): InstallOptions => ({
    agents: agentsOn(),
    selected: null,
    paths: places,
    env,
    cwd: home,
    scope: "user",
    exec,
    program: more.program ?? program(),
    version: "0.1.0",
    ...more,
  });

  return {
    home,
    env,
    places,
    at,
    settings,
    put,
    script,
    program,
    options,
    claude: (version: string) => script(at("programs", "claude"), `${version} (Claude Code)`),
    read: (path = settings) => readFileSync(path, "utf8"),
    /** The result, with that of the only agent. */
    async install(more: Partial<InstallOptions> = {}) {
      const result = await install(options(more));
      const [agent] = result.agents;
      if (!agent || result.agents.length > 1) throw new Error("not one agent");
      return { ...agent, ...result };
    },
    async uninstall(path = settings): Promise<UnregisterOutcome> {
      const recorded = readInstallRecord(places)?.files.find((file) => file.path === path) ?? null;
      return (await unregister({ path, entries: claudeSetup.entries, recorded }, places, { home })).outcome;
    },
    backups: () => (existsSync(places.backups) ? readdirSync(places.backups).sort() : []),
    installed: () => readInstallRecord(places),
    /** Every file below the home but `Downloads`, with its mode and content. */
    tree: () => treeOf(home),
  };
}

function treeOf(folder: string): Record<string, string> {
  const all = [...new Bun.Glob("**/*").scanSync({ cwd: folder, dot: true, onlyFiles: false })].sort();
  return Object.fromEntries(
    all.map((name) => {
      const found = statSync(join(folder, name), { throwIfNoEntry: false });
      const text = found?.isFile() ? Bun.hash(readFileSync(join(folder, name))).toString(16) : "";
      return [name, `${(found?.mode ?? 0).toString(8)} ${text}`];
    }),
  );
}
