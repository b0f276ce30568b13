/**
 * bun test/run.ts [PART OF A PATH…]   sets up, builds, checks, and runs every test file except those in test/long
 * bun test/run.ts --long              runs the files in test/long
 * bun test/run.ts --no-install        installs nothing: tests that lack something are skipped
 *
 * Each file runs in its own process: one that crashes, hangs or leaves something running is named and harms no other.
 * A file that fails runs again at the end, alone on the machine, twice at most. If it passes then, it is listed as unstable: most tests
 * drive other programs (a desktop, Wine, the real CLIs), and those do not keep every deadline while other tests run.
 * The last line is `N passed, N failed`. With CI=true a skipped test counts as failed, except one that needs Linux on another system.
 */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { countTests, isNoise, type Output, type TestCount } from "./count.ts";
import { needsOtherSystem } from "./needs.ts";
import { setUp } from "./setup.ts";
import { letTimePass } from "./wait-until.ts";

const repo = resolve(import.meta.dir, "..");
const testTimeoutMs = 30_000;
const fileTimeoutMs = 8 * 60_000;
const leftoverMs = 2_000;
/**
 * With more failed files than this, the change is broken and a second run would only take time. On a virtual machine that got
 * half of its processors, ten files of 460 missed a deadline.
 */
const mostSecondRuns = 20;
/** The processor may be taken away in the second run as well. A broken change fails three times. */
const mostThirdRuns = 5;
/** Three files run at a time: one of these, which mostly wait for other programs, … */
const waiting = ["test/desktop/", "test/wine/"];
/** … one of these, which mostly wait for each other's answers, and one of the others. With a fourth one, all took longer. */
const besideAny = ["test/channels/", "test/machines/"];
/** These load the machine or measure delays that a user would notice: they run one at a time. */
const alone = ["test/build.test.ts", "test/release/darwin-signature", "test/torture/", "test/long/"];
/** These wait for an agent's real CLI most of the time: they run last, two at a time. With three, they miss each other's deadlines. */
const withCli = ["test/agent/"];
/** These need nothing but Bun and git: they run while packages are being installed. */
const needNothing = [
  "alerts",
  "answers",
  "channels",
  "core",
  "ingest",
  "prompts",
  "replay",
  "rules",
  "secrets",
  "state",
  "truth",
  "workguard",
].map((folder) => `test/${folder}/`);
/** About a minute each: the first to start, so that no other waits for one of them at the end. */
const longestWithCli = ["test/agent/faults", "test/agent/scenarios", "test/agent/short-stories"];

/** Tests must not see a developer's own beckon, agent or multiplexer. AGENT and the like make bun hide test names. */
const hidden = /^(BECKON_|CLAUDE|TMUX|AGENT$|AI_AGENT$|REPL_ID$|FORCE_COLOR$|XDG_(STATE|CONFIG|RUNTIME)_)/;
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !hidden.test(name)));

/** Runs a command in the repo, prints its output as it comes, and returns it. */
async function run(command: readonly string[], print: (line: string) => void = console.log): Promise<Output> {
  const child = Bun.spawn([...command], {
    cwd: repo,
    env: environment,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: fileTimeoutMs,
    killSignal: "SIGKILL",
  });
  const lines: string[] = [];
  const read = async (stream: ReadableStream<Uint8Array>): Promise<void> => {
    let rest = "";
    const add = (line: string): void => {
      lines.push(line);
      print(line);
    };
    const decoder = new TextDecoder();
    for await (const bytes of stream) {
      const parts = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      rest = parts.pop() ?? "";
      parts.forEach(add);
    }
    if (rest !== "") add(rest);
  };
  const printed = Promise.all([read(child.stdout), read(child.stderr)]);
  await child.exited;
  // A grandchild that was left running would keep the pipes open.
  await Promise.race([printed, letTimePass(leftoverMs, "the most that is waited for what it printed")]);
  if (child.signalCode !== null) print(`killed by ${child.signalCode}: ${command.join(" ")}`);
  return { exitCode: child.exitCode ?? 1, lines };
}

async function runFile(file: string): Promise<TestCount> {
  const started = performance.now();
  const bunTest = [process.execPath, "test", "--no-orphans", `--timeout=${testTimeoutMs}`, `./${file}`];
  const lines: string[] = [];
  const count = countTests(await run(bunTest, (line) => lines.push(line)));
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const parts = [`${count.passed} passed`];
  if (count.failed > 0) parts.push(`${count.failed} FAILED`);
  if (count.skipped.length > 0) parts.push(`${count.skipped.length} skipped`);
  lines.push(`${file}  ${parts.join(", ")}  ${seconds} s`);
  // In one go, because several files run at a time.
  console.log(lines.filter((line) => !isNoise(line) && line !== `${file}:`).join("\n"));
  return count;
}

