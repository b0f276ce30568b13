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
need python3 python3
need tmux tmux
need unshare util-linux
need xdotool xdotool
need x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64
need scrot scrot
need /usr/lib/wine/wine64 wine64
need Xvfb xvfb
need dbus-daemon dbus
need gdbus libglib2.0-bin
need gio libglib2.0-bin
need desktop-file-validate desktop-file-utils
need openbox openbox
need trayer "trayer libayatana-appindicator3-1"
need xfce4-panel "xfce4-panel xfconf adwaita-icon-theme fonts-dejavu-core"
need /usr/lib/x86_64-linux-gnu/xfce4/notifyd/xfce4-notifyd xfce4-notifyd
need xprop x11-utils
need xsetroot x11-xserver-utils
need dbus-monitor dbus-bin
need dunst dunst
need notify-send libnotify-bin
need setpriv util-linux
need xterm xterm
need kitty kitty
need alacritty alacritty
need konsole konsole
need gnome-terminal gnome-terminal
need screen screen
need sway sway
need foot foot
need xauth xauth
need kwin_wayland kwin-wayland
need gnome-shell "gnome-shell gnome-shell-extension-appindicator gjs"

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
