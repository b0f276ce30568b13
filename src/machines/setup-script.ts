/** Scripts that run on another machine, and what they print: lines like `beckon:KEY=VALUE`, whatever its shell prints besides. */
import { toSingleLine } from "../core/text/text.ts";
import { takeStart } from "../core/text/truncate.ts";
import { defaultProgram } from "./link-command.ts";

/** Every line of a script ends where a command does, or where another one must follow. */
export const toOneLine = (script: string): string =>
  script
    .trim()
    .split("\n")
    .map((line) => line.trim())
    .join(" ");

/** For the start of a script: prints a line for `readSaid`. */
export const say = String.raw`say() { printf "beckon:%s=%s\n" "$1" "$2"; };`;

/** For the start of a script: the folder above, also where there is no dirname. */
export const findParent = `parent() { dirname "$1" 2>/dev/null || echo /; };`;

/** For the start of a script: its first argument is the path of beckon there, or empty for the usual one. */
export const findProgramThere = `program=$1; shift; [ -n "$program" ] || program=${defaultProgram};`;

/** Runs beckon there, with the rest of the arguments. An image has it where its Dockerfile has put it. */
export const runScript = toOneLine(`
  ${findProgramThere}
  [ -x "$program" ] || program=$(command -v beckon || echo "$program");
  exec "$program" "$@"
`);

const maxValueLength = 4_096;

/** All values of each key, in their order. */
export function readSaid(stdout: string): ReadonlyMap<string, readonly string[]> {
  const said = new Map<string, string[]>();
  for (const [, key = "", value = ""] of stdout.matchAll(/^beckon:([a-z-]+)=(.*)$/gm)) {
    const values = said.get(key) ?? [];
    said.set(key, [...values, toSingleLine(takeStart(value, maxValueLength))]);
  }
  return said;
}
