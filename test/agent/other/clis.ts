/** The real CLIs of the other agents, in pinned versions, each fetched once from the npm registry into a cache folder. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { testWith } from "../../needs.ts";
import { cliCache, installPackages, sandboxNeeds } from "../cli.ts";

export interface OtherCli {
  /** The agent's id in the table. */
  readonly id: string;
  readonly name: string;
  /** `opencode-ai@1.18.33`, and what else it needs beside it. */
  readonly packages: readonly [string, ...string[]];
  /** The program, below node_modules. A native program comes in a package for each system. */
  readonly program: string;
  /** Megabytes on disk, measured. */
  readonly mb: number;
  /** How the paths of the tests start that need it. Absent if all tests of the agent do. */
  readonly usedBy?: readonly string[];
}

const system = `${process.platform}-${process.arch}`;
const codexProgram = `@openai/codex-${system}/vendor/${process.arch === "arm64" ? "aarch64" : "x86_64"}-unknown-linux-musl/bin/codex`;

export const otherClis = {
  opencode: {
    id: "opencode",
    name: "opencode",
    // opencode installs the second one by itself at its first start; a sandbox has no network.
    packages: ["opencode-ai@1.18.33", "@opencode-ai/plugin@1.18.33"],
    program: `opencode-${system}/bin/opencode`,
    mb: 417,
  },
  kilo: {
    id: "kilo",
    name: "Kilo",
    // The registry has no @kilocode/plugin of this version: an older one is given its number, see kilo.ts.
    packages: ["@kilocode/cli@7.7.7", "@kilocode/plugin@7.3.1"],
    program: `@kilocode/cli-${system}/bin/kilo`,
    mb: 430,
    usedBy: ["test/long/agent-kilo"],
  },
  codex: {
    id: "codex",
    name: "Codex",
    packages: ["@openai/codex@0.166.0"],
    program: codexProgram,
    mb: 436,
  },
  newerCodex: {
    id: "codex",
    name: "Codex",
    packages: ["@openai/codex@0.169.0"],
    program: codexProgram,
    mb: 436,
    usedBy: ["test/long/agent-codex-patch"],
  },
  copilot: {
    id: "copilot",
    name: "Copilot CLI",
    packages: ["@github/copilot@1.0.102"],
    program: `@github/copilot-${system}/copilot`,
    mb: 189,
  },
  gemini: {
    id: "gemini",
    name: "Gemini CLI",
    packages: ["@google/gemini-cli@0.61.0"],
    program: "@google/gemini-cli/bundle/gemini.js",
    mb: 100,
  },
} as const satisfies Readonly<Record<string, OtherCli>>;

export const modulesOf = ({ id, packages: [main] }: OtherCli): string =>
  join(cliCache, `${id}-${main.split("@").at(-1)}`, "node_modules");

export const isOtherCliCached = (cli: OtherCli): boolean => existsSync(join(modulesOf(cli), cli.program));

export const fetchOtherCli = (cli: OtherCli): Promise<void> =>
  installPackages(join(modulesOf(cli), ".."), cli.packages);

/** A `test` that runs these CLIs in a sandbox; skipped, with the reason in its name, where that is not possible. */
export function testWithOtherCli(...clis: readonly OtherCli[]): ReturnType<typeof testWith> {
  const missing = clis.filter((cli) => !isOtherCliCached(cli));
  return testWith(...sandboxNeeds, ...missing.map(({ packages: [main] }) => main));
}
