/**
 * The user's settings file, config.json. It is read again whenever it changes. It may be a link, because users keep their settings
 * in a repository of dotfiles. user-files/config.ts changes it.
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type Config, defaultConfig, parseConfig } from "../core/config/config.ts";
import { readErrorMessage } from "../core/error-message.ts";
import { limits } from "../core/limits.ts";
import { scheduleTogether } from "../system/schedule.ts";
import { errorCode, readFileStamp, readSmallFile } from "./files.ts";
import { describeJsonError } from "./json-error.ts";

export interface ConfigFile {
  config(): Config;
  /** One line each. While there is a problem, the last valid settings are used. */
  problems(): readonly string[];
  /** Reads the file now if it has changed. */
  refresh(): void;
  /** Calls the listener after every change of the file. */
  subscribe(listener: () => void): void;
  stop(): void;
}

/** The file is polled and not watched: editors write in several steps, and some replace the file. */
const pollMs = 1_000;

export function watchConfig(path: string, schedule = scheduleTogether): ConfigFile {
  const listeners: (() => void)[] = [];
  let stamp = "";
  let config = defaultConfig;
  let problems: readonly string[] = [];

  function readIfChanged(): boolean {
    const now = readFileStamp(path);
    if (now === stamp) return false;
    const isFirst = stamp === "";
    stamp = now;
    const read = readConfigFile(path, isFirst ? `${lastValid} (after a start, the defaults)` : lastValid);
    problems = read.problems;
    // At a start there are no earlier settings, so the valid part of the file is used.
    if (problems.length === 0 || isFirst) config = read.config;
    return true;
  }

  function refresh(): void {
    if (!readIfChanged()) return;
    for (const listener of listeners) listener();
  }

  function pollLater(): () => void {
    return schedule(() => {
      cancelPoll = pollLater();
      refresh();
    }, pollMs);
  }

  readIfChanged();
  let cancelPoll = pollLater();
  return {
    config: () => config,
    problems: () => problems,
    refresh,
    subscribe: (listener) => void listeners.push(listener),
    stop: () => cancelPoll(),
  };
}

const lastValid = "The last valid settings stay in use";

/** `inUse` says which settings are used while the file is not valid JSON. */
export function readConfigFile(path: string, inUse = lastValid): ReturnType<typeof parseConfig> {
  const createProblem = (reason: string) => ({ config: defaultConfig, problems: [`${path} ${reason}`] });
  let text = "";
  try {
    text = readSmallFile(path, limits.maxSmallFileBytes);
    if (text.trim() === "") return { config: defaultConfig, problems: [] };
    const { config, problems } = parseConfig(JSON.parse(text));
    return { config, problems: problems.map((problem) => `config.json: ${problem}`) };
  } catch (error) {
    if (errorCode(error) === "ENOENT") return { config: defaultConfig, problems: [] };
    if (error instanceof SyntaxError) {
      return createProblem(`is not valid JSON, ${describeJsonError(text) ?? error.message}. ${inUse}`);
    }
    return createProblem(`cannot be read (${errorCode(error)})`);
  }
}

/** Creates the file if there is none. Returns what went wrong, or null. */
export function createConfigFile(path: string, text: string): string | null {
  try {
    if (existsSync(path)) return null;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, text, { flag: "wx", mode: 0o600 });
    return null;
  } catch (error) {
    // An editor created it in the meantime.
    if (existsSync(path)) return null;
    return `It could not be created: ${readErrorMessage(error)}`;
  }
}
