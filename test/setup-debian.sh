#!/bin/sh
# Installs the Debian packages that tests use, where one is missing and this machine lets us. Prints nothing otherwise.
set -eu

missing=
need() { # need COMMAND PACKAGE
  command -v "$1" >/dev/null 2>&1 || missing="$missing $2"
}
need busybox busybox
need curl curl
need dash dash
need faketime faketime
need ip iproute2
need jq jq
need perl perl
need tmux tmux
need unshare util-linux

[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
  echo "not installed, so tests that use them are skipped:$missing"
  exit 0
fi
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
# A fresh machine has no package lists, or old ones.
# shellcheck disable=SC2086 # a list of words
apt-get -qq update && apt-get -qq install --yes --no-install-recommends $missing >/dev/null
