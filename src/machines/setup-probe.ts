/** What a machine is, found out by one command that changes nothing there. */
import { parseVersionLine } from "../core/version-line.ts";
import type { ProgramTarget } from "./setup-binary.ts";
import { findParent, findProgramThere, readSaid, say, toOneLine } from "./setup-script.ts";

export interface MachineFacts extends ProgramTarget {
  /** As the machine calls them: "Linux", "x86_64". */
  readonly systemName: string;
  readonly cpuName: string;
  /** "2.36"; null if it is not glibc, or unknown. */
  readonly glibcVersion: string | null;
  readonly user: string;
  readonly home: string;
  /** Where beckon is there, or is to be put. */
  readonly program: string;
  /** null if unknown. */
  readonly freeBytes: number | null;
  /** The nearest folder of the program that exists, if it cannot be written to. */
  readonly readOnlyFolder: string | null;
  /** Where programs may not be run, if the program is to be put there. */
  readonly noexecMount: string | null;
  /** The names of the agents' programs that are there. */
  readonly agents: readonly string[];
  /** The beckon that is there; its version is null if it is another program. */
  readonly beckon: { readonly path: string; readonly version: string | null } | null;
}

/** Its arguments: the path of beckon, or empty for the usual one; then the names of programs to look for. */
export const probeScript = toOneLine(`
  ${say}
  ${findParent}
  given=$1;
  ${findProgramThere}
  say system "$(uname -s)"; say cpu "$(uname -m)"; say user "$(id -un)"; say home "$HOME"; say program "$program";
  say libc "$(getconf GNU_LIBC_VERSION 2>/dev/null || ldd --version 2>&1 | head -n 1)";
  for file in /lib/ld-musl-* /lib/ld-linux-* /lib64/ld-linux-*; do if [ -e "$file" ]; then say loader "$file"; fi; done;
  for name in "$@"; do
    for path in "$(command -v "$name")" "$HOME/.local/bin/$name" "$HOME/bin/$name" "$HOME/.bun/bin/$name"
      "$HOME/.npm-global/bin/$name" "/usr/local/bin/$name" "/opt/homebrew/bin/$name"
      "$HOME"/.nvm/versions/node/*/bin/"$name"; do
      if [ -x "$path" ]; then say agent "$name"; break; fi;
    done;
  done;
  for path in "$program" "$(command -v beckon)" /usr/local/bin/beckon; do
    if [ -f "$path" ] && [ -x "$path" ]; then say beckon "$path"; say version "$("$path" --version 2>/dev/null)"; break; fi;
    if [ -n "$given" ]; then break; fi;
  done;
  folder=$(parent "$program");
  while [ ! -d "$folder" ]; do folder=$(parent "$folder"); done;
  [ -w "$folder" ] || say readonly "$folder";
  set -- $(df -Pk "$folder" 2>/dev/null | tail -n 1);
  free=$4; mount=$6; options=;
  say free "$free";
  if [ -r /proc/mounts ]; then
    while read -r device point kind now rest; do if [ "$point" = "$mount" ]; then options=$now; fi; done </proc/mounts;
  fi;
  case ",$options," in *,noexec,*) say noexec "$mount";; esac;
  say end probe
`);

const systems: Readonly<Record<string, ProgramTarget["system"]>> = { Linux: "linux", Darwin: "darwin" };
const cpus: Readonly<Record<string, ProgramTarget["cpu"]>> = {
  x86_64: "x64",
  amd64: "x64",
  aarch64: "arm64",
  arm64: "arm64",
};

/** null if the script did not run to its end. */
export function readProbe(stdout: string): MachineFacts | null {
  const said = readSaid(stdout);
  const get = (key: string): string | null => said.get(key)?.at(-1) || null;
  if (get("end") !== "probe") return null;
  const [systemName, cpuName] = [get("system") ?? "an unknown system", get("cpu") ?? ""];
  const libc = get("libc") ?? "";
  const loaders = said.get("loader") ?? [];
  const glibcVersion = /\b(?:glibc|GLIBC|GNU libc|GNU C Library)\b.*?(\d+\.\d+)\s*$/i.exec(libc)?.[1] ?? null;
  const isMusl =
    /\bmusl\b/.test(libc) || (glibcVersion === null && loaders.some((path) => path.includes("musl")));
  const hasGlibc = glibcVersion !== null || loaders.some((path) => path.includes("linux"));
  const freeKb = Number(get("free") ?? Number.NaN);
  const path = get("beckon");
  return {
    systemName,
    cpuName,
    system: systems[systemName] ?? null,
    cpu: cpus[cpuName] ?? null,
    libc: isMusl ? "musl" : hasGlibc ? "glibc" : null,
    glibcVersion,
    user: get("user") ?? "",
    home: get("home") ?? "",
    program: get("program") ?? "",
    freeBytes: Number.isFinite(freeKb) ? freeKb * 1_024 : null,
    readOnlyFolder: get("readonly"),
    noexecMount: get("noexec"),
    agents: said.get("agent") ?? [],
    beckon: path === null ? null : { path, version: parseVersionLine(get("version") ?? "") },
  };
}
