# A clean Debian 12 of its own, for the tests of packages: sourced.

skip() { echo "SKIPPED: $*"; exit 77; }

# Says SKIPPED where no clean root can be made. Sets as_root, to put before a command.
as_root=()
need_clean_debian() {
  command -v mmdebstrap >/dev/null || skip "no mmdebstrap (Debian: apt-get install mmdebstrap)"
  if ((EUID != 0)); then
    sudo -n true 2>/dev/null || skip "needs root, for a clean root folder of its own"
    as_root=(sudo -n)
  fi
  grep -q bookworm /etc/os-release || skip "not Debian 12"
}

# Makes the root and runs `SCRIPT --inside ROOT` outside of it, from a copy of SCRIPT in WORK:
# in_clean_debian SCRIPT WORK VARIANT. All comes from the machine's own apt sources.
in_clean_debian() {
  local script=$1 work=$2 variant=$3 key=/usr/share/keyrings/debian-archive-keyring.gpg
  apt-get indextargets --format "deb [signed-by=$key] \$(REPO_URI) \$(RELEASE) \$(COMPONENT)" \
    'Created-By: Packages' 'Component: main' | grep -E ' bookworm(-updates|-security)? main$' | sort -u >"$work/sources.list"
  apt-config dump Acquire >"$work/apt.conf"
  cp "$script" "$work/script"
  cp "${BASH_SOURCE[0]}" "$work/clean_debian.sh"
  "${as_root[@]}" mmdebstrap --quiet "--variant=$variant" --format=null --aptopt="$work/apt.conf" \
    --customize-hook="'$work/script' --inside \"\$1\"" bookworm /dev/null "$work/sources.list"
}

# Runs a command in $root; of the environment only the proxy goes with it. WITH_PATH stands before the usual folders.
in_root() {
  chroot ${USER_OF_ROOT:+--userspec="$USER_OF_ROOT"} "$root" \
    env -i "PATH=${WITH_PATH:+$WITH_PATH:}/usr/sbin:/usr/bin:/sbin:/bin" LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} "$@"
}

install_quietly() {
  in_root apt-get -q -y --no-install-recommends install "$@" >"$WORK/apt.log" 2>&1 && return
  tail -20 "$WORK/apt.log"
  return 1
}
