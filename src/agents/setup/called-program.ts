/** beckon's entries in an agent's files, and the programs that they call: whether they are there, and whether doctor may run them. */
import { accessSync, constants, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { resolvePaths } from "../../storage/paths.ts";
import { envProgram } from "../../user-files/hook-command.ts";
import type { OwnHook } from "../../user-files/hooks.ts";
import { resolveLinks } from "../../user-files/owned-path.ts";
import type { ExamineContext, LiveTest, Scope } from "../agent.ts";

/** One of beckon's own entries in a file of the agent's. */
export interface OwnEntry {
  /** The beckon that it calls. */
  readonly binary: string;
  readonly home: string | null;
  /** Absent if the file has no hooks of the common form. */
  readonly hook?: OwnHook;
}

/** A settings file that exists. */
export interface RegisteredFile {
  readonly scope: Scope | "managed";
  readonly path: string;
  readonly text: string;
  /** Why it could not be read or parsed. null if it could. */
  readonly problem: string | null;
  readonly own: readonly OwnEntry[];
}

type ProgramStatus = "ok" | "missing" | "not executable";

/** A beckon that entries call. */
export interface CalledProgram {
  readonly binary: string;
  /** The state folder that it writes to. */
  readonly state: string;
  readonly status: ProgramStatus;
  /** null if it was not asked, or did not print one. */
  readonly version: string | null;
  /** The events of the hooks that call it. Empty if its entries are not hooks. */
  readonly events: readonly string[];
}

interface Call {
  readonly file: RegisteredFile;
  readonly entry: OwnEntry;
}

const listCalls = (files: readonly RegisteredFile[]): readonly Call[] =>
  files.flatMap((file) => file.own.map((entry) => ({ file, entry })));

/** Each program that beckon's entries call. */
export function findCalledPrograms(
  files: readonly RegisteredFile[],
  { env, binary: installed, readVersion }: Pick<ExamineContext, "env" | "binary" | "readVersion">,
): Promise<readonly CalledProgram[]> {
  const programs = Map.groupBy(listCalls(files), ({ entry: { binary, home } }) =>
    JSON.stringify([binary, home]),
  );
  return Promise.all(
    [...programs.values()].flatMap((calls) => {
      const [first] = calls;
      if (!first) return [];
      const { binary, home } = first.entry;
      const { state } = resolvePaths(home === null ? env : { ...env, BECKON_HOME: home });
      const status = findStatus(binary);
      const mayRun =
        status === "ok" && isAbsolute(binary) && calls.some((call) => isTrusted(call, installed));
      const reading = mayRun ? readVersion(binary) : Promise.resolve(null);
      const events = [...new Set(calls.flatMap(({ entry: { hook } }) => hook?.event ?? []))];
      return [reading.then((version) => ({ binary, state, status, version, events }))];
    }),
  );
}

/** A path with a variable in it counts as one that can run: only the shell knows which file it is. */
function findStatus(path: string): ProgramStatus {
  if (!isAbsolute(path)) return "ok";
  try {
    if (!statSync(path).isFile()) return "missing";
  } catch {
    return "missing";
  }
  try {
    accessSync(path, constants.X_OK);
    return "ok";
  } catch {
    return "not executable";
  }
}

/** A project's settings can name any program. Of those, doctor runs only this beckon and the one that install recorded. */
function isTrusted({ file: { scope }, entry: { binary } }: Call, installed: string | null): boolean {
  if (scope === "user" || scope === "managed") return true;
  const trusted = [process.execPath, ...(installed === null ? [] : [installed])];
  return trusted.map(resolveLinks).includes(resolveLinks(binary));
}

/** A hook for one of these shows that a request reaches beckon. */
const testedEvents: ReadonlySet<string> = new Set(["PermissionRequest", "SessionStart"]);

/** The command with which doctor sends its test event: the agent's own, if it may be run. */
export function chooseCommand(
  agent: { readonly id: string; readonly name: string },
  files: readonly RegisteredFile[],
  plugin: string | null,
  installed: string | null,
): Pick<LiveTest, "command" | "path" | "reason"> {
  const none = (reason: string) => ({ command: null, path: null, reason });
  const calls = listCalls(files).filter(({ entry: { hook } }) => !hook || testedEvents.has(hook.event));
  if (calls.length === 0) {
    return none(
      plugin === null ? "no hook is registered" : `only ${agent.name} itself runs the hooks of a plugin`,
    );
  }
  const trusted = calls.find((call) => isTrusted(call, installed));
  if (!trusted) return none("the registered command is another program than this one, and was not run");
  const { binary, home, hook } = trusted.entry;
  if (findStatus(binary) !== "ok") return none("the registered command cannot run");
  const setting = home === null ? [] : [envProgram, `BECKON_HOME=${home}`];
  // On Windows the shell that runs a hook's command depends on what is installed: run the program itself.
  const isDirect = !hook || (process.platform === "win32" && home === null);
  return {
    command: isDirect ? [...setting, binary, "hook", agent.id] : hook.command,
    path: trusted.file.path,
    reason: null,
  };
}
