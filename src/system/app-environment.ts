/**
 * The environment of an app that an agent's hook, or an installer in some terminal, starts. It outlives that session and
 * hears all others: what belongs to one agent, terminal or project would be wrong there, and no secret is needed.
 */

import type { Env } from "./folders.ts";

export interface AgentVariables {
  /** Prefixes of variables that belong to one session of an agent. */
  readonly session: readonly string[];
  /** Names of variables that the user sets for an agent, and that the app needs too. */
  readonly settings: readonly string[];
}

const ofTheSession = new RegExp(
  `^(?:${[
    "AI_AGENT$|AGENT$|OTEL_",
    "TERM|COLORTERM|LC_TERMINAL|VTE_VERSION$|WINDOWID$|WINDOW$|STY$|TMUX|ZELLIJ|COLUMNS$|LINES$",
    "KITTY_|WEZTERM_|ITERM_|GHOSTTY_|ALACRITTY_|WARP_|WT_|VSCODE_|CURSOR_|TILIX_|TERMINATOR_|KONSOLE_|GNOME_TERMINAL_",
    "__CFBundleIdentifier$|DESKTOP_STARTUP_ID$|XDG_ACTIVATION_TOKEN$",
    "LD_|DYLD_|BUN_|NODE_|npm_|GIT_|VIRTUAL_ENV|CONDA_|DIRENV_",
    "PWD$|OLDPWD$|SHLVL$|_$|BECKON_(?:URL|PROVIDER|DEBUG)$",
  ].join("|")})`,
  "i",
);
const secret = /(?:API_?KEY|ACCESS_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)S?(?:_|$)/i;

export function appEnvironment(env: Env, agents: AgentVariables): Record<string, string> {
  const ofAgents = agents.session.map((prefix) => prefix.toUpperCase());
  const isOfSession = (name: string) =>
    ofTheSession.test(name) || ofAgents.some((prefix) => name.toUpperCase().startsWith(prefix));
  const wanted: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || secret.test(name)) continue;
    const isKept = agents.settings.includes(name);
    if (isKept || (!isOfSession(name) && isOfThisMachine(name, value))) wanted[name] = value;
  }
  return wanted;
}

/** What the app shows must not go to the screen or bus of another machine because a variable says so. */
function isOfThisMachine(name: string, value: string): boolean {
  if (name === "DISPLAY") return localDisplay(value) !== null || value.startsWith("/");
  if (name === "DBUS_SESSION_BUS_ADDRESS") return value.split(";").every((part) => part.startsWith("unix:"));
  return true;
}

/** The number of an X display that is reached by a socket of this machine. */
export function localDisplay(value: string): string | null {
  return /^(?:unix)?:(\d{1,5})(?:\.\d+)?$/.exec(value)?.[1] ?? null;
}
