#!/bin/sh
# Installs beckon for the user who runs it, without root:
#   curl -fsSL https://github.com/{{repository}}/releases/latest/download/install.sh | sh
# Everything is in a function that the last line calls: a script that was cut off on the way does nothing.

beckon_usage() {
  cat <<'USAGE'
Usage: install.sh [OPTIONS] [-- OPTIONS OF beckon --install]

  --version X        this version instead of the newest
  --dir FOLDER       where to put beckon (~/.local/bin)
  --binary FILE      this program instead of a download
  --no-modify-path   leave the profile of your shell as it is
  --dry-run          say what would be done, and do nothing

BECKON_VERSION and BECKON_INSTALL_DIR stand for the first two. BECKON_DOWNLOAD_URL is a folder with the files of a release.
USAGE
}

beckon_fail() {
  printf 'install.sh: %s\n' "$1" >&2
  exit 1
}

# Removes what is unfinished, also after Ctrl-C.
beckon_clean_up() {
  [ -z "$temporary" ] || rm -rf "$temporary"
  [ -z "$unfinished" ] || rm -f "$unfinished"
  [ -z "$made_dir" ] || rmdir "$made_dir" 2>/dev/null || :
}

beckon_has() {
  command -v "$1" >/dev/null 2>&1
}

beckon_find_target() {
  case $(uname -s) in
    Linux) system=linux ;;
    Darwin) system=darwin ;;
    MINGW* | MSYS* | CYGWIN*) beckon_fail "on Windows, use install.ps1 in PowerShell" ;;
    *) beckon_fail "there is no beckon for $(uname -s), only for Linux, macOS and Windows" ;;
  esac
  case $(uname -m) in
    x86_64 | amd64) cpu=x64 ;;
    aarch64 | arm64) cpu=arm64 ;;
    *) beckon_fail "there is no beckon for $(uname -m) processors, only for x86_64 and arm64" ;;
  esac
  # A shell for Intel on a newer Mac says x86_64.
  if [ "$system" = darwin ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null)" = 1 ]; then cpu=arm64; fi
  libc=
  if [ "$system" = linux ]; then
    if [ "$(getconf LONG_BIT 2>/dev/null)" = 32 ]; then
      beckon_fail "there is no beckon for 32-bit systems"
    fi
    # A loader of musl alone says nothing: a Debian can have one.
    if ! getconf GNU_LIBC_VERSION >/dev/null 2>&1; then
      case $(ldd --version 2>&1 || :) in
        *musl*) libc=-musl ;;
        *) for loader in /lib/ld-musl-*.so.1; do if [ -e "$loader" ] && ! beckon_has ldd; then libc=-musl; fi; done ;;
      esac
    fi
  fi
  target="$system-$cpu$libc"
}

# Only https, except from this machine: for mirrors on it, and tests.
beckon_check_url() {
  case $1 in
    https://*) protocol='=https' ;;
    http://127.0.0.1[:/]* | http://localhost[:/]* | "http://[::1]"[:/]*) protocol='=http' ;;
    *) beckon_fail "BECKON_DOWNLOAD_URL must begin with https://, but is $1" ;;
  esac
}

# beckon_download FILE TO
beckon_download() {
  code=0
  if beckon_has curl; then
    curl --proto "$protocol" --tlsv1.2 -fsSL --retry 2 --connect-timeout 20 -o "$2" "$url/$1" 2>"$temporary/error" || code=$?
    case $code in
      6 | 7 | 28 | 35) why="no connection" ;;
      22) why="the server does not have it" ;;
      18 | 56 | 92) why="the connection was interrupted" ;;
      23) why="no space left in $temporary" ;;
      *) why="curl ended with $code" ;;
    esac
  else
    # The wget of busybox has no such option, and that of Debian 12 crashes with a time limit.
    options=
    case $(wget --version 2>/dev/null || :) in
      *GNU*) if [ "$protocol" = '=https' ]; then options="--timeout=20 --https-only"; else options=--timeout=20; fi ;;
    esac
    # shellcheck disable=SC2086 # Several words, or none.
    wget $options -q -O "$2" "$url/$1" 2>"$temporary/error" || code=$?
    case $code in
      3) why="no space left in $temporary" ;;
      4) why="no connection, or it was interrupted" ;;
      8) why="the server does not have it" ;;
      *) why="wget ended with $code" ;;
    esac
  fi
  [ "$code" = 0 ] && return
  detail=$(tail -n 1 "$temporary/error" 2>/dev/null || :)
  beckon_fail "$url/$1 could not be downloaded: $why${detail:+ ($detail)}. Nothing was installed."
}

