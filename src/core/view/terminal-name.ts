/** The name of a session's terminal, for users to read. It is used for nothing else. */
import type { Place } from "../session/event.ts";
import { findHost } from "../session/host.ts";
import { recogniseTerminal } from "../terminals/recognise.ts";
import { readVariable } from "../terminals/variables.ts";
import { truncateEnd } from "../text/text.ts";

const maxName = 20;

/** A view is made for every change of a session, and looking through all terminals takes 5 µs. */
const names = new WeakMap<Place, string | null>();

/** "tmux %3", "kitty", "VS Code over SSH", "SDK host"; null if nothing is known. */
export function nameTerminal(place: Place | null): string | null {
  if (place === null) return null;
  const known = names.get(place);
  if (known !== undefined) return known;
  const name = findName(place);
  names.set(place, name);
  return name;
}

function findName(place: Place): string | null {
  const { env, tty } = place;
  const name =
    findHost(place)?.name ?? nameFromEnv(env) ?? (tty && truncateEnd(tty.replace(/^\/dev\//, ""), maxName));
  if (!name) return env.SSH_CONNECTION ? "over SSH" : null;
  if (env.SSH_CONNECTION) return `${name} over SSH`;
  return env.WSL_DISTRO_NAME ? `${name} (WSL)` : name;
}

function nameFromEnv(env: Place["env"]): string | null {
  const terminal = recogniseTerminal(env);
  if (terminal === null) {
    const { TERM_PROGRAM } = env;
    return TERM_PROGRAM && TERM_PROGRAM !== "tmux" ? truncateEnd(TERM_PROGRAM, maxName) || null : null;
  }
  const { name, variables = {}, sessionVariable, paneLabel, variant } = terminal;
  const read = (variable: string | undefined) => variable && readVariable(env, variables, variable);
  const pane = read(sessionVariable);
  if (paneLabel && pane) return `${paneLabel}${pane}`;
  return variant && read(variant.variable) ? variant.name : name;
}
