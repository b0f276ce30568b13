#!/bin/sh
# Hands one hook event (JSON on stdin) to beckon: the forwarder for machines without the binary.
#
#   sh beckon-hook.sh [AGENT]        AGENT: $BECKON_PROVIDER, else claude
#
#   BECKON_URL         where beckon listens, seen from here. Followed only to this machine, unless the person's
#                      config.json says "allowRemoteUrl": true
#   BECKON_TOKEN_FILE  the file with the line "Authorization: Bearer ...", else auth-header in the state folder
#   BECKON_HOME        all of beckon's files in one folder
#
# Needs curl 7.55 or later. Always ends with 0 and prints nothing on stdout: that would become the model's context.

LC_ALL=C
export LC_ALL
umask 077
agent=${1:-${BECKON_PROVIDER:-claude}}
max_stdin=67108864
max_payload=4128768
max_spool=67108864
max_log=262144
payload='' body=''

if [ -n "${BECKON_HOME:-}" ]; then
  state=$BECKON_HOME config=$BECKON_HOME
elif [ -d /System/Library ]; then
  state="$HOME/Library/Application Support/beckon" config=$state
else
  case ${XDG_STATE_HOME:-} in /*) state=$XDG_STATE_HOME/beckon ;; *) state=$HOME/.local/state/beckon ;; esac
  case ${XDG_CONFIG_HOME:-} in /*) config=$XDG_CONFIG_HOME/beckon ;; *) config=$HOME/.config/beckon ;; esac
fi

# As JSON writes it: without leading zeros.
is_number() { case $1 in '' | 0* | *[!0-9]*) return 1 ;; esac; }

size_of() { # FILE -> size
  size=0
  [ ! -f "$1" ] || size=$(wc -c <"$1")
}

# One write for a line however long, so that lines of hooks that run at once stay whole: printf writes in pieces.
append() { # FILE LINE
  [ -d "$state" ] || mkdir -p "$state" || return 1
  part=$state/hook.$$.tmp
  printf '%s\n' "$2" >"$part" && dd if="$part" bs=8388608 >>"$1"
  set -- $?
  rm -f "$part"
  return "$1"
} 2>/dev/null

# The first or last field of that name, if its value is a plain string. Quotes inside texts are escaped: no match.
field() { # NAME TEXT head|tail
  printf '%s' "$2" | grep -o "\"$1\" *: *\"[^\"\\\\]*\"" | "$3" -n 1 | sed 's/^[^:]*: *"//; s/"$//'
}

fault() { # MESSAGE
  echo "beckon-hook: $1" >&2
  name=$(field hook_event_name "$payload" head) session=$(field session_id "$payload" head)
  append "$state/hook.log" "$(date -u +%Y-%m-%dT%H:%M:%SZ)	${name:--}	${session:--}	$1"
  size_of "$state/hook.log"
  [ "$size" -gt $max_log ] || return 0
  part=$state/hook.$$.tmp
  tail -c $((max_log / 2)) "$state/hook.log" | tail -n +2 >"$part" && mv "$part" "$state/hook.log"
}

keep() {
  line=$body
  body=''
  [ -n "$line" ] || exit 0
  size_of "$state/spool.jsonl"
  if [ "$size" -gt $max_spool ]; then
    fault 'spool is full: event dropped; start beckon to empty it'
  else
    append "$state/spool.jsonl" "$line" || fault "could not write $state/spool.jsonl: event lost"
  fi
  exit 0
}
trap keep TERM INT HUP

read_stdin() {
  if command -v timeout >/dev/null; then
    timeout 5 head -c $((max_stdin + 1))
  else
    head -c $((max_stdin + 1))
  fi
} 2>/dev/null

# Only which event of which session it is. In a payload these come first, tool_use_id last.
shorten() {
  first=$(printf '%s' "$payload" | head -c 65536)
  last=$(printf '%s' "$payload" | tail -c 65536)
  printf '{'
  for key in session_id transcript_path cwd hook_event_name tool_name agent_id agent_type prompt_id notification_type; do
    value=$(field "$key" "$first" head)
    [ -z "$value" ] || printf '"%s":"%s",' "$key" "$value"
  done
  printf '"tool_use_id":"%s"}' "$(field tool_use_id "$last" tail)"
} 2>/dev/null

quote() { # TEXT -> quoted, a JSON string
  case $1 in
    *[\\\"]* | *[![:print:]]*) quoted=\"$(printf '%s' "$1" | tr '\001-\037\177' ' ' | sed 's/[\\"]/\\&/g')\" ;;
    *) quoted=\"$1\" ;;
  esac
}

# Fields of /proc/PID/stat are counted from the last parenthesis: the program's name may hold anything.
read_stat() { # PID -> program, parent, tty_number, start
  program='' parent='' tty_number='' start=''
  read -r stat <"/proc/$1/stat" || return 1
  program=${stat#*\(}
  program=${program%\)*}
  # shellcheck disable=SC2086 # split into fields
  set -- ${stat##*\) }
  parent=${2:-} tty_number=${5:-} start=${20:-}
} 2>/dev/null

# The agent is the parent, or the parent of the shell that it runs hooks with.
find_agent() { # -> pid, and what read_stat tells of it
  pid=${CLAUDE_PID:-}
  if [ "$agent" = claude ] && is_number "$pid"; then
    read_stat "$pid"
    return
  fi
  pid=$PPID
  while is_number "$pid" && [ "$pid" -gt 1 ] && read_stat "$pid"; do
    case $program in "$agent" | node | MainThread | bun | deno | python | python3) return ;; esac
    pid=$parent
  done
  pid='' tty_number='' start=''
}

find_tty() { # -> tty
  tty=''
  is_number "$tty_number" || return
  major=$((tty_number >> 8 & 4095)) minor=$((tty_number & 255 | tty_number >> 12 & 1048320))
  case $major in
    13[6-9] | 14[0-3]) tty=/dev/pts/$(((major - 136) * 256 + minor)) ;;
    4) [ "$minor" -ge 64 ] || tty=/dev/tty$minor ;;
  esac
}

collect() { # -> meta
  id='' boot='' uptime=''
  read -r id </proc/sys/kernel/random/uuid || id=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  read -r boot </proc/sys/kernel/random/boot_id
  read -r uptime _ </proc/uptime
  now=$(date -u '+%s%3N %Y-%m-%dT%H:%M:%SZ')
  at=${now%% *}
  # Without GNU date, %3N gives something else than three digits.
  is_number "$at" && [ ${#at} -eq 13 ] || at=$(date +%s)000
  folder=${CLAUDE_PROJECT_DIR:-$PWD}
  folder=${folder%/}
  quote "${folder##*/}"
  meta="\"id\":\"$id\",\"at\":$at,\"collected_at\":\"${now#* }\",\"forwarder_version\":\"sh\",\"workspace_id\":$quoted"
  case $uptime in 0* | *[!0-9.]*) ;; *.??) meta="$meta,\"seq\":${uptime%.*}${uptime#*.}0000" ;; esac
  if [ -n "$boot" ]; then
    meta="$meta,\"boot\":\"$boot\""
    space=$(readlink /proc/self/ns/pid) && meta="$meta,\"host\":\"$boot/$space\""
  fi

  find_agent
  find_tty
  [ -z "$pid" ] || meta="$meta,\"pid\":$pid"
  [ -z "$start" ] || meta="$meta,\"procStart\":\"$start\""
  [ -z "$tty" ] || meta="$meta,\"tty\":\"$tty\""
  case $agent,${CLAUDE_CODE_SESSION_ATTENDED:-},${CLAUDE_CODE_ENTRYPOINT:-} in
    claude,1,*) meta="$meta,\"attended\":true" ;;
    claude,0,* | claude,,sdk*) meta="$meta,\"attended\":false" ;;
  esac

  terminal=${TERM_SESSION_ID:-${ITERM_SESSION_ID:-${WEZTERM_PANE:-${KITTY_WINDOW_ID:-${TMUX_PANE:-}}}}}
  quote "$terminal"
  [ -z "$terminal" ] || meta="$meta,\"terminal_session_id\":$quoted"
  env=''
  for variable in TERM TERM_PROGRAM TERM_PROGRAM_VERSION TMUX TMUX_PANE STY ZELLIJ_SESSION_NAME ZELLIJ_PANE_ID WINDOWID \
    KITTY_WINDOW_ID WEZTERM_PANE ITERM_SESSION_ID TERM_SESSION_ID SSH_CONNECTION SSH_TTY CLAUDE_CODE_ENTRYPOINT; do
    eval "value=\${$variable:-}"
    [ -n "$value" ] && [ ${#value} -le 1000 ] || continue
    quote "$value"
    env="$env,\"$variable\":$quoted"
  done
  meta="$meta,\"env\":{${env#,}}"
} 2>/dev/null

# This machine, and nothing that only looks like it: 127.0.0.1@evil, 127.0.0.1.evil.
is_loopback() { # URL
  case $1 in http://*) address=${1#http://} ;; *) return 1 ;; esac
  address=${address%%/*}
  case $address in
    *[!]0-9A-Za-z.:[]*) return 1 ;;
    '[::1]' | '[::1]:'* | localhost | localhost:*) ;;
    127.*) case ${address%:*} in *[!0-9.]*) return 1 ;; esac ;;
    *) return 1 ;;
  esac
}

# A config that a variable places inside the project came with it, and is not the person's own.
allows_remote() { # URL
  case $1 in http://* | https://*) ;; *) return 1 ;; esac
  if [ -n "${BECKON_HOME:-}${XDG_CONFIG_HOME:-}" ]; then
    place=$(cd "$config" && pwd -P) || return 1
    for project in . "${CLAUDE_PROJECT_DIR:-.}"; do
      project=$(cd "$project" && pwd -P) || return 1
      case $place/ in "${project%/}"/*) return 1 ;; esac
    done
  fi
  grep -q '"allowRemoteUrl"[[:space:]]*:[[:space:]]*true' "$config/config.json"
} 2>/dev/null

choose_url() { # -> url, proxy; fails where nothing runs
  url=${BECKON_URL:-} proxy=none
  if [ -n "$url" ]; then
    is_loopback "$url" && return
    proxy=theirs
    allows_remote "$url" && return
    fault 'BECKON_URL ignored: not http://127.0.0.1, and config.json does not say allowRemoteUrl'
  fi
  proxy=none
  endpoint=$(sed -n 's/.*"url"[^"]*"\([^"\\]*\)".*"pid"[^0-9]*\([0-9]*\).*/\1 \2/p' "$state/endpoint.json" 2>/dev/null)
  url=${endpoint% *}
  # The app was killed, and its port may be somebody else's by now.
  is_loopback "$url" && kill -0 "${endpoint#* }" 2>/dev/null
}

post() { # -> code, failed (curl's own exit code)
  set -- -q -s -g -m 1 -o /dev/null -w '%{http_code}' -H 'Content-Type: application/json' -H 'Expect:'
  [ $proxy = theirs ] || set -- "$@" --noproxy '*'
  token=${BECKON_TOKEN_FILE:-$state/auth-header}
  header=''
  [ ! -r "$token" ] || read -r header <"$token"
  # By file, not by value: arguments can be read by every user of the machine.
  case $header in [Aa]uthorization:*) set -- "$@" -H "@$token" ;; esac
  origin=${url#*://}
  code=$(printf '%s' "$body" | curl "$@" --data-binary @- "${url%%://*}://${origin%%/*}/api/hook" 2>/dev/null)
  failed=$?
}

payload=$(read_stdin)
# In JSON, newlines are only ever space between tokens: the event becomes one line.
case $payload in *[[:cntrl:]]*) payload=$(printf '%s' "$payload" | tr '\n\r\t' '   ') ;; esac
case $payload in
  [!\ {]* | *[!\ }]) is_object=no ;;
  *'{'*'}'*) is_object=yes ;;
  *) is_object=no ;;
esac
if [ $is_object = no ]; then
  size=${#payload}
  payload=''
  fault "stdin is not a JSON object ($size characters): nothing sent"
  exit 0
fi
collect
if [ ${#payload} -gt $max_payload ]; then
  meta="$meta,\"cut\":true"
  payload=$(shorten)
fi
quote "$agent"
body="{\"provider\":$quoted,\"_meta\":{$meta},\"payload\":$payload}"

choose_url || keep
post
case $failed,$code in
  0,2??) ;;
  0,400 | 0,413 | 0,415 | 0,422) fault "beckon refused the event ($code): not kept" ;;
  0,*) fault "beckon answered $code: kept in the spool" && keep ;;
  7,*) keep ;;
  28,*) fault 'no answer within 1 s: kept in the spool' && keep ;;
  127,*) fault 'curl is not installed: kept in the spool' && keep ;;
  *) fault "connection broken before the answer (curl $failed): kept in the spool" && keep ;;
esac
exit 0
