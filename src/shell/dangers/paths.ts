/** Paths: which are outside of the project, which run by themselves, which may hold secrets. */
import { findRelativePath } from "../../core/text/paths.ts";
import type { DangerFindings } from "./findings.ts";

export interface PathContext {
  /** null if unknown: every absolute path counts as outside. */
  readonly project: string | null;
  /** What `~` and `$HOME` stand for. null if unknown: a path that starts with them counts as outside. */
  home: string | null;
  /** The folders that a relative path may start from: a `cd` may fail, so every folder counts. */
  readonly from: readonly string[];
  /** Patterns of the agents' own settings and hooks, which run by themselves. */
  readonly agentFiles: readonly RegExp[];
  /** Variables that hold the project's folder. */
  readonly projectVariables: readonly string[];
  /** Variables that the command set to a new temporary file or folder: `x=$(mktemp -d)`. */
  readonly temporaryVariables: Set<string>;
}

const harmless = /^\/dev\/(?:null|stdin|stdout|stderr|tty|zero|full|fd\/\d+)$/;
const disk = /^\/dev\/(?:r?disk|[shxv]d[a-z]|nvme|mmcblk|mapper\/|loop|md\d|dm-)/;
const inHome = /^(?:~(?:[\w.-]*)(?=\/|$)|\$HOME\b|\$\{HOME\}|%USERPROFILE%|\$env:USERPROFILE)/i;
const address = /^(?:[a-z][a-z0-9+.-]*:\/\/|[\w.-]+@[\w.-]+:|[\w-]{2,}:(?![\\/]))/i;

