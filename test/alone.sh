#!/bin/sh
# alone.sh BINARY ROOT: runs the binary where there is nothing but itself, glibc, /proc and /dev.
# To be started by `unshare --mount --net --pid --fork --kill-child`. Prints what --version and status --json say.
set -eu
binary=$1
root=$2

mount -t tmpfs tmpfs "$root"
mkdir "$root/proc" "$root/dev" "$root/home"
cp "$binary" "$root/beckon"
ldd "$binary" | grep -o '/[^ ]*' | while read -r library; do
  mkdir -p "$root$(dirname "$library")"
  cp "$library" "$root$library"
done
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
ip link set lo up

beckon() {
  env -i HOME=/home BECKON_HOME=/home/beckon "$(command -v chroot)" "$root" /beckon "$@"
}

beckon --version
beckon >"$root/app.log" 2>&1 &
tries=0
until [ -e "$root/home/beckon/endpoint.json" ]; do
  tries=$((tries + 1))
  if [ "$tries" -gt 200 ]; then
    echo "the app did not start: $(cat "$root/app.log")"
    exit 1
  fi
  sleep 0.05
done
printf '%s' '{"session_id":"alone-1","hook_event_name":"UserPromptSubmit","cwd":"/home","prompt":"hello"}' |
  beckon hook claude
beckon status --json
