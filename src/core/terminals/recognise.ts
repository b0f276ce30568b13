/**
 * Which terminal do the variables of an environment name? Views of sessions ask this in the history's thread and for the
 * page too, so the table comes without the plans: it is computed when beckon is built.
 */

import { stringifyRecognised } from "./index.ts" with { type: "macro" };
import type { RecognisedTerminal } from "./index.ts";
import { readVariable } from "./variables.ts";

const descriptions: readonly RecognisedTerminal[] = /* @__PURE__ */ JSON.parse(
  stringifyRecognised(),
  (_, value) => (typeof value?.source === "string" ? new RegExp(value.source, value.flags) : value),
);

/**
 * The terminal that the variables name; null if they name none, or one that beckon does not know. A program that is
 * started from a terminal inherits its variables: kitty started from VS Code has TERM_PROGRAM=vscode, but its own TERM.
 */
export function recogniseTerminal(
  env: Readonly<Record<string, string | undefined>>,
): RecognisedTerminal | null {
  const { TERM, TERM_PROGRAM, TERMINAL_EMULATOR } = env;
  const setsOwn = ({ ownVariables = [], variables = {} }: RecognisedTerminal) =>
    ownVariables.some((name) => readVariable(env, variables, name) !== null);
  const multiplexer = descriptions.find((row) => row.kind === "multiplexer" && setsOwn(row));
  if (multiplexer) return multiplexer;
  const byTerm = descriptions.find(({ term }) => term !== undefined && term === TERM);
  if (byTerm) return byTerm;
  if (TERM_PROGRAM && TERM_PROGRAM !== "tmux") {
    return descriptions.find(({ termProgram }) => termProgram === TERM_PROGRAM) ?? null;
  }
  const byEmulator = descriptions.find(
    ({ terminalEmulator }) => terminalEmulator !== undefined && terminalEmulator === TERMINAL_EMULATOR,
  );
  return byEmulator ?? descriptions.find(setsOwn) ?? null;
}