/** Checks a path where something is written, moved or deleted. */
export function checkTarget(
  target: string,
  paths: PathContext,
  findings: DangerFindings,
  verb = "writes",
): void {
  const path = replaceVariable(target, paths);
  if (path === "" || path === "-" || harmless.test(path) || address.test(path)) return;
  if (/^\/dev\/(?:tcp|udp)\//.test(path)) return;
  const own = describeSpecialFile(path, paths);
  if (own !== null) findings.add("system", own, path);
  if (disk.test(path)) findings.add("disk", "overwrites a disk", path);
  else if (/^[$`](?!HOME\b|\{HOME\})/.test(path))
    findings.add("unclear", `${verb} at a path that only the shell knows`, path);
  else if (isOutsideProject(path, paths) && !isTemporary(path, paths))
    findings.add("outside", `${verb} outside the project`, path);
}

/** Fills in the variables that are known: `$PWD/x` is a path in the project, and `~/proj/x` may be one. */
export function replaceVariable(path: string, paths: PathContext): string {
  const { project, projectVariables, temporaryVariables } = paths;
  const name = /^\$(?:\{(\w+)\}|(\w+))/.exec(path);
  if (name !== null && temporaryVariables.has(name[1] ?? name[2] ?? ""))
    return `/tmp/mktemp${path.slice(name[0].length)}`;
  const isProject = name !== null && ["PWD", ...projectVariables].includes(name[1] ?? name[2] ?? "");
  return isProject ? (project ?? "$PWD") + path.slice(name[0].length) : replaceHome(path, paths);
}

/** Only for a path in the project. Others are shown as they are written. */
function replaceHome(path: string, { project, home }: PathContext): string {
  const [start] = /^(?:~|\$HOME|\$\{HOME\})(?=\/|$)/.exec(path) ?? [];
  if (start === undefined || home === null || project === null) return path;
  const resolved = home + path.slice(start.length);
  return findRelativePath(project, resolved) === null ? path : resolved;
}

export function isOutsideProject(written: string, paths: PathContext): boolean {
  const { project, from } = paths;
  const path = replaceHome(written, paths);
  if (inHome.test(path)) return true;
  if (project === null) return full.test(path) || /(?:^|[\\/])\.\.(?:[\\/]|$)/.test(path);
  if (full.test(path)) return findRelativePath(project, path) === null;
  return from.some((folder) => findRelativePath(project, `${folder}/${path}`) === null);
}

const full = /^(?:[\\/]|[A-Za-z]:[\\/])/;

const temporary = /^\/(?:(?:private\/)?(?:var\/)?tmp|dev\/shm)(?:\/|$)/;

/** True for the folder for temporary files, where agents keep logs and drafts. */
function isTemporary(path: string, { project, from }: Pick<PathContext, "project" | "from">): boolean {
  if (project !== null && temporary.test(project)) return false;
  if (inHome.test(path)) return false;
  const candidates = full.test(path) ? [path] : from.map((folder) => `${folder}/${path}`);
  return candidates.every(
    (candidate) =>
      (temporary.test(candidate) && !/(?:^|\/)\.\.(?:\/|$)/.test(candidate)) ||
      (project !== null && findRelativePath(project, candidate) !== null),
  );
}

const startup =
  /(?:^|\/)\.(?:bash(?:rc|_profile|_login|_logout|_aliases)|z(?:shrc|shenv|profile|login|logout)|profile|xprofile|xinitrc|xsessionrc|inputrc|vimrc|gitconfig|npmrc|pypirc|netrc)$|(?:^|\/)\.(?:ssh|gnupg|aws|kube|docker)(?:\/|$)|(?:^|\/)\.config\/(?:autostart|systemd|fish|git)(?:\/|$)|(?:^|\/)Launch(?:Agents|Daemons)(?:\/|$)|^\/(?:etc|usr|bin|sbin|lib|boot|System|Library)(?:\/|$)|^\/var\/spool\/cron|^[A-Za-z]:[\\/]Windows[\\/]/i;
/** A submodule and a worktree have hooks and settings of their own. */
const gitOwn =
  /(?:^|\/)\.git\/(?:(?:modules|worktrees)\/.+\/)?(?:hooks(?:\/|$)|config(?:\.worktree)?$)|(?:^|\/)\.husky\//i;

/** Windows opens `.git ` and `.git.` as `.git`. macOS and Windows also treat `.GIT` so. */
const foldName = (path: string): string => path.replace(/(?<=[^/. ])[. ]+(?=\/|$)/g, "");

/** null if the file does not run by itself. */
export function describeSpecialFile(
  path: string,
  { agentFiles }: Pick<PathContext, "agentFiles">,
): string | null {
  const slashed = foldName(path.replaceAll("\\", "/"));
  if (gitOwn.test(slashed)) return "changes git's hooks or settings";
  const forms = [slashed, slashed.toLowerCase()];
  if (agentFiles.some((pattern) => forms.some((form) => pattern.test(form))))
    return "changes the agent's own settings or hooks";
  return startup.test(slashed) ? "changes the settings of your account or system" : null;
}

const generatedFolder =
  /^(?:build|dist|out|target|obj|coverage|htmlcov|node_modules|DerivedData|Pods|tmp|temp|logs?|storybook-static|playwright-report|test-results|zig-out|elm-stuff|dist-newstyle|_build|v?env|\.venv|\.nyc_output|\.next|\.nuxt|\.output|\.svelte-kit|\.turbo|\.vite|\.angular|\.expo|\.dart_tool|\.gradle|\.tox|\.nox|\.eggs|\.terraform|\.stack-work|__pycache__|__snapshots__|\.?[\w-]*cache|cmake-build-[\w-]+|bazel-[\w-]+|[\w*-]+\.egg-info)$/;
const generatedFile =
  /(?:^|[^/])\.(?:log|tmp|temp|bak|orig|rej|swp|pid|py[co]|o|obj|class|tsbuildinfo|gcda|gcno|prof|profraw|lcov|eslintcache)$|^(?:\.DS_Store|\.coverage|nohup\.out|coverage\.\w+|junit\.xml|package-lock\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|poetry\.lock|uv\.lock|Cargo\.lock|Gemfile\.lock|Podfile\.lock|Pipfile\.lock|pdm\.lock|pubspec\.lock|mix\.lock|deno\.lock|composer\.lock|go\.sum)$/i;

/** True for what a build, a test run or a package manager makes again: `dist`, `coverage/lcov.info`, `*.pyc`. */
export function isGenerated(target: string, paths: PathContext): boolean {
  const { project } = paths;
  const path = replaceVariable(target, paths);
  const inProject = full.test(path) && project !== null ? findRelativePath(project, path) : path;
  if (inProject === null || full.test(inProject))
    // A named file in the folder for temporary files, but not `/tmp` or `/tmp/*`.
    return isTemporary(path, paths) && /tmp\/+[\w.@%+-]|shm\/+[\w.@%+-]/.test(path);
  const segments = inProject.replace(/^\.\/+/, "").split(/[\\/]+/);
  if (segments.some((segment) => segment === ".." || /[$`~{]/.test(segment))) return false;
  return (
    segments.some(
      (segment, n) => generatedFolder.test(segment) || (segment === "bundle" && segments[n - 1] === "vendor"),
    ) || generatedFile.test(segments.at(-1) ?? "")
  );
}

const sourceFile =
  /\.(?:[cm]?[jt]sx?|vue|svelte|astro|py|rb|go|rs|java|kts?|scala|groovy|gradle|[ch](?:c|pp|xx)?|cs|fs|php|swift|mm?|lua|p[lm]|exs?|erl|cljs?|hs|mli?|jl|r|dart|zig|nim|sql|tf|proto|graphql|ipynb|s?css|db|sqlite3?|env)$|(?:^|[\\/])(?:Makefile|Dockerfile|package\.json|tsconfig\.json|Cargo\.toml|pyproject\.toml|go\.mod|README\.md|\.env|\.gitignore)$/i;

/** True for files that people write, and for databases: overwriting one loses work. */
export function isSourceFile(path: string, paths: PathContext): boolean {
  return sourceFile.test(path) && !isGenerated(path, paths);
}

/** Also in code: `open('.env')`. In any case: some systems treat `.ENV` and `.env` alike. */
const secretFile =
  /(?:^|[^\w.])\.env(?:\.(?!example\b|sample\b|template\b|dist\b)[\w-]+)?(?![\w.-])|\bid_(?:rsa|dsa|ecdsa|ed25519)\b(?!\.pub)|(?:^|[^\w.])\.(?:ssh|aws|gnupg|kube|azure|docker\/config|config\/gcloud|config\/gh)(?:\/|$)|(?:^|[^\w.])\.(?:netrc|npmrc|pypirc|pgpass|git-credentials|htpasswd|vault-token)\b|\.(?:pem|p12|pfx|jks|keystore|kdbx|key)(?![\w])|\/etc\/(?:shadow|sudoers)|\/proc\/[\w$]+\/environ|\bcredentials(?:\.\w+)?$|\bservice[_-]?account[\w-]*\.json|\bsecrets?\.(?:json|ya?ml|toml|env)\b/i;

/** The part of the text that looks like a file with secrets. null if there is none. */
export function findSecretPath(text: string): string | null {
  if (/\.ssh\/(?:[\w.*-]+\.pub|known_hosts)$|\.(?:example|sample|template|dist)$/.test(text)) return null;
  return secretFile.exec(text)?.[0].replace(/^[^\w.]+/, "") ?? null;
}
