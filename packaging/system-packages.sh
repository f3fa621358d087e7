#!/bin/sh
# Install the system libraries named as arguments where they are missing (Debian and Ubuntu).
# As root it installs them; as anybody else it prints the exact line to run. Other systems bring
# them along or name them differently: there it does nothing.
set -eu

command -v dpkg-query >/dev/null 2>&1 || exit 0

missing=""
for package in "$@"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' ||
    missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
  echo "kmem needs system libraries that are not installed. Run this line, then try again:" >&2
  echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends$missing" >&2
  exit 1
fi

echo "Installing system libraries:$missing"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086 # the list is words on purpose
if ! { apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing; } >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  exit 1
fi
