/**
 * bun build.ts                  dist/beckon, for this machine
 * bun build.ts --all            dist/beckon-<system>-<cpu>[-musl][.exe], for every system
 * bun build.ts --target NAME    the same for one of them; can be given several times
 * bun build.ts --for-tests      dist/test/beckon, which takes HOME for the user's home folder
 */
import { parseArgs } from "node:util";
import { version } from "./package.json";
import { type CompileOptions, compile, writePage } from "./src/release/compile.ts";
import { findTarget, programNameOf, targets } from "./src/release/targets.ts";
import { followHome } from "./test/follow-home.ts";

const inRepo = (path: string): string => new URL(path, import.meta.url).pathname;

async function build(outfile: string, options: Omit<CompileOptions, "outfile">): Promise<void> {
  const started = performance.now();
  await compile({ ...options, outfile: inRepo(outfile) });
  const megabytes = (Bun.file(inRepo(outfile)).size / 1e6).toFixed(1);
  console.log(`${outfile}  ${megabytes} MB  ${((performance.now() - started) / 1000).toFixed(1)} s`);
}

/** The one binary that can be run here is: a build that does not start is no build. */
function proveItStarts(outfile: string): void {
  const { stdout, stderr, exitCode } = Bun.spawnSync([inRepo(outfile), "--version"], { timeout: 10_000 });
  if (exitCode !== 0 || !stdout.toString().includes(version)) {
    throw new Error(`${outfile} --version does not say ${version}:\n${stdout}${stderr}`);
  }
}

const { values } = parseArgs({
  options: {
    all: { type: "boolean" },
    target: { type: "string", multiple: true },
    "for-tests": { type: "boolean" },
  },
});

try {
  const chosen = values.all ? targets : (values.target ?? []).map(findTarget);
  await writePage();
  for (const target of chosen) {
    const suffix = target.system === "windows" ? ".exe" : "";
    await build(`dist/beckon-${target.name}${suffix}`, { target });
  }
  if (chosen.length === 0) {
    const name = programNameOf({ system: process.platform === "win32" ? "windows" : "linux" });
    const outfile = values["for-tests"] ? `dist/test/${name}` : `dist/${name}`;
    await build(outfile, { target: null, plugins: values["for-tests"] ? [followHome] : [] });
    proveItStarts(outfile);
  }
} catch (error) {
  const reasons = error instanceof AggregateError ? error.errors : [error];
  for (const reason of reasons) console.error(`build failed: ${reason}`);
  process.exit(1);
}
