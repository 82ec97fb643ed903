#!/bin/sh
# Checks that saving and finding tokens leaks no memory.
#
#   Tests/check-memory.sh [rounds]
#
# Builds Worker with the address sanitizer in .build-asan and lets it save and find a token 10,000
# times, or as often as given, in a gnome-keyring of its own on a bus of its own; the person's session is
# not touched. Prints the resident memory on the way, and what the leak sanitizer found when the process
# ended. Fails when it found a leak, or when memory grew by more than 10 % from the first 1,000 rounds
# to the last.
#
# Needs gnome-keyring, dbus-daemon and the Swift toolchain.
set -eu

rounds=${1:-10000}
cd "$(dirname "$0")/.."
worker=$PWD/.build-asan/debug/Worker
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

# The linker has much to say about the sanitizer's symbols, all of it harmless.
if ! swift build --sanitize=address --scratch-path .build-asan --product Worker \
  >"$directory/build" 2>&1; then
  cat "$directory/build"
  exit 1
fi

# GLib without its own allocator, in which the sanitizer sees no leaks. A small quarantine, since freed
# memory that the sanitizer holds back counts as resident.
status=0
ASAN_OPTIONS=detect_leaks=0 "$worker" session env PATH="$PATH" G_SLICE=always-malloc \
  ASAN_OPTIONS=detect_leaks=1:quarantine_size_mb=1:exitcode=23 "$worker" rounds "$rounds" \
  >"$directory/output" 2>"$directory/errors" || status=$?

cat "$directory/output"
cat "$directory/errors"
if [ "$status" -ne 0 ]; then
  echo "FAILED: Worker ended with status $status (23: the sanitizer found something)."
  exit 1
fi
awk -v rounds="$rounds" '
  /resident/ { if (!first) first = $3; last = $3 }
  END {
    if (!last) { print "FAILED: no figures."; exit 1 }
    growth = (last - first) * 100 / first
    if (growth > 10) { printf "FAILED: resident memory grew by %.1f %%.\n", growth; exit 1 }
    printf "PASSED: no leaks in %d rounds; resident memory changed by %.1f %%.\n", rounds, growth
  }' "$directory/output"
