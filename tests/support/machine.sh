# Sourced by demo and check: what a fresh machine lacks, and building. Nothing runs when it is sourced.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cache=${ARCHGUARD_CACHE:-$root/.cache}
jobs=$(nproc 2>/dev/null || echo 2)
could_not=()  # what could not be got, for the end of the run

step() { printf '\n== %s\n' "$*"; }
fail() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# Runs a long command with its output in a log; shows how far it is every five seconds (ninja's [n/m], else a dot), and
# the log's end where it fails.
with_progress() {
  local log=$1 pid ticks=0 done_so_far
  shift
  "$@" >"$log" 2>&1 </dev/null &
  pid=$!
  while kill -0 "$pid" 2>/dev/null; do
    sleep 0.2
    ((++ticks % 25)) && continue
    done_so_far=$(tail -1 "$log" | grep -o '^\[[0-9]*/[0-9]*\]' || echo .)
    printf '%s ' "$done_so_far"
  done
  ((ticks < 25)) || printf '\n'
  wait "$pid" || { tail -40 "$log" >&2; return 1; }
}

# Debian packages, installed only where one is missing. Elsewhere than on Debian, the machine must have them already:
# CMake says which one it does not find.
install_packages() {
  local missing=() package apt=(apt-get -q -y -o Dpkg::Use-Pty=0) as_root=()
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "no apt here: expecting to find what these Debian packages hold: $*"
    return
  fi
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  step "Installing ${missing[*]}"
  if ((EUID != 0)); then
    command -v sudo >/dev/null || fail "needs root; as root run: apt-get install ${missing[*]}"
    as_root=(sudo)
    [[ -t 0 ]] || as_root+=(-n)
    "${as_root[@]}" true || fail "sudo refuses; as root run: apt-get install ${missing[*]}"
  fi
  as_root+=(env DEBIAN_FRONTEND=noninteractive)
  mkdir -p "$root/build"
  with_progress "$root/build/apt.log" "${as_root[@]}" "${apt[@]}" update ||
    echo "apt-get update failed; trying with the lists that are there"
  with_progress "$root/build/apt.log" "${as_root[@]}" "${apt[@]}" install --no-install-recommends "${missing[@]}" ||
    fail "could not install ${missing[*]}"
}

# Downloads by tests/support/fetch; what it cannot get is remembered, not fatal.
fetch() {
  local name
  for name in "$@"; do
    "$root/tests/support/fetch" "$name" || could_not+=("$name")
  done
}

# A CUDA compiler: the user's own by CUDACXX or PATH, else the pinned one.
need_cuda_compiler() {
  if [[ -n ${CUDACXX:-} ]] || command -v nvcc >/dev/null; then return 0; fi
  step "No nvcc on PATH: taking the one in ${cache#"$root/"}/nvcc-13.0"
  fetch nvcc-13.0
  export PATH="$cache/nvcc-13.0/nvidia/cu13/bin:$PATH"
  command -v nvcc >/dev/null || return 1
}

# Conan, in a Python environment of its own.
need_conan() {
  if command -v conan >/dev/null || [[ -x $cache/conan/bin/conan ]]; then return 0; fi
  step "Installing Conan into ${cache#"$root/"}/conan"
  (install_packages python3-venv) && mkdir -p "$root/build" && python3 -m venv "$cache/conan" &&
    with_progress "$root/build/conan.log" "$cache/conan/bin/pip" install --disable-pip-version-check conan==2.34.0
}

# Configures once, builds what changed. Arguments: the build folder's name, then CMake's options, then -- and targets.
build() {
  local folder="$root/build/$1" options=()
  shift
  while (($#)) && [[ $1 != -- ]]; do options+=("$1"); shift; done
  (($#)) && shift
  mkdir -p "$folder"
  with_progress "$folder/configure.log" cmake -S "$root" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release "${options[@]}" ||
    fail "configuring failed; the log is $folder/configure.log"
  with_progress "$folder/build.log" cmake --build "$folder" --parallel "$jobs" ${1+--target "$@"} ||
    fail "building failed; the log is $folder/build.log"
}

tell_what_is_missing() {
  ((${#could_not[@]} == 0)) || printf '\nCould not get: %s\n' "${could_not[*]}"
}
