#!/bin/sh
# Passes one hook event (JSON on stdin) to the beckon of this machine, and does nothing if there is none.
# Always exits with 0: any other exit code is an error line in the user's terminal at every event. Only beckon itself prints
# to stdout, which can be a decision or become the model's context.

newline='
'

run() { # FILE
  case $1 in /* | [A-Za-z]:*) ;; *) return ;; esac
  [ -f "$1" ] && [ -x "$1" ] || return
  # The binary does not start in a folder that is gone.
  cd / && "$1" hook claude
  exit 0
}

# False for a path with a line break: grep would take its lines for several patterns, and one of them is easy to match.
is_one_path() { # TEXT
  case $1 in *"$newline"*) return 1 ;; /*) ;; *) return 1 ;; esac
}

# A project's settings can set HOME too, so the system has to know it as a home folder. Only root creates folders in /Users. A system
# that does not know the user (a container) has nothing better than HOME.
find_home() { # -> home
  home=${HOME:-}
  if is_one_path "$home" && [ -O "$home" ]; then
    case $home in /Users/*/*) ;; /Users/*) [ ! -d /System/Library ] || return 0 ;; esac
    ! grep -qF ":$home:" /etc/passwd || return 0
  fi
  own=$(getent passwd "$(id -u)" | cut -d : -f 6)
  [ -n "$own" ] || own=$(id -P | cut -d : -f 9)
  case $own in /*) home=$own ;; esac
} 2>/dev/null

# A project's settings can set BECKON_HOME: only programs in folders that the user has run beckon in are run.
is_known() { # FOLDER
  is_one_path "$1" || return
  for known in "$home/.local/state/beckon/beckon-folders" "$home/Library/Application Support/beckon/beckon-folders"; do
    [ ! -L "$known" ] && [ -f "$known" ] && [ -O "$known" ] && grep -qxF -e "${1%/}" "$known" && return
  done
  return 1
} 2>/dev/null

# Where `beckon --install` puts it: with BECKON_HOME set, without it, and on Windows (Git Bash). Then wherever PATH has it.
find_home
if [ -n "${BECKON_HOME:-}" ] && is_known "$BECKON_HOME"; then run "$BECKON_HOME/bin/beckon"; fi
run "$home/.local/bin/beckon"
run "${LOCALAPPDATA:-}/Programs/beckon/beckon.exe"
run "$(command -v beckon)"
exit 0
