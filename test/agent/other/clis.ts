/** The real CLIs of the other agents, in pinned versions, each fetched once from the npm registry into a cache folder. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { testWith } from "../../needs.ts";
import { cliCache, installPackages, sandboxNeeds, versionOf } from "../cli.ts";

export interface OtherCli {
  /** The agent's id in the table. */
  readonly id: string;
  readonly name: string;
  /** `opencode-ai@1.18.33`, and what else it needs beside it. */
  readonly packages: readonly [string, ...string[]];
  /** The program, below node_modules. A native program comes in a package for each system. */
  readonly program: string;
  /** The Node.js that runs it, below node_modules. Absent if the program starts by itself. */
  readonly node?: string;
  /** npm brings the program compressed, as PROGRAM.br. */
  readonly isPacked?: true;
  /** Megabytes on disk, measured. */
  readonly mb: number;
  /** How the paths of the tests start that need it. Absent if all tests of the agent do. */
  readonly usedBy?: readonly string[];
}

/** `opencode-ai@1.18.33` */
const pin = (agent: string, name: string, version: string): string => `${name}@${versionOf(agent, version)}`;

const system = `${process.platform}-${process.arch}`;
/** Newer than the Node.js of Debian, which they do not run on. */
const node22 = `node-${system}@22.23.3`;
const node22Program = `node-${system}/bin/node`;
const codexProgram = `@openai/codex-${system}/vendor/${process.arch === "arm64" ? "aarch64" : "x86_64"}-unknown-linux-musl/bin/codex`;

export const otherClis = {
  opencode: {
    id: "opencode",
    name: "opencode",
    // opencode installs the second one by itself at its first start; a sandbox has no network.
    packages: [pin("opencode", "opencode-ai", "1.18.33"), pin("opencode", "@opencode-ai/plugin", "1.18.33")],
    program: `opencode-${system}/bin/opencode`,
    mb: 417,
  },
  kilo: {
    id: "kilo",
    name: "Kilo",
    // The registry has no @kilocode/plugin of this version: an older one is given its number, see kilo.ts.
    packages: [pin("kilo", "@kilocode/cli", "7.7.7"), "@kilocode/plugin@7.3.1"],
    program: `@kilocode/cli-${system}/bin/kilo`,
    mb: 430,
    usedBy: ["test/long/agent-kilo"],
  },
  codex: {
    id: "codex",
    name: "Codex",
    packages: [pin("codex", "@openai/codex", "0.169.0")],
    program: codexProgram,
    mb: 436,
  },
  olderCodex: {
    id: "codex",
    name: "Codex",
    packages: ["@openai/codex@0.166.0"],
    program: codexProgram,
    mb: 436,
    usedBy: ["test/long/agent-codex-patch"],
  },
  copilot: {
    id: "copilot",
    name: "Copilot CLI",
    packages: [pin("copilot", "@github/copilot", "1.0.102")],
    program: `@github/copilot-${system}/copilot`,
    mb: 189,
  },
  gemini: {
    id: "gemini",
    name: "Gemini CLI",
    packages: [pin("gemini", "@google/gemini-cli", "0.61.0")],
    program: "@google/gemini-cli/bundle/gemini.js",
    mb: 100,
  },
  qwen: {
    id: "qwen",
    name: "Qwen Code",
    packages: [pin("qwen", "@qwen-code/qwen-code", "0.24.4"), node22],
    program: "@qwen-code/qwen-code/cli-entry.js",
    node: node22Program,
    mb: 250,
    usedBy: ["test/agent/short-stories", "test/long/agent-qwen"],
  },
  kimi: {
    id: "kimi",
    name: "Kimi Code",
    packages: [pin("kimi", "@moonshot-ai/kimi-code", "2.1.0"), node22],
    program: "@moonshot-ai/kimi-code/dist/main.mjs",
    node: node22Program,
    mb: 230,
    usedBy: ["test/agent/short-stories", "test/long/agent-kimi"],
  },
  grok: {
    id: "grok",
    name: "Grok Build",
    packages: [pin("grok", "@xai-official/grok", "1.0.41")],
    program: `@xai-official/grok-${system}/bin/grok`,
    isPacked: true,
    mb: 190,
    usedBy: ["test/agent/short-stories", "test/long/agent-grok"],
  },
} as const satisfies Readonly<Record<string, OtherCli>>;

export const modulesOf = ({ id, packages: [main] }: OtherCli): string =>
  join(cliCache, `${id}-${main.split("@").at(-1)}`, "node_modules");

export const isOtherCliCached = (cli: OtherCli): boolean => existsSync(join(modulesOf(cli), cli.program));

export async function fetchOtherCli(cli: OtherCli): Promise<void> {
  await installPackages(join(modulesOf(cli), ".."), cli.packages);
  const program = join(modulesOf(cli), cli.program);
  if (cli.isPacked && existsSync(`${program}.br`))
    writeFileSync(program, brotliDecompressSync(readFileSync(`${program}.br`)), { mode: 0o755 });
}

/** A `test` that runs these CLIs in a sandbox; skipped, with the reason in its name, where that is not possible. */
export function testWithOtherCli(...clis: readonly OtherCli[]): ReturnType<typeof testWith> {
  const missing = clis.filter((cli) => !isOtherCliCached(cli));
  return testWith(...sandboxNeeds, ...missing.map(({ packages: [main] }) => main));
}