function findTestFiles(isLong: boolean, parts: readonly string[]): string[] {
  return [...new Bun.Glob("test/**/*.test.ts").scanSync(repo)]
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => file.startsWith("test/long/") === isLong)
    .filter((file) => parts.length === 0 || parts.some((part) => file.includes(part)))
    .sort();
}

const startsWithOneOf = (paths: readonly string[], file: string): boolean =>
  paths.some((path) => file.startsWith(path));

async function runFiles(files: readonly string[]): Promise<void> {
  for (const file of files) counts.set(file, await runFile(file));
}

/** Runs what is left of each queue, one after the other; several calls share them. */
async function runQueues(...queues: readonly string[][]): Promise<void> {
  for (const queue of queues)
    for (let file = queue.shift(); file !== undefined; file = queue.shift()) await runFiles([file]);
}

/** Starts no more files once this is done. */
async function runWhile(work: Promise<void>, queue: string[]): Promise<void> {
  let isDone = false;
  const end = work.finally(() => {
    isDone = true;
  });
  const runNext = async (): Promise<void> => {
    while (!isDone && queue.length > 0) await runFiles(queue.splice(0, 1));
  };
  await Promise.all([end, runNext(), runNext()]);
}

const findFailedFiles = (): string[] =>
  [...counts].filter(([, count]) => count.failed > 0).map(([file]) => file);

/** Returns the files that failed and passed when they ran again, alone. */
async function runFailedFilesAgain(): Promise<string[]> {
  const failedFiles = findFailedFiles();
  if (failedFiles.length > mostSecondRuns) return [];
  for (const file of failedFiles) console.log(`${file} failed: it runs again, alone`);
  await runFiles(failedFiles);
  const failedAgain = findFailedFiles();
  if (failedAgain.length <= mostThirdRuns) await runFiles(failedAgain);
  return failedFiles.filter((file) => counts.get(file)?.failed === 0);
}

const { values, positionals } = parseArgs({
  options: { long: { type: "boolean" }, "no-install": { type: "boolean" } },
  allowPositionals: true,
});
const isWholeRun = positionals.length === 0;
const found = findTestFiles(values.long === true, positionals);
const files = found.filter((file) => !needsOtherSystem(file));
const counts = new Map<string, TestCount>();
let unstable: string[] = [];
let failed = 0;

const installed = setUp(files, !values["no-install"]);
const builds = [
  await run([process.execPath, "build.ts"]),
  await run([process.execPath, "build.ts", "--for-tests"]),
];
const isBuilt = builds.every(({ exitCode }) => exitCode === 0);
if (!isBuilt) failed += 1;
if (
  isWholeRun &&
  !values.long &&
  (await run([process.execPath, "run", "--silent", "check"])).exitCode !== 0
) {
  console.log("npm run check FAILED");
  failed += 1;
}
if (isBuilt) {
  const findGroup = (file: string) => {
    if (startsWithOneOf(alone, file)) return "single";
    if (startsWithOneOf(withCli, file)) return "cli";
    if (startsWithOneOf(besideAny, file)) return "any";
    return startsWithOneOf(waiting, file) ? "waits" : "quick";
  };
  // Most tests ask when they are loaded whether there is what they need.
  const early = files.filter((file) => startsWithOneOf(needNothing, file));
  await runWhile(installed, early);
  const left = files.filter((file) => !counts.has(file));
  const { single = [], cli = [], any = [], waits = [], quick = [] } = Object.groupBy(left, findGroup);
  await Promise.all([waits, any, quick].map((first) => runQueues(first, quick, any)));
  await runFiles(single);
  const isLongest = (file: string) => startsWithOneOf(longestWithCli, file);
  const [longest, others] = [cli.filter(isLongest), cli.filter((file) => !isLongest(file))];
  await Promise.all([runQueues(longest, others), runQueues(longest, others)]);
  unstable = await runFailedFilesAgain();
}

let passed = 0;
const skipped: string[] = found
  .filter((file) => !files.includes(file))
  .map((file) => `${file} (needs Linux)`);
for (const [file, count] of counts) {
  passed += count.passed;
  failed += count.failed;
  skipped.push(...count.skipped.map((name) => `${file}: ${name}`));
}
for (const file of unstable) console.log(`unstable: ${file} failed and passed when it ran again, alone`);
for (const name of skipped) console.log(`skipped: ${name}`);
const isEmpty = passed + failed + skipped.length === 0;
if (isEmpty) console.log("no test was run");
// Elsewhere than on Linux most tests of the system itself cannot run.
const isStrict = process.env.CI === "true" && process.platform === "linux";
if (isStrict) failed += skipped.length;
const skippedPart = isStrict || skipped.length === 0 ? "" : `, ${skipped.length} skipped`;
console.log(`${passed} passed, ${failed} failed${skippedPart}`);
process.exit(failed > 0 || isEmpty ? 1 : 0);
