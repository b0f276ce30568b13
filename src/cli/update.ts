/** `beckon update`: replaces the installed beckon by the newest release, or by the one before the last update. */
import { accessSync, constants, existsSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import type { Agent } from "../agents/agent.ts";
import { readErrorMessage } from "../core/error-message.ts";
import { formatMegabytes, shorten } from "../machines/setup.ts";
import { findProgram, previousPathOf, readVersion } from "../setup/binary.ts";
import { type InstallRecord, readInstallRecord } from "../setup/install-record.ts";
import { findPackageOwner, type PackageOwner } from "../setup/package-owner.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import { readEndpoint } from "../system/endpoint.ts";
import { exec } from "../system/exec.ts";
import {
  downloadProgram,
  exchangeProgram,
  type FailedExchange,
  fetchRelease,
  findReleasedProgram,
  findReleases,
  isNewer,
  type ProgramExchange,
  rollBack,
} from "../update/index.ts";
import { withFileLock } from "../user-files/file-lock.ts";
import { describeSystemError } from "../user-files/index.ts";
import { parseArguments, usageError } from "./args.ts";
import { updateCommand } from "./commands/update.ts";
import { formatLine, homeFolder, print, printLines } from "./output.ts";
import { restartApp } from "./restart.ts";

export async function update(args: string[], table: readonly Agent[]): Promise<number> {
  const { flags } = parseArguments(args, updateCommand);
  const [isCheck, isRollback] = [flags.has("--check"), flags.has("--rollback")];
  if (isCheck && isRollback) throw usageError("--check and --rollback exclude each other");
  const paths = resolvePaths();
  const record = readInstallRecord(paths);
  const binary = await findInstalled(record);
  const owner = await findPackageOwner(binary, homeFolder(), exec);
  if (isCheck) return check(binary, owner);
  if (owner) throw new Error(`${owner.name} installed ${binary}, and updates it: ${owner.update}`);
  const installation: Installation = { binary, record, paths, table };
  return changeAlone(installation, () => (isRollback ? goBack(installation) : goOn(installation)));
}

interface Installation {
  readonly binary: string;
  readonly record: InstallRecord | null;
  readonly paths: Paths;
  readonly table: readonly Agent[];
}

/** The program that the hooks call, or this one if there is no install. */
async function findInstalled(record: InstallRecord | null): Promise<string> {
  if (record && existsSync(record.binary)) return realpathSync(record.binary);
  return realpathSync((await findProgram(Bun.main, process.execPath, exec)).path);
}

async function readInstalledVersion(binary: string): Promise<string> {
  const version = await readVersion(binary, exec);
  if (version === null)
    throw new Error(
      `${binary} is another program now. Run the beckon that you want to keep: beckon --install`,
    );
  return version;
}

async function check(binary: string, owner: PackageOwner | null): Promise<number> {
  const version = await readInstalledVersion(binary);
  const newest = await fetchRelease(findReleases(process.env));
  printLines(
    isNewer(newest.version, version)
      ? [
          `beckon ${newest.version} is available. You have ${version}. To update: ${owner?.update ?? "beckon update"}`,
        ]
      : [`beckon ${version} is the newest version.`],
  );
  return 0;
}

/** Another update that is under way is over soon, or takes too long to wait for. */
const otherUpdateMs = 2_000;

/** Only one command at a time changes the program. An error says that nothing was changed, if so. */
async function changeAlone({ binary }: Installation, change: () => Promise<number>): Promise<number> {
  const folder = dirname(binary);
  try {
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw new Error(
      `${binary} cannot be replaced: ${folder}: ${describeSystemError(error)}. Update it as the user who owns it, or run beckon --install to have one of your own`,
      { cause: error },
    );
  }
  return withFileLock(binary, change, otherUpdateMs);
}

async function goOn(installation: Installation): Promise<number> {
  const { binary } = installation;
  const version = await readInstalledVersion(binary);
  const releases = findReleases(process.env);
  const newest = await fetchRelease(releases);
  if (!isNewer(newest.version, version)) {
    printLines([`beckon ${version} is the newest version.`]);
    return 0;
  }
  const released = await findReleasedProgram(newest, process.execPath);
  const { name, size } = released.archive;
  printLines([`beckon ${newest.version} is available. You have ${version}.`]);
  const program = await step(
    `Downloading ${name} (${formatMegabytes(size)})`,
    () => "done, and its checksum is right.",
    () => downloadProgram(released, newest, releases),
  );
  return finish(installation, version, newest.version, (exchange) =>
    exchangeProgram(exchange, program, newest.version),
  );
}

async function goBack(installation: Installation): Promise<number> {
  const { binary } = installation;
  const previous = previousPathOf(binary);
  if (!existsSync(previous)) throw new Error(`there is no earlier beckon to go back to (${previous})`);
  const [version, earlier] = [await readVersion(binary, exec), await readVersion(previous, exec)];
  if (earlier === null) throw new Error(`${previous} does not run, so beckon ${version} stays`);
  return finish(installation, version ?? "another program", earlier, rollBack);
}

/** Prints what it does and how it went. Throws if it fails. */
async function step<Result>(
  doing: string,
  describe: (result: Result) => string,
  run: () => Promise<Result>,
): Promise<Result> {
  print(formatLine(`${doing} … `));
  try {
    const result = await run();
    printLines([describe(result)]);
    return result;
  } catch (cause) {
    printLines(["not possible."]);
    const why = describeSystemError(cause) ?? readErrorMessage(cause);
    throw new Error(`${why}. Nothing was changed`, { cause });
  }
}

/** A slow disk, and the journal of a new version that is read for the first time. */
const newStartMs = 30_000;

/** Puts the other program in place, restarts the app if it runs, and connects the agents as the other version does it. */
async function finish(
  { binary, record, paths, table }: Installation,
  from: string,
  to: string,
  change: (exchange: ProgramExchange) => Promise<FailedExchange | null>,
): Promise<number> {
  const isRunning = readEndpoint(paths) !== null;
  const restart = async () => {
    await restartApp(paths, table, { command: [binary], deadlineMs: newStartMs });
  };
  const doing = `Replacing ${binary}${isRunning ? ", and restarting beckon" : ""}`;
  const failed = await step(
    doing,
    (result) => (result ? "not possible." : "done."),
    () => change({ binary, exec, restart: isRunning ? restart : null }),
  );
  if (failed) throw new Error(describeFailure(failed, from, to));
  const unconnected = record && (await connectAgents(binary, record));
  printLines([
    ...(unconnected
      ? [`The hooks are as beckon ${from} wrote them: ${unconnected}. To try again: beckon --install`]
      : []),
    `beckon ${to} is installed${isRunning ? " and running" : ""}. To go back to ${from}: beckon update --rollback`,
  ]);
  return 0;
}

function describeFailure({ problem, restartProblem }: FailedExchange, from: string, to: string): string {
  const putBack = `beckon ${to} does not run here: ${problem}. So beckon ${from} was put back`;
  return restartProblem === null
    ? `${putBack}, and runs again`
    : `${putBack}, but does not run again: ${restartProblem}`;
}

/** Every agent is asked for its version. */
const connectMs = 60_000;

/** Has the program that is installed now write the hooks of the agents that were connected. Resolves with why it could not. */
async function connectAgents(binary: string, { files, copy }: InstallRecord): Promise<string | null> {
  const agents = new Set(files.filter(({ scope }) => scope === "user").map(({ agent }) => agent));
  if (agents.size === 0) return null;
  const flags = ["--no-start", ...(copy ? ["--placed"] : [])];
  const { code, stderr } = await exec([binary, "--install", ...flags, "--agent", ...agents], {
    timeoutMs: connectMs,
  });
  return code === 0 ? null : shorten(stderr).replace(/\.$/, "");
}
