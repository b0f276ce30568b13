/**
 * The scripts that make shells complete beckon's commands. Each passes the words of the command line to `beckon completions
 * --complete` and offers what it prints: a word, a tab and a description per line, or `:folders`. Nothing that is printed is ever
 * evaluated: no `eval`, and no `compgen -W`, which expands `$(…)` in its words.
 */
import type { shells } from "./commands/completions.ts";

const call = "command beckon completions --complete --";

/** bash puts the words into the command line as they are, so completions.ts only prints words that need no quotes. */
const bash = `# Completions of beckon for bash: beckon completions bash
_beckon() {
  local word about
  COMPREPLY=()
  while IFS=$'\\t' read -r word about; do
    # The bash of macOS has no compopt.
    if [[ $word == :folders ]]; then compopt -o dirnames 2>/dev/null
    else COMPREPLY+=("$word")
    fi
  done < <(${call} "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _beckon beckon
`;

const zsh = `#compdef beckon
# Completions of beckon for zsh: beckon completions zsh
_beckon() {
  local line
  local -a found shown
  while IFS= read -r line; do
    found+=("\${line%%$'\\t'*}")
    shown+=("\${line/$'\\t'/  }")
  done < <(${call} "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if [[ "$found[1]" == :folders ]]; then _path_files -/
  else compadd -l -d shown -a found
  fi
}
# As a file of fpath, this is the function itself. With source, it only defines it.
if [[ "$funcstack[1]" == _beckon ]]; then _beckon "$@"
else compdef _beckon beckon
fi
`;

const fish = `# Completions of beckon for fish: beckon completions fish
function __beckon_complete
    set -l words (commandline --tokenize --cut-at-cursor --current-process)
    set -l current (commandline --cut-at-cursor --current-token)
    set -l found (${call} $words[2..-1] "$current" 2>/dev/null)
    if test "$found[1]" = :folders
        __fish_complete_directories "$current"
    else
        printf '%s\\n' $found
    end
end
complete --command beckon --no-files --arguments '(__beckon_complete)'
`;

export const scripts: Readonly<Record<(typeof shells)[number], string>> = { bash, zsh, fish };
