#!/bin/sh
# Sends one hook event (JSON on stdin) to beckon: the forwarder for machines without the binary.
#
#   sh beckon-hook.sh [AGENT]        AGENT: $BECKON_PROVIDER, else claude
#
#   BECKON_URL         the address of beckon. Followed only on this machine, unless config.json in its default folder
#                      (.config/beckon in the home folder) has "allowRemoteUrl": true
#   BECKON_TOKEN_FILE  the file with the line "Authorization: Bearer ..." for BECKON_URL. Without it no token is sent there:
#                      the token in the state folder goes only to the beckon that wrote endpoint.json beside it
#   BECKON_HOME        one folder for all of beckon's files. Used only if you have run beckon there: a project's settings can set it.
#                      On a machine without the binary, add the folder to beckon-folders in ~/.local/state/beckon, one per line
#
# Needs curl 7.55 or later. Always exits with 0 and prints nothing on stdout, which would become the model's context.

LC_ALL=C
export LC_ALL
umask 077
agent=${1:-${BECKON_PROVIDER:-claude}}
max_stdin=67108864
max_payload=983040
max_spool=67108864
max_log=262144
max_log_read=4194304
payload='' body='' spool='the spool'
newline='
'

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

find_home
if [ -d /System/Library ]; then
  default="$home/Library/Application Support/beckon"
  state="${HOME:-$home}/Library/Application Support/beckon"
