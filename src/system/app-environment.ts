/**
 * The environment for an app that a hook or the installer starts. The app outlives that session and serves all others, so
 * variables of one agent, terminal or project would be wrong there. It needs no secrets except those of channels.
 */

import type { Env } from "./folders.ts";

export interface AgentVariables {
  /** Prefixes of variables that belong to one session of an agent. */
  readonly session: readonly string[];
  /** Names of variables that the user sets for an agent, and that the app needs too. */
  readonly settings: readonly string[];
  /** Names of variables that only commands of an agent's session have. */
  readonly markers: readonly string[];
}

const sessionVariable = new RegExp(
  `^(?:${[
    "AI_AGENT$|AGENT$|OTEL_",
    "TERM|COLORTERM|LC_TERMINAL|VTE_VERSION$|WINDOWID$|WINDOW$|STY$|TMUX|ZELLIJ|COLUMNS$|LINES$",
    "KITTY_|WEZTERM_|ITERM_|GHOSTTY_|ALACRITTY_|WARP_|WT_|VSCODE_|CURSOR_|TILIX_|TERMINATOR_|KONSOLE_|GNOME_TERMINAL_",
    "__CFBundleIdentifier$|DESKTOP_STARTUP_ID$|XDG_ACTIVATION_TOKEN$",
    "LD_|DYLD_|BUN_|NODE_|npm_|GIT_|VIRTUAL_ENV|CONDA_|DIRENV_",
    "PWD$|OLDPWD$|SHLVL$|_$|BECKON_(?:URL|PROVIDER|DEBUG|STREAM_PATH)$",
  ].join("|")})`,
  "i",
);
const secretVariable = /(?:API_?KEY|ACCESS_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)S?(?:_|$)/i;

/** `BECKON_CHANNEL_PHONE_TOKEN`: a secret of the channel `phone`. */
export const channelVariablePrefix = "BECKON_CHANNEL_";

/**
 * The environment without the secrets of channels if it belongs to a session of an agent: a project's settings can set variables
 * there, and with another address or token the alerts would go to somebody else.
 */
export function dropUntrustedSecrets(env: Env, { markers }: AgentVariables): Env {
  if (!markers.some((name) => env[name] !== undefined)) return env;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isChannelVariable(name)));
}

const isChannelVariable = (name: string): boolean => name.startsWith(channelVariablePrefix);

/** Without the secrets of channels. */
export function createAppEnvironment(env: Env, agents: AgentVariables): Record<string, string> {
  const agentPrefixes = agents.session.map((prefix) => prefix.toUpperCase());
  const isOfSession = (name: string) =>
    sessionVariable.test(name) ||
    isChannelVariable(name) ||
    agentPrefixes.some((prefix) => name.toUpperCase().startsWith(prefix));
  const appEnv: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || secretVariable.test(name)) continue;
    const isSetting = agents.settings.includes(name);
    if (isSetting || (!isOfSession(name) && isOnThisMachine(name, value))) appEnv[name] = value;
  }
  return appEnv;
}

/** The same for an app that the user starts: with the secrets of channels that they have set. */
export function createUserAppEnvironment(env: Env, agents: AgentVariables): Record<string, string> {
  const secrets = Object.entries(dropUntrustedSecrets(env, agents)).filter(
    (entry): entry is [string, string] => isChannelVariable(entry[0]) && entry[1] !== undefined,
  );
  return { ...createAppEnvironment(env, agents), ...Object.fromEntries(secrets) };
}

/** False for the screen or message bus of another machine: what the app shows must stay here. */
function isOnThisMachine(name: string, value: string): boolean {
  if (name === "DISPLAY") return parseLocalDisplay(value) !== null || value.startsWith("/");
  if (name === "DBUS_SESSION_BUS_ADDRESS") return value.split(";").every((part) => part.startsWith("unix:"));
  return true;
}

/** The number of an X display on this machine. null for another machine's. */
export function parseLocalDisplay(value: string): string | null {
  return /^(?:unix)?:(\d{1,5})(?:\.\d+)?$/.exec(value)?.[1] ?? null;
}
