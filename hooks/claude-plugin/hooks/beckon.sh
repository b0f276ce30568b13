#!/bin/sh
# Passes one hook event (JSON on stdin) to the beckon of this machine, and does nothing if there is none.
# Always exits with 0: any other exit code is an error line in the user's terminal at every event. Only beckon itself prints
# to stdout, which can be a decision or become the model's context.

run() { # FILE
  case $1 in /* | [A-Za-z]:*) ;; *) return ;; esac
  [ -f "$1" ] && [ -x "$1" ] || return
  # The binary does not start in a folder that is gone.
  cd / && "$1" hook claude
  exit 0
}

# Where `beckon --install` puts it: with BECKON_HOME set, without it, and on Windows (Git Bash). Then wherever PATH has it.
run "${BECKON_HOME:-}/bin/beckon"
run "${HOME:-}/.local/bin/beckon"
run "${LOCALAPPDATA:-}/Programs/beckon/beckon.exe"
run "$(command -v beckon)"
exit 0
