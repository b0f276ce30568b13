/** The sentences that `beckon --install` prints. */
import { delimiter, dirname } from "node:path";
import { formatCount } from "../agents/finding.ts";
import type { AgentPlan, AgentResult } from "../setup/install.ts";
import type { BinaryPlan } from "../setup/place-binary.ts";
import type { Env } from "../system/home.ts";

export const describeProgram = ({ setup, search, version }: AgentPlan): readonly string[] =>
  setup.describeProgram(search, version);

export function describeBinary(binary: BinaryPlan, version: string): string[] {
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
        `${endSentence(binary.why)} So the hooks call ${binary.binary}: leave it there, or run this again after you moved it.`,
      ];
  }
}

export function describeRegistration({ path, before, backup, isChanged, ...plan }: AgentResult): string[] {
  const entries = countEntries(plan);
  if (!isChanged) return [`${entries} ${areOf(plan)} registered in ${path}.`];
  if (before === null) return [`Registered ${entries} in ${path}, which is new.`];
  return [`Registered ${entries} in ${path}.`, ...(backup ? [`  The file as it was: ${backup}`] : [])];
}

export function planBinaryText(binary: BinaryPlan, version: string): string[] {
  return binary.do === "copy"
    ? [`Would copy beckon ${version} to ${binary.binary}.`]
    : describeBinary(binary, version);
}

export function planRegistrationText({ path, before, after, ...plan }: AgentPlan): string {
  const entries = countEntries(plan);
  return after === before
    ? `${entries} ${areOf(plan)} registered in ${path} already.`
    : `Would register ${entries} in ${path}${before === null ? ", which is new" : ""}:`;
}

type Counted = Pick<AgentPlan, "registration">;

const countEntries = ({ registration: { count, noun } }: Counted): string => formatCount(count, noun);
const areOf = ({ registration }: Counted): string => (registration.count === 1 ? "is" : "are");

export interface ProgramName {
  /** What the user types. */
  readonly name: string;
  /** How it can become shorter. null if it is just "beckon". */
  readonly hint: string | null;
}

export function findProgramName(binary: string, env: Env, home: string): ProgramName {
  const folder = dirname(binary);
  if ((env.PATH ?? env.Path ?? "").split(delimiter).includes(folder)) return { name: "beckon", hint: null };
  const name = /[^\w./:\\-]/.test(binary) ? `"${binary}"` : binary;
  if (process.platform === "win32")
    return { name, hint: `To type just "beckon", add ${folder} to your Path.` };
  const shown = folder.startsWith(`${home}/`) ? folder.replace(home, "$HOME") : folder;
  const line = `export PATH="${shown}:$PATH"`;
  return { name, hint: `To type just "beckon", add this line to your shell's profile: ${line}` };
}

export function listNextSteps(name: string): string[] {
  return [
    "",
    `${name} status         shows your sessions, also those that were running before`,
    `${name} doctor         tries every link`,
    `${name} --uninstall    removes all of this`,
  ];
}

const endSentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);