else
  default=$home/.local/state/beckon
  case ${XDG_STATE_HOME:-} in /*) state=$XDG_STATE_HOME/beckon ;; *) state=${HOME:-$home}/.local/state/beckon ;; esac
fi
state=${BECKON_HOME:-$state}
while case $state in ?*/) ;; *) false ;; esac do state=${state%/}; done
case $state in
  /*) ;;
  *)
    # It would mean another place in every project, and prompts would be written there.
    cat >/dev/null
    echo 'beckon-hook: BECKON_HOME, or HOME, is a relative path: nothing sent or written' >&2
    exit 0
    ;;
esac
# Opening a pipe would wait for a writer.
is_known() { # FOLDER
  set -- "$1" "$default/beckon-folders"
  is_one_path "$1" && [ ! -L "$2" ] && [ -f "$2" ] && [ -O "$2" ] && grep -qxF -e "$1" "$2"
}

ignored=''
if [ "$state" != "$default" ] && ! is_known "$state" 2>/dev/null; then
  ignored=$state
  state=$default
fi
token=$state/auth-header

# As in JSON: without leading zeros.
is_number() { case $1 in '' | 0* | *[!0-9]*) return 1 ;; esac; }

# Not with wc: busybox's wc reads the whole file.
is_larger() { # FILE BYTES
  [ -n "$(find "$1" -size "+${2}c" 2>/dev/null)" ]
}

# Not a link, not a pipe, not another user's, without a second name: somebody else may have put something in the file's place.
is_ours() { # FILE
  [ -O "$state" ] && [ ! -L "$1" ] &&
    { [ ! -e "$1" ] || { [ -f "$1" ] && [ -O "$1" ] && [ -n "$(find "$1" -links 1 2>/dev/null)" ]; }; }
}

# Writes a line at once, however long it is, so that lines of hooks that run at the same time do not mix. printf writes in pieces.
append() { # FILE LINE
  [ -d "$state" ] || mkdir -p "$state" || return 1
  is_ours "$1" || return 1
  part=$state/hook.$$.tmp
  rm -f "$part" && printf '%s\n' "$2" >"$part" && dd if="$part" bs=8388608 >>"$1"
  set -- $?
  rm -f "$part"
  return "$1"
} 2>/dev/null

# The first or last field of that name, if its value is a plain string. Quotes inside strings are escaped and do not match.
field() { # NAME TEXT head|tail
  printf '%s' "$2" | grep -o "\"$1\" *: *\"[^\"\\\\]*\"" | "$3" -n 1 | sed 's/^[^:]*: *"//; s/"$//'
}

# Terminals also act on bytes above 127.
clean() { # TEXT
  printf '%.1000s' "$1" | tr -c '\040-\176' '?'
}

fault() { # MESSAGE
  set -- "$(clean "$1")"
  printf '%s\n' "beckon-hook: $1" >&2
  name=$(clean "$(field hook_event_name "$payload" head)") session=$(clean "$(field session_id "$payload" head)")
  is_ours "$state/hook.log" && is_larger "$state/hook.log" $max_log_read && : >"$state/hook.log"
  append "$state/hook.log" "$(date -u +%Y-%m-%dT%H:%M:%SZ)	${name:--}	${session:--}	$1" || return 0
  is_larger "$state/hook.log" $max_log || return 0
  part=$state/hook.$$.tmp
  rm -f "$part"
  tail -c $((max_log / 2)) "$state/hook.log" | tail -n +2 >"$part" && mv "$part" "$state/hook.log"
}

# Requests and what ends them. A full spool still takes them, up to twice its limit.
is_important() {
  case $(field hook_event_name "$payload" head) in
    PermissionRequest | PermissionDenied | Elicitation | ElicitationResult | Notification) ;;
    UserPromptSubmit | Stop | StopFailure | SubagentStop | SessionStart | SessionEnd) ;;
    *) return 1 ;;
  esac
}

is_full() {
  is_larger "$state/spool.jsonl" $max_spool || return 1
  ! is_important || is_larger "$state/spool.jsonl" $((max_spool * 2))
}

keep() {
  line=$body
  body=''
  [ -n "$line" ] || exit 0
  if is_full; then
    fault 'spool is full: event dropped; start beckon to empty it'
  elif [ -d "$state" ] && ! is_ours "$state/spool.jsonl"; then
    fault "$state or spool.jsonl in it is a link, not a file, or belongs to another user: event lost"
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

# Keeps only the fields that identify the event. In a payload they come first, and tool_use_id comes last.
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

# Fields of /proc/PID/stat are counted from the last parenthesis, because the program's name can have any character in it.
read_stat() { # PID -> program, parent, tty_number, start
  program='' parent='' tty_number='' start=''
  read -r stat <"/proc/$1/stat" || return 1
  program=${stat#*\(}
  program=${program%\)*}
  # shellcheck disable=SC2086 # split into fields
  set -- ${stat##*\) }
  parent=${2:-} tty_number=${5:-} start=${20:-}
} 2>/dev/null

# The agent is the parent, or the parent of the shell that runs the hook.
find_agent() { # -> pid, and what read_stat sets
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

# Both lists come from src/core/terminals. To bring them up to date: UPDATE_DOCS=1 npx bun test test/core/terminals/docs.test.ts
sent_variables='
  TERM TERM_PROGRAM TERMINAL_EMULATOR TERM_SESSION_ID WINDOWID __CFBundleIdentifier WSL_DISTRO_NAME TMUX TMUX_PANE
  ZELLIJ ZELLIJ_SESSION_NAME ZELLIJ_PANE_ID STY WINDOW SSH_CONNECTION KITTY_WINDOW_ID KITTY_LISTEN_ON WEZTERM_PANE
  WEZTERM_UNIX_SOCKET GHOSTTY_RESOURCES_DIR KONSOLE_DBUS_SERVICE KONSOLE_DBUS_SESSION KONSOLE_DBUS_WINDOW
  GNOME_TERMINAL_SCREEN WARP_FOCUS_URL ITERM_SESSION_ID WT_SESSION CURSOR_TRACE_ID ALACRITTY_WINDOW_ID TERMINATOR_UUID
  TILIX_ID
'
# Some agents run the hooks of other agents too: beckon sees by these who called (src/agents/callers.ts).
caller_variables='GROK_SESSION_ID COPILOT_CLI QWEN_CODE_SESSION_ID GEMINI_SESSION_ID KILO_PID OPENCODE_PID'
# The best first.
session_variables='
  TERM_SESSION_ID TMUX_PANE ZELLIJ_PANE_ID KITTY_WINDOW_ID WEZTERM_PANE KONSOLE_DBUS_SESSION GNOME_TERMINAL_SCREEN
  ITERM_SESSION_ID WT_SESSION ALACRITTY_WINDOW_ID
'

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
  # A background session (claude --bg) says that nobody is there, but waits until the user answers.
  case $agent,${CLAUDE_CODE_SESSION_ATTENDED:-},${CLAUDE_CODE_ENTRYPOINT:-},${CLAUDE_JOB_DIR:+job} in
    claude,1,* | claude,*,cli,job) meta="$meta,\"attended\":true" ;;
    claude,0,* | claude,,sdk*) meta="$meta,\"attended\":false" ;;
  esac

  env=''
  for variable in $sent_variables $caller_variables CLAUDE_CODE_ENTRYPOINT; do
    eval "value=\${$variable:-}"
    [ -n "$value" ] && [ ${#value} -le 1000 ] || continue
    quote "$value"
    env="$env,\"$variable\":$quoted"
  done
  meta="$meta,\"env\":{${env#,}}"
  for variable in $session_variables; do
    eval "value=\${$variable:-}"
    [ -n "$value" ] && [ ${#value} -le 1000 ] || continue
    quote "$value"
    meta="$meta,\"terminal_session_id\":$quoted"
    break
  done
} 2>/dev/null

# True for this machine, not for addresses that only look like it: 127.0.0.1@evil, 127.0.0.1.evil.
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

# Reads the config in its default folder in the user's home: a project's settings can set HOME and every other variable.
allows_remote() { # URL
  case $1 in http://* | https://*) ;; *) return 1 ;; esac
  own=$(getent passwd "$(id -u)" | cut -d : -f 6)
  config=$own/.config/beckon/config.json
  [ -n "$own" ] && [ -f "$config" ] || return 1
  head -c 65536 "$config" | grep -q '"allowRemoteUrl"[[:space:]]*:[[:space:]]*true'
} 2>/dev/null

# Reads only small regular files: opening a pipe would wait for a writer.
find_files() { # -> endpoint (its text), header (the first line of the token's file)
  endpoint='' header=''
  small=$newline$(find "$state/endpoint.json" "$token" -type f -links 1 -size -65537c)$newline
  [ -O "$state/endpoint.json" ] || return
  case $small in *"$newline$state/endpoint.json$newline"*) read -r endpoint <"$state/endpoint.json" ;; esac
  [ -O "$token" ] || return
  case $small in *"$newline$token$newline"*) read -r header <"$token" ;; esac
} 2>/dev/null

value_of() { # NAME -> value, from endpoint.json
  value=''
  case $endpoint in *"\"$1\":"*) value=${endpoint#*"\"$1\":"} ;; esac
  case $value in
    '"'*) value=${value#?} value=${value%%'"'*} ;;
    *) value=${value%%[,\}]*} ;;
  esac
}

# False if a user other than this one and root listens at the address: after a crash, or while an SSH tunnel is down, anybody can
# take its port. Listeners for every IPv6 address also get connections to 127.0.0.1. Only Linux has these tables.
is_own_listener() { # URL
  [ -r /proc/net/tcp ] || return 0
  host=${1#http://} port=80 own=$(id -u)
  host=${host%%/*}
  case $host in *]) ;; *:*) port=${host##*:} host=${host%:*} ;; esac
  is_number "$port" || return 1
  port=$(printf '%04X' "$port")
  # Not read line by line: the shell reads byte by byte, and each time the kernel searches its table of all connections.
  rows=$(grep -h ":$port [0-9A-F]*:0000 0A " /proc/net/tcp /proc/net/tcp6)
  while read -r _ local _ _ _ _ _ owner _; do
    case $host,${local%:*} in
      *,) continue ;;
      127.0.0.1,*0100007F | 127.0.0.1,*7F000001 | 127.0.0.1,00000000 | 127.0.0.1,00000000000000000000000000000000) ;;
      127.0.0.1,*) continue ;;
    esac
    [ "$owner" = "$own" ] || [ "$owner" = 0 ] || return 1
  done <<EOF
$rows
EOF
} 2>/dev/null

# A project's settings can set BECKON_TOKEN_FILE too: it must not name, or link to, the token of this machine's beckon.
use_other_token() { # -> token, header
  token=${BECKON_TOKEN_FILE:-} header=''
  case $token in '') return ;; /*) ;; *) token=./$token ;; esac
  case ${token##*/} in
    [Aa][Uu][Tt][Hh]-[Hh][Ee][Aa][Dd][Ee][Rr]) ;;
    *) [ ! -L "$token" ] && [ -O "$token" ] && [ -n "$(find "$token" -type f -links 1 -size -65537c)" ] && read -r header <"$token" ;;
  esac
  [ -n "$header" ] || fault 'BECKON_TOKEN_FILE ignored: not a file of your own with a token for that address'
} 2>/dev/null

