/** The terminals that are installed on this machine, and how far focus gets in each: what `beckon doctor` lists. */
import { type InstalledTerminal, type TerminalDescription, terminals } from "../../core/terminals.ts";
import { remoteControlAdvice } from "./kitty.ts";

export interface InstalledPrograms {
  readonly platform: NodeJS.Platform;
  /** Whether there is such a command, or an application at this path. */
  readonly has: (program: string) => boolean;
  /** Whether a session that beckon knows runs in kitty. */
  readonly usesKitty: boolean;
  /** The text of kitty.conf; null if there is none. */
  readonly kittyConf: string | null;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export function listInstalledTerminals(machine: InstalledPrograms): readonly InstalledTerminal[] {
  const all: readonly TerminalDescription[] = terminals;
  return all
    .filter(({ commands = [], macApps = [] }) => [...commands, ...macApps].some(machine.has))
    .map((terminal) =>
      terminal.id === "kitty" ? describeKitty(terminal, machine) : describe(terminal, machine),
    );
}

function describe(terminal: TerminalDescription, { platform }: InstalledPrograms): InstalledTerminal {
  const { name, reach, reachOnMac = reach } = terminal;
  return { name, reach: platform === "darwin" ? reachOnMac : reach, advice: null };
}

function describeKitty(kitty: TerminalDescription, machine: InstalledPrograms): InstalledTerminal {
  const { kittyConf, env, usesKitty } = machine;
  if (allowsRemoteControl(kittyConf) || env.KITTY_LISTEN_ON) return describe(kitty, machine);
  // Advice about a terminal that is installed but never used would be noise.
  const isUsed = Boolean(env.KITTY_WINDOW_ID) || usesKitty;
  return { name: kitty.name, reach: "window", advice: isUsed ? remoteControlAdvice : null };
}

/** In kitty.conf the last value of a setting counts. */
function allowsRemoteControl(conf: string | null): boolean {
  const last = (name: string) =>
    [...(conf ?? "").matchAll(new RegExp(`^\\s*${name}\\s+(\\S+)`, "gm"))].at(-1)?.[1];
  const allowed = last("allow_remote_control") ?? "no";
  return !/^(no|n|false|password)$/.test(allowed) && (last("listen_on") ?? "none") !== "none";
}
