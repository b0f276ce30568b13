/**
 * The environment of an app that an agent's hook, or an installer in some terminal, starts. It outlives that session and
 * hears all others: what belongs to one agent, terminal or project would be wrong there, and no secret is needed.
 */

type Env = Readonly<Record<string, string | undefined>>;

const kept: ReadonlySet<string> = new Set(["CLAUDE_CONFIG_DIR"]);

const ofTheSession = new RegExp(
  `^(?:${[
    "CLAUDE|ANTHROPIC|CODEX_|GEMINI_|AI_AGENT$|AGENT$|OTEL_",
    "TERM|COLORTERM|LC_TERMINAL|VTE_VERSION$|WINDOWID$|WINDOW$|STY$|TMUX|ZELLIJ|COLUMNS$|LINES$",
    "KITTY_|WEZTERM_|ITERM_|GHOSTTY_|ALACRITTY_|WARP_|WT_|VSCODE_|CURSOR_|TILIX_|TERMINATOR_|KONSOLE_|GNOME_TERMINAL_",
    "__CFBundleIdentifier$|DESKTOP_STARTUP_ID$|XDG_ACTIVATION_TOKEN$",
    "LD_|DYLD_|BUN_|NODE_|npm_|GIT_|VIRTUAL_ENV|CONDA_|DIRENV_",
    "PWD$|OLDPWD$|SHLVL$|_$|BECKON_(?:URL|PROVIDER|DEBUG)$",
  ].join("|")})`,
  "i",
);
const secret = /(?:API_?KEY|ACCESS_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)S?(?:_|$)/i;

export function appEnvironment(env: Env): Record<string, string> {
  const wanted: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || secret.test(name)) continue;
    if (kept.has(name) || (!ofTheSession.test(name) && isOfThisMachine(name, value))) wanted[name] = value;
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
