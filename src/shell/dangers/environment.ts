/** Variables whose value a program runs or loads: `GIT_SSH_COMMAND`, `LD_PRELOAD`, `PATH`. */
import type { CommandContext } from "./context.ts";

/** The value is a command. */
const commandVariable =
  /^(?:GIT_(?:SSH|SSH_COMMAND|PROXY_COMMAND|EXTERNAL_DIFF|ASKPASS)|\w*PAGER|\w*EDITOR|VISUAL|BROWSER|SHELL|LESSOPEN|LESSCLOSE|RSYNC_RSH|CVS_RSH|SVN_SSH|SSH_ASKPASS|SUDO_ASKPASS|PROMPT_COMMAND|RUSTC|(?:CARGO_BUILD_)?RUSTC_(?:WORKSPACE_)?WRAPPER|CARGO_TARGET_\w+_(?:RUNNER|LINKER)|CC|CXX|LD|AR|FC|PYTHONBREAKPOINT|npm_config_(?:script_shell|git|node_gyp)|DOCKER_SSH|FZF_DEFAULT_COMMAND|PS[0-4])$/i;
/** The value names code that is loaded before the program starts. */
const codeVariable =
  /^(?:LD_(?:PRELOAD|AUDIT)|DYLD_\w+|BASH_ENV|PERL5(?:DB|LIB)|PERL5OPT|PYTHON(?:STARTUP|HOME|INSPECT|USERBASE)|PYTHONWARNINGS_RUN|GIT_(?:CONFIG\w*|EXEC_PATH|TEMPLATE_DIR|DIR)|RIPGREP_CONFIG_PATH|GCONV_PATH|OPENSSL_(?:CONF|MODULES|ENGINES)|SHELLOPTS|BASHOPTS|BASH_FUNC_\S*|BASH_LOADABLES_PATH|ZDOTDIR|INPUTRC|NODE_REPL_EXTERNAL_MODULE|CLASSPATH_PREFIX|LUA_INIT\w*|R_PROFILE\w*|GOENV|PHPRC|PHP_INI_SCAN_DIR|VIMINIT|EXINIT|TCLLIBPATH|XDG_CONFIG_HOME)$/i;
/** The value is a list of options, and some of them load code or name a program. */
const optionVariables: readonly (readonly [RegExp, RegExp])[] = [
  [/^NODE_OPTIONS$/, /(?:^|\s)(?:-r|--require|--import|--(?:experimental-)?loader|--inspect\S*=0\.0\.0\.0)/],
  [/^RUBYOPT$/, /-[rIe]/],
  [
    /^(?:JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|MAVEN_OPTS|GRADLE_OPTS|JAVA_OPTS)$/,
    /-(?:javaagent|agent)|OnError|OnOutOfMemory/,
  ],
  [/^GOFLAGS$/, /-(?:toolexec|exec|overlay)/],
  [/^(?:RUSTFLAGS|RUSTDOCFLAGS|CARGO_ENCODED_RUSTFLAGS)$/, /linker=|-Zcodegen/],
  [/^(?:MAKEFLAGS|GNUMAKEFLAGS)$/, /--eval|SHELL=/],
  [
    /^(?:TAR|ZIP|UNZIP|GREP|LESS|RSYNC|MAN)_?(?:OPTIONS|OPT|OPTS)$/,
    /checkpoint-action|to-command|-I|-T|-e|command/,
  ],
  [/^(?:C|CXX|CPP|LD)FLAGS$/, /-(?:wrapper|B|fplugin)/],
  [/^DOCKER_HOST$/, /^(?:tcp|ssh|https?):(?!\/\/(?:localhost|127\.))/],
  [/^ENV$/, /[/.]/],
  [/^PYTHONPATH$/, /(?:^|:)\/(?:tmp|var\/tmp|dev\/shm)\b/],
];

/** Programs that people put into these variables every day. */
const everydayValue =
  /^(?:|"|true|false|:|cat|less|more|most|bat|delta|echo|vim?|nvim|nano|emacs|ed|code|subl|pico|micro|hx|ssh|gcc|g\+\+|cc|c\+\+|clang|clang\+\+|ccache|sccache|lld|mold|ar|zsh|bash|sh|dash|fish|firefox|open|xdg-open|none)(?:-[\d.]+)?(?:\s+-[-\w=./]+(?:\s+[\w=./~@%][\w=./~@%-]*)?)*$/;

export function checkAssignment(name: string, value: string, context: CommandContext): void {
  if (runsValue(name, value))
    context.findings.add("runs", "makes programs run other code", `${name}=${value}`);
}

function runsValue(name: string, value: string): boolean {
  if (name === "PATH" || name === "LD_LIBRARY_PATH")
    return value.split(":").some((entry) => !isEverydayFolder(entry.trim()));
  if (codeVariable.test(name)) return value !== "";
  const base = value.trim().replace(/^(?:\/usr)?(?:\/local)?\/bin\//, "");
  // A prompt is only a text, unless it has commands in it.
  if (/^PS[0-4]$/.test(name)) return /[$`]\(|`/.test(value);
  if (commandVariable.test(name)) return !everydayValue.test(base) || /ProxyCommand|LocalCommand/i.test(base);
  return optionVariables.some(([variable, option]) => variable.test(name) && option.test(value));
}

/** A folder that the user or a package manager filled. A relative folder may hold a program with any name. */
function isEverydayFolder(entry: string): boolean {
  if (/^\/(?:tmp|var\/tmp|dev\/shm)(?:\/|$)/.test(entry)) return false;
  if (/^(?:\/|~|\$|%|[A-Za-z]:)/.test(entry)) return true;
  return /^(?:\.\/)?(?:node_modules\/\.bin|(?:\.?v?env)\/(?:bin|Scripts)|vendor\/bin)$/.test(entry);
}
