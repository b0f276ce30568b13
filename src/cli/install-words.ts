/** What a person reads after an install. */
import { delimiter, dirname } from "node:path";
import { hookTable } from "../agents/claude/hooks.ts";
import type { InstallPlan } from "../setup/install.ts";
import type { BinaryPlan } from "../setup/place-binary.ts";
import type { Env } from "../system/home.ts";

export function aboutClaude({ claude, claudeVersion }: InstallPlan): string[] {
  const silent = claude.silent.map((path) => `${path} is there, but does not tell its version.`);
  if (claude.claude) return [`Found Claude Code ${claude.claude.version} at ${claude.claude.path}.`];
  if (claudeVersion !== null) {
    return [...silent, `Claude Code was not found: taken for ${claudeVersion}, as it was last time.`];
  }
  return [
    ...silent,
    `Claude Code was not found: the hooks are those that ${hookTable.assumedVersion} and later know. Once it is here, run this again to have them all.`,
  ];
}

export function aboutBinary(binary: BinaryPlan, version: string): string[] {
  switch (binary.do) {
    case "keep":
      return [];
    case "copy":
      return [
        binary.replaces && binary.replaces !== version
          ? `Copied beckon ${version} to ${binary.binary}, in place of ${binary.replaces}.`
          : `Copied beckon ${version} to ${binary.binary}.`,
      ];
    case "stay":
      return [
        `${sentence(binary.why)} So the hooks call ${binary.binary}: leave it there, or run this again after you moved it.`,
      ];
  }
}

export function aboutHooks({ path, hooks, before }: InstallPlan, backup: string | null): string[] {
  if (before === null) return [`Registered ${hooks} hooks in ${path}, which is new.`];
  return [`Registered ${hooks} hooks in ${path}.`, ...(backup ? [`  The file as it was: ${backup}`] : [])];
}

export interface Callable {
  /** What a person types. */
  readonly name: string;
  /** How it becomes shorter; null: it is short. */
  readonly hint: string | null;
}

export function callable(binary: string, env: Env, home: string): Callable {
  const folder = dirname(binary);
  if ((env.PATH ?? env.Path ?? "").split(delimiter).includes(folder)) return { name: "beckon", hint: null };
  const name = /[^\w./:\\-]/.test(binary) ? `"${binary}"` : binary;
  if (process.platform === "win32")
    return { name, hint: `To type just "beckon", add ${folder} to your Path.` };
  const shown = folder.startsWith(`${home}/`) ? folder.replace(home, "$HOME") : folder;
  const line = `export PATH="${shown}:$PATH"`;
  return { name, hint: `To type just "beckon", add this line to your shell's profile: ${line}` };
}

export function nextSteps(name: string): string[] {
  return [
    "",
    `${name} status         your sessions: those that run already are seen too`,
    `${name} doctor         tries every link`,
    `${name} --uninstall    takes all of this away`,
  ];
}

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

/** The same for what has not been done yet. */
export function ahead({ binary, path, before, after, hooks }: InstallPlan, version: string): string[] {
  const copies =
    binary.do === "copy"
      ? [`Would copy beckon ${version} to ${binary.binary}.`]
      : aboutBinary(binary, version);
  return [
    ...copies,
    after === before
      ? `${hooks} hooks are registered in ${path} already.`
      : `Would register ${hooks} hooks in ${path}${before === null ? ", which is new" : ""}:`,
  ];
}
