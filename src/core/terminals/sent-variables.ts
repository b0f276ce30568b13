/**
 * The environment variables that show where a session's terminal is. The forwarder sends them with every event, so this
 * file must cost nothing to load: the names are computed when beckon is built, and there are only plain loops.
 */
import { limits } from "../limits.ts";
import { listSentVariables, listSessionVariables } from "./index.ts" with { type: "macro" };

const sentVariables: readonly string[] = listSentVariables();
const sessionVariables: readonly string[] = listSessionVariables();

/** Copies those variables that are set, and `more`. A value longer than any real one is left out. */
export function pickTerminalVariables(
  env: Readonly<Record<string, string | undefined>>,
  more: readonly string[] = [],
): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const names of [sentVariables, more]) {
    for (const name of names) {
      const value = env[name];
      if (value && value.length <= limits.maxEnvLength) picked[name] = value;
    }
  }
  return picked;
}

/** What identifies the session of the terminal, by the variables picked above; null if none of them does. */
export function findTerminalSession(picked: Readonly<Record<string, string>>): string | null {
  for (const name of sessionVariables) {
    const value = picked[name];
    if (value) return value;
  }
  return null;
}