# After a crash, endpoint.json is still there, and other processes can have its port and its pid.
is_beckon() { # PID
  is_number "$1" && kill -0 "$1" 2>/dev/null && is_own_listener "$url" || return 1
  value_of start
  case $value in '' | null) ;; *) read_stat "$1" && [ "$start" = "$value" ] || return 1 ;; esac
  value_of boot
  case $value in '' | null | "$boot") ;; *) return 1 ;; esac
}

choose_url() { # -> url, proxy, token, header; fails if beckon is not running
  value_of url
  own_url=$value url=$value proxy=none
  value_of pid
  own_pid=$value
  if [ -n "${BECKON_URL:-}" ]; then
    url=$BECKON_URL
    spool='the spool of this machine'
    if is_loopback "$url"; then
      origin=${url#http://}
      [ "http://${origin%%/*}" = "$own_url" ] && is_beckon "$own_pid" && return
      is_own_listener "$url" || {
        fault "another user's program listens at BECKON_URL: nothing sent, kept in $spool"
        return 1
      }
      use_other_token
      return 0
    fi
    proxy=theirs
    allows_remote "$url" && {
      use_other_token
      return 0
    }
    fault 'BECKON_URL ignored: not http://127.0.0.1, and .config/beckon/config.json in your home folder does not set allowRemoteUrl'
  fi
  proxy=none url=$own_url
  is_loopback "$url" && is_beckon "$own_pid"
}

post() { # -> code, answer, failed (curl's own exit code)
  set -- -q -s -g -m 1 --max-filesize 65536 -w '\n%{http_code}' -H 'Content-Type: application/json' -H 'Expect:'
  [ $proxy = theirs ] || set -- "$@" --noproxy '*'
  # As a file, not as a value: every user of the machine can read arguments.
  case $header in [Aa]uthorization:*) set -- "$@" -H "@$token" ;; esac
  origin=${url#*://}
  answer=$(printf '%s' "$body" | curl "$@" --data-binary @- "${url%%://*}://${origin%%/*}/api/hook")
  failed=$?
  code=${answer##*"$newline"}
} 2>/dev/null

# The status, with the error that beckon answered.
explain() { # -> why
  why=$(printf '%s' "$answer" | head -c 65536 | grep -o '"error" *: *"[^"\\]*"' | head -n 1 | sed 's/^[^:]*: *"//; s/"$//')
  why=$code${why:+ ($why)}
} 2>/dev/null

payload=$(read_stdin)
# In JSON text, newlines can only be white space between tokens, so the event can become one line.
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
if [ -n "$ignored" ] && [ "$(field hook_event_name "$payload" head)" = SessionStart ]; then
  fault "the folder $ignored is not used, because you have not run beckon in it: a project's settings can set BECKON_HOME, HOME and XDG variables"
fi
collect
if [ ${#payload} -gt $max_payload ]; then
  meta="$meta,\"cut\":true"
  payload=$(shorten)
fi
quote "$agent"
body="{\"provider\":$quoted,\"_meta\":{$meta},\"payload\":$payload}"

find_files
choose_url || keep
post
case $failed,$code in
  0,2??) exit 0 ;;
  0,*) explain ;;
esac
case $failed,$code in
  0,400 | 0,413 | 0,415 | 0,422) fault "beckon refused the event: $why: not kept" ;;
  0,*) fault "beckon answered $why: kept in $spool" && keep ;;
  7,*)
    [ -z "${BECKON_URL:-}" ] || fault "nothing listens at BECKON_URL: kept in $spool"
    keep
    ;;
  28,*) fault "no answer within 1 s: kept in $spool" && keep ;;
  127,*) fault "curl is not installed: kept in $spool" && keep ;;
  *) fault "connection broken before the answer (curl $failed): kept in $spool" && keep ;;
esac
exit 0
