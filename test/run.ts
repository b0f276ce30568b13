/**
 * bun test/run.ts [PART OF A PATH…]   builds, checks, and runs every test file but those in test/long
 * bun test/run.ts --long              the ones in test/long
 *
 * Each file has a process of its own: one that crashes, hangs or leaves something running is named and harms no other.
 * The last line is `N passed, N failed`. With CI=true a skipped test counts as failed.
 */
import { parseArgs } from "node:util";
import { type Count, count, isNoise, type Outcome } from "./count.ts";

const repo = new URL("..", import.meta.url).pathname;
const testTimeoutMs = 30_000;
const fileTimeoutMs = 8 * 60_000;
const leftoverMs = 2_000;
/** Two files at a time, one of these and one of the others: these mostly wait for programs on a screen. */
const onScreen = ["test/desktop/", "test/wine/"];
/** These load the machine or measure what a person would notice: last, and each alone. */
const alone = ["test/build.test.ts", "test/torture/", "test/agent/", "test/long/"];

/** A developer's own beckon, agent or multiplexer must not be seen by tests; AGENT and the like make bun hide names. */
const foreign = /^(BECKON_|CLAUDE|TMUX|AGENT$|AI_AGENT$|REPL_ID$|FORCE_COLOR$|XDG_(STATE|CONFIG|RUNTIME)_)/;
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));

/** Runs a command in the repo, shows its output as it comes, and returns it. */
async function run(command: readonly string[], show: (line: string) => void = console.log): Promise<Outcome> {
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
    const take = (line: string): void => {
      lines.push(line);
      show(line);
    };
    const decoder = new TextDecoder();
    for await (const bytes of stream) {
      const parts = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      rest = parts.pop() ?? "";
      parts.forEach(take);
    }
    if (rest !== "") take(rest);
  };
  const shown = Promise.all([read(child.stdout), read(child.stderr)]);
  await child.exited;
  // A grandchild that was left running would hold the pipes open.
  await Promise.race([shown, Bun.sleep(leftoverMs)]);
  if (child.signalCode !== null) show(`killed by ${child.signalCode}: ${command.join(" ")}`);
  return { exitCode: child.exitCode ?? 1, lines };
}

async function testFile(file: string): Promise<Count> {
  const started = performance.now();
  const bunTest = [process.execPath, "test", "--no-orphans", `--timeout=${testTimeoutMs}`, `./${file}`];
  const said: string[] = [];
  const counted = count(await run(bunTest, (line) => said.push(line)));
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const parts = [`${counted.passed} passed`];
  if (counted.failed > 0) parts.push(`${counted.failed} FAILED`);
  if (counted.skipped.length > 0) parts.push(`${counted.skipped.length} skipped`);
  said.push(`${file}  ${parts.join(", ")}  ${seconds} s`);
  // All at once: another file's lines may come in between.
  console.log(said.filter((line) => !isNoise(line) && line !== `${file}:`).join("\n"));
  return counted;
}

function testFiles(isLong: boolean, wanted: readonly string[]): string[] {
  return [...new Bun.Glob("test/**/*.test.ts").scanSync(repo)]
    .filter((file) => file.startsWith("test/long/") === isLong)
    .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
    .sort();
}

const isOneOf = (starts: readonly string[], file: string): boolean =>
  starts.some((start) => file.startsWith(start));

async function testAll(files: readonly string[]): Promise<void> {
  for (const file of files) {
    const counted = await testFile(file);
    passed += counted.passed;
    failed += counted.failed;
    skipped.push(...counted.skipped.map((name) => `${file}: ${name}`));
  }
}

const { values, positionals } = parseArgs({ options: { long: { type: "boolean" } }, allowPositionals: true });
const isWholeRun = positionals.length === 0;
let passed = 0;
let failed = 0;
const skipped: string[] = [];

if (process.platform === "linux") await run(["sh", "test/setup-debian.sh"]);
const built = await run([process.execPath, "build.ts"]);
if (built.exitCode !== 0) failed += 1;
if (isWholeRun && !values.long && (await run(["npm", "run", "--silent", "check"])).exitCode !== 0) {
  console.log("npm run check FAILED");
  failed += 1;
}
if (built.exitCode === 0) {
  const files = testFiles(values.long === true, positionals);
  const {
    loud = [],
    screen = [],
    quick = [],
  } = Object.groupBy(files, (file) =>
    isOneOf(alone, file) ? "loud" : isOneOf(onScreen, file) ? "screen" : "quick",
  );
  await Promise.all([testAll(screen), testAll(quick)]);
  await testAll(loud);
}

for (const name of skipped) console.log(`skipped: ${name}`);
const isNothing = passed + failed + skipped.length === 0;
if (isNothing) console.log("no test was run");
const isStrict = process.env.CI === "true";
if (isStrict) failed += skipped.length;
const andSkipped = isStrict || skipped.length === 0 ? "" : `, ${skipped.length} skipped`;
console.log(`${passed} passed, ${failed} failed${andSkipped}`);
process.exit(failed > 0 || isNothing ? 1 : 0);
