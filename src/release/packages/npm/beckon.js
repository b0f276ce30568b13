#!/usr/bin/env node
// Starts the program of the package for this system, which npm has chosen from the optional dependencies.

const { spawn } = require("node:child_process");
const { readFileSync } = require("node:fs");
const os = require("node:os");

const isMusl = () => {
  if (process.platform !== "linux") return false;
  try {
    return readFileSync("/usr/bin/ldd", "latin1").includes("musl");
  } catch {
    return !process.report.getReport().header.glibcVersionRuntime;
  }
};

const system = process.platform === "win32" ? "windows" : process.platform;
// Windows on arm64 runs programs for x64.
const cpu = system === "windows" ? "x64" : process.arch;
const name = `beckon-${system}-${cpu}${isMusl() ? "-musl" : ""}`;

let program;
try {
  program = require.resolve(`${name}/bin/beckon${system === "windows" ? ".exe" : ""}`);
} catch {
  const known = Object.keys(require("../package.json").optionalDependencies);
  console.error(
    known.includes(name)
      ? `beckon: npm has not installed ${name}. Install beckon again without --omit=optional and --no-optional.`
      : `beckon: there is no beckon for ${system} ${process.arch}. There is: ${known.join(", ")}`,
  );
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// Ctrl-C reaches both, and beckon decides when it ends.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`beckon: ${program} cannot be started: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + (os.constants.signals[signal] ?? 1)));
