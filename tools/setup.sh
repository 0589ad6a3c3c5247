#!/usr/bin/env bash
# Installs what the build needs and is not there: Debian packages of requirements/debian.txt (as root or with sudo, else it
# prints the line to type) and the wheels of requirements/runtime.txt into .venv. Says what it does; quick when there is nothing to do.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p build

missing=()
while read -r package; do
  [ -n "$package" ] || continue
  case $package in
    g++) command -v g++ >/dev/null && continue ;;
    cmake) command -v cmake >/dev/null && continue ;;
    make) command -v make >/dev/null && continue ;;
    python3) command -v python3 >/dev/null && continue ;;
    python3-venv) python3 -c 'import venv, ensurepip' 2>/dev/null && continue ;;
  esac
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)" = installed ] || missing+=("$package")
done < requirements/debian.txt

if [ ${#missing[@]} -gt 0 ]; then
  line="apt-get install -y --no-install-recommends ${missing[*]}"
  if [ "$(id -u)" = 0 ]; then as_root=""
  elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then as_root="sudo"
  else
    echo "Debian packages are missing. Install them as root and start again:" >&2
    echo "  apt-get update && $line" >&2
    exit 1
  fi
  echo "Installing Debian packages: ${missing[*]}"
  $as_root apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $as_root $line >build/apt.log 2>&1 || { tail -n 20 build/apt.log >&2; exit 1; }
fi

stamp=.venv/.installed
if ! cmp -s requirements/runtime.txt "$stamp"; then
  echo "Installing wheels into .venv:" $(grep -v '^#' requirements/runtime.txt)
  [ -x .venv/bin/python ] || python3 -m venv .venv
  .venv/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/runtime.txt
  cp requirements/runtime.txt "$stamp"
fi