beckon_hash() {
  if beckon_has sha256sum; then sha256sum "$1" | cut -d ' ' -f 1
  elif beckon_has shasum; then shasum -a 256 "$1" | cut -d ' ' -f 1
  else openssl dgst -sha256 -r "$1" | cut -d ' ' -f 1
  fi
}

beckon_verify() {
  expected=$(awk -v name="$archive" '$2 == name || $2 == "*" name { print $1 }' "$temporary/SHA256SUMS")
  case $expected in
    *[!0-9a-f]* | '') beckon_fail "SHA256SUMS has no checksum of $archive. Nothing was installed." ;;
  esac
  actual=$(beckon_hash "$temporary/$archive")
  [ "$actual" = "$expected" ] ||
    beckon_fail "the checksum of $archive is wrong: $actual instead of $expected. Nothing was installed."
}

# Puts the program beside its place first: the same file system, so that it is there as a whole or not at all.
beckon_place() {
  if [ ! -d "$dir" ]; then
    mkdir -p "$dir" 2>/dev/null || beckon_fail "the folder $dir cannot be created. Choose another with --dir"
    made_dir=$dir
  fi
  [ -w "$dir" ] || beckon_fail "you cannot write to $dir. Choose another folder with --dir"
  [ ! -d "$dir/beckon" ] || beckon_fail "$dir/beckon is a folder. Choose another place with --dir"
  unfinished="$dir/.beckon-install-$$"
  if [ -n "$binary" ]; then cp "$binary" "$unfinished" 2>/dev/null
  else tar -xzOf "$temporary/$archive" "beckon-$target/beckon" >"$unfinished" 2>/dev/null
  fi || beckon_fail "beckon could not be written to $dir: is it full? ($(df -h "$dir" 2>/dev/null | awk 'END { print $4 " free" }')) Nothing was installed."
  chmod 755 "$unfinished"
  code=0
  said=$("$unfinished" --version 2>"${temporary:-$dir}/.beckon-error-$$" </dev/null) || code=$?
  detail=$(head -n 1 "${temporary:-$dir}/.beckon-error-$$" 2>/dev/null || :)
  rm -f "${temporary:-$dir}/.beckon-error-$$"
  if [ "$code" = 126 ]; then
    beckon_fail "programs cannot be run from $dir: it may be mounted with noexec. Choose another folder with --dir. Nothing was installed."
  fi
  case $said in
    "beckon "[0-9]*) found=${said#beckon } ;;
    *)
      hint=
      if [ "$libc" = -musl ]; then hint=" On Alpine it needs: apk add libstdc++"; fi
      beckon_fail "the program does not run here: it ended with $code${detail:+ ($detail)}.$hint Nothing was installed."
      ;;
  esac
  if [ -n "$version" ] && [ "$found" != "$version" ]; then
    beckon_fail "$source is beckon $found, not $version. Nothing was installed."
  fi
  # beckon update --rollback puts it back.
  if [ -f "$dir/beckon" ]; then ln -f "$dir/beckon" "$dir/beckon.previous" 2>/dev/null || :; fi
  mv -f "$unfinished" "$dir/beckon" || beckon_fail "$dir/beckon cannot be replaced. Nothing was installed."
  unfinished=
  made_dir=
  printf 'beckon %s is in %s.\n' "$found" "$dir"
}

