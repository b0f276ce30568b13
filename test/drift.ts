/**
 * `npm run test:drift`: what the newest version of each agent's CLI would change. Each is installed beside the tested one, and the tests
 * that drive the agent's CLI run with it. `npm run test:drift -- qwen kimi` runs only these agents.
 */
import { cliVersion, fetchCli, isCliCached, packageName } from "./agent/cli.ts";
import { fetchOtherCli, isOtherCliCached, type OtherCli, otherClis } from "./agent/other/clis.ts";

interface Candidate {
  readonly id: string;
  readonly packageName: string;
  readonly tested: string;
  /** The beginnings of the paths of the tests that drive it. */
  readonly tests: readonly string[];
  /** False if npm brings no program for this system. */
  fetch(version: string): Promise<boolean>;
}

/** `@scope/name@1.2.3` */
function splitPackage(text: string): readonly [name: string, version: string] {
  const at = text.lastIndexOf("@");
  return [text.slice(0, at), text.slice(at + 1)];
}

function createCandidate(cli: OtherCli): Candidate {
  const [main, ...more] = cli.packages;
  const [name, tested] = splitPackage(main);
  // What has the same version comes from the same makers.
  const renew = (version: string) => (text: string) =>
    splitPackage(text)[1] === tested ? `${splitPackage(text)[0]}@${version}` : text;
  return {
    id: cli.id,
    packageName: name,
    tested,
    tests: cli.usedBy ?? [`test/agent/${cli.id}`, `test/long/agent-${cli.id}`],
    async fetch(version) {
      const newer: OtherCli = { ...cli, packages: [`${name}@${version}`, ...more.map(renew(version))] };
      await fetchOtherCli(newer);
      return isOtherCliCached(newer);
    },
  };
}

const candidates: readonly Candidate[] = [
  {
    id: "claude",
    packageName,
    tested: cliVersion,
    tests: ["test/agent/scenarios", "test/agent/answers", "test/agent/faults"],
    async fetch(version) {
      await fetchCli(version);
      return isCliCached(version);
    },
  },
  ...Object.entries(otherClis).flatMap(([key, cli]) => (key === cli.id ? [createCandidate(cli)] : [])),
];

async function run(argv: readonly string[], env: Record<string, string> = {}): Promise<[number, string]> {
  const child = Bun.spawn([...argv], {
    env: { ...process.env, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  return [await child.exited, await child.stdout.text()];
}

async function check({ id, packageName: name, tested, tests, fetch }: Candidate): Promise<string> {
  const [code, output] = await run(["npm", "view", name, "version"]);
  const newest = output.trim();
  if (code !== 0 || newest === "") return `${id}: npm does not know its newest version`;
  if (newest === tested) return `${id} ${tested}: nothing newer`;
  if (!(await fetch(newest)))
    return `${id} ${tested} → ${newest}: changed: npm brings no program for this system`;
  const failed: string[] = [];
  for (const path of tests) {
    const args = path.startsWith("test/long/") ? ["--long", path] : [path];
    const env = { TEST_CLI_VERSIONS: JSON.stringify({ [id]: newest }) };
    const [exit, text] = await run([process.execPath, "test/run.ts", "--no-install", ...args], env);
    const problems = text.split("\n").filter((line) => /^\s*(?:\(fail\)|✗|failed|skipped)/.test(line));
    if (exit !== 0) failed.push(`${path}:`, ...problems.slice(0, 20).map((line) => `  ${line.trim()}`));
  }
  const verdict = failed.length === 0 ? "all stories as before" : "stories that changed:";
  return [`${id} ${tested} → ${newest}: ${verdict}`, ...failed].join("\n  ");
}

const wanted = process.argv.slice(2);
const isWanted = ({ id }: Candidate): boolean => wanted.length === 0 || wanted.includes(id);
let hasChanged = false;
for (const candidate of candidates.filter(isWanted)) {
  const report = await check(candidate);
  hasChanged ||= report.includes("changed:") || report.includes("does not know");
  console.log(report);
}
process.exit(hasChanged ? 1 : 0);
