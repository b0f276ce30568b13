/** Copies a program to another machine: as a whole or not at all, and only if it runs there. */
import { toSingleLine, truncateEnd } from "../core/text/text.ts";
import { parseVersionLine } from "../core/version-line.ts";
import { findParent, findProgramThere, readSaid, say, toOneLine } from "./setup-script.ts";

/**
 * Its arguments: the path of beckon there, or empty for the usual one; the size of the program, which comes on standard input. It is run
 * once before it gets its name. What fails leaves nothing behind: neither the file, nor folders that were made for it.
 */
export const copyScript = toOneLine(String.raw`
  ${say}
  ${findParent}
  ${findProgramThere}
  size=$1;
  folder=$(parent "$program");
  made=; next=$folder;
  while [ ! -d "$next" ]; do made=$next; next=$(parent "$next"); done;
  copy=$folder/.beckon-copy-$$;
  undo() {
    rm -f "$copy";
    if [ -n "$made" ]; then
      next=$folder;
      while rmdir "$next" 2>/dev/null && [ "$next" != "$made" ]; do next=$(parent "$next"); done;
    fi;
  };
  fail() { undo; say failed "$1"; say why "$2"; exit 1; };
  trap "undo; exit 1" HUP INT PIPE TERM;
  [ -d "$program" ] && fail name "$program is a folder";
  said=$(mkdir -p "$folder" 2>&1) || fail folder "$said";
  said=$( { cat >"$copy"; } 2>&1 ) || fail write "$said";
  got=$(wc -c <"$copy");
  [ "$got" -eq "$size" ] || fail size "$got";
  said=$(chmod 755 "$copy" 2>&1) || fail write "$said";
  said=$("$copy" --version 2>&1) || fail run "$said";
  case $said in beckon\ *) ;; *) fail version "$said";; esac;
  why=$(mv -f "$copy" "$program" 2>&1) || fail name "$why";
  say copied "$said"
`);

/** What has become of a copy. */
export type CopyOutcome = { readonly version: string } | { readonly problem: string };

export interface CopyRun {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

export function readCopy({ stdout, stderr, code }: CopyRun, folder: string): CopyOutcome {
  const said = readSaid(stdout);
  const [copied] = said.get("copied") ?? [];
  const version = parseVersionLine(copied ?? "");
  if (code === 0 && version !== null) return { version };
  const [failed = null] = said.get("failed") ?? [];
  const printed = said.get("why")?.[0] ?? stderr.trim().split("\n").at(-1) ?? "";
  return { problem: explainFailure(failed, truncateEnd(toSingleLine(printed), 200), folder) };
}

function explainFailure(failed: string | null, why: string, folder: string): string {
  switch (failed) {
    case "folder":
      return `${folder} could not be made there: ${why}`;
    case "write":
      return /No space left|quota/i.test(why)
        ? `the disk of ${folder} is full there`
        : `beckon could not be written to ${folder} there: ${why}`;
    case "size":
      return `only ${why} bytes arrived there: the connection was lost`;
    case "run":
      return explainRun(why, folder);
    case "version":
      return `the file that was copied is not beckon: it printed ${JSON.stringify(why)}`;
    case "name":
      return `beckon could not be put in its place there: ${why}`;
    default:
      return why === "" ? "the connection was lost" : why;
  }
}

/** By what shells and the loader print. */
function explainRun(why: string, folder: string): string {
  const [, needed] = /(GLIBC_[\d.]+)'? not found/.exec(why) ?? [];
  if (needed !== undefined) return `glibc is too old there: beckon needs ${needed.replace("_", " ")}`;
  if (/Permission denied/i.test(why)) return `programs may not be run in ${folder} there (noexec)`;
  if (/Exec format error|cannot execute binary|syntax error/i.test(why))
    return "the program is built for another CPU or system";
  if (/not found|No such file/i.test(why)) return "glibc is missing there: beckon needs its loader";
  return `beckon does not run there: ${why}`;
}