# The file that the user's shell reads at its start, and the line that adds the folder.
beckon_find_profile() {
  line="export PATH=\"$dir:\$PATH\""
  case ${SHELL:-} in
    */zsh) profile=${ZDOTDIR:-$HOME}/.zshrc ;;
    */bash) profile=$HOME/.bashrc ;;
    */fish) profile=${XDG_CONFIG_HOME:-$HOME/.config}/fish/conf.d/beckon.fish line="fish_add_path \"$dir\"" ;;
    *) profile=$HOME/.profile ;;
  esac
}

beckon_add_to_path() {
  case :$PATH: in *":$dir:"*) return ;; esac
  beckon_find_profile
  if [ "$modifies_path" = no ]; then
    printf 'To type just "beckon", add this line to %s: %s\n' "$profile" "$line"
  elif grep -qsF "$line" "$profile"; then :
  elif mkdir -p "$(dirname "$profile")" && printf '\n# Added by the installer of beckon\n%s\n' "$line" >>"$profile"; then
    printf 'Added %s to your PATH in %s. Open a new terminal to type just "beckon".\n' "$dir" "$profile"
  else
    printf 'To type just "beckon", add this line to the profile of your shell: %s\n' "$line"
  fi
}

beckon_install() {
  set -eu
  version=${BECKON_VERSION:-} dir=${BECKON_INSTALL_DIR:-} url=${BECKON_DOWNLOAD_URL:-}
  binary='' modifies_path=yes is_dry_run=no temporary='' unfinished='' made_dir=''
  while [ $# -gt 0 ]; do
    case $1 in
      --version | --dir | --binary)
        [ $# -gt 1 ] || beckon_fail "$1 needs a value"
        case $1 in --version) version=$2 ;; --dir) dir=$2 ;; --binary) binary=$2 ;; esac
        shift
        ;;
      --no-modify-path) modifies_path=no ;;
      --dry-run) is_dry_run=yes ;;
      -h | --help) beckon_usage && exit ;;
      --) shift && break ;;
      *) beckon_fail "unknown option $1. See --help" ;;
    esac
    shift
  done
  version=${version#v}
  case $version in *[!0-9A-Za-z.+-]*) beckon_fail "$version is not a version" ;; esac
  : "${HOME:?install.sh needs your home folder in HOME}"
  dir=${dir:-$HOME/.local/bin}
  case $dir in /*) ;; *) dir=$PWD/$dir ;; esac
  beckon_find_target
  archive="beckon-$target.tar.gz"
  if [ -z "$binary" ]; then
    address='https://github.com/{{repository}}/releases'
    if [ -z "$url" ]; then
      if [ -n "$version" ]; then url=$address/download/v$version; else url=$address/latest/download; fi
    fi
    url=${url%/}
    beckon_check_url "$url"
    source=$url/$archive
    beckon_has curl || beckon_has wget || beckon_fail "curl or wget is needed to download beckon. Install one of them"
    beckon_has sha256sum || beckon_has shasum || beckon_has openssl ||
      beckon_fail "sha256sum, shasum or openssl is needed to check the download. Install one of them"
  else
    [ -f "$binary" ] || beckon_fail "there is no file $binary"
    source=$binary
  fi
  if [ "$is_dry_run" = yes ]; then
    printf 'Would install %s as %s/beckon, and run: %s/beckon --install%s\n' "$source" "$dir" "$dir" "${*:+ $*}"
    printf 'Nothing has been changed.\n'
    exit
  fi
  trap beckon_clean_up EXIT
  trap 'exit 130' INT
  trap 'exit 143' HUP TERM
  if [ -z "$binary" ]; then
    temporary=$(mktemp -d 2>/dev/null) || beckon_fail "no temporary folder can be created in ${TMPDIR:-/tmp}"
    printf 'Downloading %s\n' "$source"
    beckon_download SHA256SUMS "$temporary/SHA256SUMS"
    beckon_download "$archive" "$temporary/$archive"
    beckon_verify
  fi
  beckon_place
  beckon_clean_up
  temporary=
  beckon_add_to_path
  "$dir/beckon" --install --placed "$@" </dev/null ||
    beckon_fail "beckon is in $dir, but not connected to your agents. To try again: $dir/beckon --install"
}

beckon_install "$@"
