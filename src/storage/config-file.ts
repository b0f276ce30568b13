/** The person's settings file, read again whenever it changes. */
import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type Config, defaultConfig, parseConfig } from "../core/config/config.ts";
import { limits } from "../core/limits.ts";
import { errorCode, readSmallFile } from "./files.ts";
import { describeJsonError } from "./json-error.ts";

export interface ConfigFile {
  config(): Config;
  /** What is wrong with it, a line each. While there is something, the last good settings hold. */
  problems(): readonly string[];
  stop(): void;
}

/** An editor writes a file in several steps, and some by renaming: its stamp says more than any watcher. */
const lookMs = 1_000;

export function watchConfig(path: string, onChange: () => void): ConfigFile {
  let stamp = "";
  let good = defaultConfig;
  let problems: readonly string[] = [];

  function look(): boolean {
    const now = stampOf(path);
    if (now === stamp) return false;
    const isFirst = stamp === "";
    stamp = now;
    const read = readConfigFile(path, isFirst ? `${lastGood} (after a start, the usual ones)` : lastGood);
    problems = read.problems;
    // At a start there is none before it: then all that is right of it holds.
    if (problems.length === 0 || isFirst) good = read.config;
    return true;
  }

  look();
  const timer = setInterval(() => {
    if (look()) onChange();
  }, lookMs);
  timer.unref();
  return { config: () => good, problems: () => problems, stop: () => clearInterval(timer) };
}

function stampOf(path: string): string {
  try {
    // The change of its rights is one of ctime alone.
    const { mtimeMs, ctimeMs, size, ino } = statSync(path);
    return `${mtimeMs} ${ctimeMs} ${size} ${ino}`;
  } catch (error) {
    return errorCode(error);
  }
}

const lastGood = "The last good settings hold";

/** `holds` says which settings are in effect while the file is not valid JSON. */
export function readConfigFile(path: string, holds = lastGood): ReturnType<typeof parseConfig> {
  const wrong = (why: string) => ({ config: defaultConfig, problems: [`${path} ${why}`] });
  let text = "";
  try {
    text = readSmallFile(path, limits.maxSmallFileBytes);
    if (text.trim() === "") return { config: defaultConfig, problems: [] };
    const { config, problems } = parseConfig(JSON.parse(text));
    return { config, problems: problems.map((problem) => `config.json: ${problem}`) };
  } catch (error) {
    if (errorCode(error) === "ENOENT") return { config: defaultConfig, problems: [] };
    if (error instanceof SyntaxError) {
      return wrong(`is not valid JSON, ${describeJsonError(text) ?? error.message}. ${holds}`);
    }
    return wrong(`cannot be read (${errorCode(error)})`);
  }
}

/** Where there is none: one that is there is never touched. null: done; else why it could not be. */
export function createConfigFile(path: string, text: string): string | null {
  try {
    if (existsSync(path)) return null;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, text, { flag: "wx", mode: 0o600 });
    return null;
  } catch (error) {
    // An editor may have been quicker.
    if (existsSync(path)) return null;
    return `It could not be made: ${error instanceof Error ? error.message : error}`;
  }
}
