#!/bin/sh
# Hands one hook event (JSON on stdin) to the beckon of this machine; where there is none, does nothing.
# Always ends with 0: anything else is a red line in the person's terminal on every event. What is printed is beckon's
# alone: stdout can be a decision, or become the model's context.

run() { # FILE
  case $1 in /* | [A-Za-z]:*) ;; *) return ;; esac
  [ -f "$1" ] && [ -x "$1" ] || return
  # In a folder that is gone the binary does not start.
  cd / && "$1" hook claude
  exit 0
}

# Where `beckon --install` puts it, with BECKON_HOME set, otherwise, and on Windows (Git Bash); else where the person has it.
run "${BECKON_HOME:-}/bin/beckon"
run "${HOME:-}/.local/bin/beckon"
run "${LOCALAPPDATA:-}/Programs/beckon/beckon.exe"
run "$(command -v beckon)"
exit 0
